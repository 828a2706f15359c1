// A kernel as bytecode: one function for the host's part and for every region that runs on its own frame (the block of
// a launch, a map's element, the threads of a simt, a role).
#pragma once
#include "interp/value.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::interp {

struct Strand;
struct Instr;

enum class Status : uint8_t {
  Next,   // go on
  Retry,  // blocked: the same instruction again, later
  Pause,  // blocked: go on behind it, later
  Done,
  Stop,  // a fault was recorded
};
using Handler = Status (*)(Strand&, const Instr&);

// One instruction. Registers are offsets into the frame: slot number times the function's width.
struct Instr {
  Handler run = nullptr;
  uint32_t dst = 0, a = 0, b = 0, c = 0;
  int64_t imm = 0;
  uint32_t op = ~0u;   // the operation that it came from
  uint16_t lanes = 1;  // that it computes: 1, or the width
  Scalar type = Scalar::F32, from = Scalar::F32;
  uint8_t fn = 0;        // a function's number, by the handler
  bool spreads = false;  // copies lane 0 to the others: the value is uniform
  bool fast = false;     // a choice of the handler's
};

constexpr uint32_t kNoSlot = ~0u;

enum class Place : uint8_t { Register, Tile, View, Handle };

// Where a value lives in a frame.
struct Location {
  Place place = Place::Register;
  uint32_t slot = kNoSlot;  // a register's offset, or an index
  uint32_t count = 1;       // of registers: a vector's length
};

struct Capture {
  Location from, to;  // from the frame of the enclosing region
};

// A region of a buffer, as `load`, `store`, `copy`, `subview` name it.
struct RegionAccess {
  uint32_t view = 0;
  std::vector<uint32_t> offsets;  // registers, one a dimension
  std::vector<int64_t> axes, shape;
  std::vector<ir::Bounds> bounds;
  ir::Number pad;
  Span span;  // where the text names it
};

// Where the elements of an array of shared memory lie, by its layout; one for all operations on arrays of this layout.
struct ArrayPlaces {
  std::vector<int64_t> places, elements;  // the place of each element, the element at each place (-1: a hole)
};

// What a tile operation needs beyond registers; which fields count is the handler's matter.
struct TileData {
  RegionAccess first, second;
  std::vector<Location> operands, results;
  std::vector<int64_t> shape, axes;
  std::vector<std::vector<int64_t>> axes_list;
  std::vector<std::vector<int64_t>> shapes;  // of the operands
  std::vector<Scalar> types;                 // of the operands
  std::vector<bool> steals;                  // is this the operand's last use?
  Scalar type = Scalar::F32;                 // of the result
  uint32_t function = 0;
  std::vector<uint32_t> functions;
  std::vector<int64_t> counts;  // warps of each role
  std::shared_ptr<const ArrayPlaces> array;  // of shared memory, of a box
  std::vector<std::string> names;
  bool transpose_a = false, transpose_b = false, writes_memory = false, gives_flight = false, adds = false, is_persistent = false;
  uint32_t atom = ~0u;
};

// An array of shared memory as an operand of a group's product.
struct GroupArray {
  std::vector<int64_t> shape;
  std::shared_ptr<const ArrayPlaces> array;
  bool is_transposed = false;
};
struct GroupData {
  std::string name;
  uint32_t atom = ~0u;  // in Program::groups
  uint32_t acc = 0, result = 0;  // handles
  bool a_in_registers = false;
  Location a_vector;
  uint32_t a_view = 0, a_place = 0, b_view = 0, b_place = 0;
  GroupArray a, b;
};

enum class FunctionKind : uint8_t { Host, Block, Map, Simt, Role, Thread };

struct Function {
  FunctionKind kind = FunctionKind::Host;
  uint32_t width = 1;  // lanes
  uint32_t registers = 0, tiles = 0, views = 0, handles = 0, masks = 0;
  std::vector<Instr> code;
  std::vector<std::pair<uint32_t, Slot>> constants;  // register, number
  std::vector<Capture> captures;
  std::vector<Location> arguments;  // of the region; kNoSlot when unused
  std::vector<Location> results;    // what it yields
  std::vector<TileData> data;
  std::vector<GroupData> products;
};

// A matrix atom with its layouts as coordinates: for each operand, element (row, column) of each (register, lane).
struct AtomTable {
  const MatrixAtom* row = nullptr;
  std::vector<int32_t> a, b, c;  // at register * lanes + lane: row * columns + column
  int a_registers = 0, b_registers = 0, c_registers = 0;
};

// The part of one warp in an instruction of a group: its rows of the accumulator, and at register * lanes + lane the place in
// a matrix of these rows alone.
struct GroupMember {
  std::vector<int32_t> rows, a, c;
};
struct GroupTable {
  const MatrixAtom* row = nullptr;
  std::vector<GroupMember> members;  // by warp
  std::vector<int32_t> depth;        // 0, 1 ... k - 1
  int c_registers = 0;
};

struct Program {
  const ir::Kernel* kernel = nullptr;
  std::vector<Function> functions;  // 0 is the host's
  std::vector<AtomTable> atoms;
  std::vector<GroupTable> groups;
  // Of shared memory whose bytes are those of other buffers, too.
  std::vector<int64_t> overlaid_at;  // by the op of an alloc: its offset, or -1
  int64_t overlaid_bytes = 0;
  int overlaid_granule = 8;
  std::vector<int> granules;  // by the op of an alloc: bytes of its narrowest view
  int lanes = 32, banks = 32;
  bool tracks_touches = false;  // can touches inside a block be unordered at all?
  std::string flaw;             // a layout that does not cover its tile, and the op that makes it
  uint32_t flaw_op = ~0u;
  std::vector<bool> written;  // by parameter and, behind them, by the op of an alloc: does a block write it?
};

}  // namespace tilec::interp
