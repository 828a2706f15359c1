// What a target *is*: data only. The middle of the compiler asks a machine what it can, never who it is.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/scalar.h"

namespace tilec {

enum class Cap : uint8_t {
  FusedMultiplyAdd,   // a * b + c rounded once, at the price of one operation
  DivergentBranches,  // lanes of a warp may take different sides of an `if`; without it, lower/ converts to selects and masks
  Shuffles,           // lanes of a warp exchange registers
  AsyncCopy,          // a thread's copy from device to shared memory may complete later
  BulkCopy,           // one engine copies a whole box and reports its bytes to a phase barrier
  AsyncMatrix,        // matrix products run beside the threads and are awaited
  PhaseBarriers,      // barriers in shared memory with phases, arrivals and byte counts
  NamedBarriers,      // barriers of some of the block's warps
  VotingBarriers,     // a barrier tells whether any of the lanes that meet there, or all, hold something true
  RegisterBudgets,    // roles may trade registers
  HalfArithmetic,     // f16 and bf16 arithmetic of its own; without it they are computed in f32 and rounded
  HalfConvert,        // f16 to f32 and back in one instruction, even where f16 has no arithmetic
  MatrixLoads,        // one instruction deals rows of 16 bytes of shared memory to the lanes of a warp, as its products want them
  MatrixStores,       // and one gathers them
  MatrixTurns,        // one transposes 8 x 8 elements of two bytes in the registers of a warp
  StreamHints,        // a load may say that nobody reads its bytes again
  PersistentBlocks,   // fewer blocks than a launch has may go on from one to the next
  DependentLaunch,    // a launch may begin before the one ahead of it has ended, and waits for that by itself
  Prefetch,           // memory can be asked for before it is read, and the blocks of a thread follow one another
  NativeMath,         // exp2, log2, rsqrt and their like are instructions; without it they expand to polynomials
  NativeExp2,         // exp2 of f32 is one, within two units in the last place, results too small for its exponent are 0
  BrainRound,         // an f32 is rounded to bf16 in one instruction
  HalfFused,          // a * b + c of f16 and bf16 is one instruction, rounded once, even where they have no other arithmetic
  TextFunctions,      // code is text of functions: one rounds a * b + c of f32 and f64 once, others convert narrow floats from f32 and f64 and back
};
std::string_view name(Cap cap);

// How a matrix atom runs.
enum class AtomKind : uint8_t {
  OuterProduct,  // not one instruction: lower/ writes m x n multiply-adds, A broadcast from memory or registers, B a vector
  Warp,          // one instruction of one warp, operands in registers
  Group,         // one asynchronous instruction of several warps, operands in shared memory; one with a layout may be in registers
};

struct Cycles {
  int issue = 1;    // cycles that the unit is taken
  int latency = 1;  // cycles until the result is there
};

// One matrix instruction. Layouts are in the notation of `layout/`, over the axes m, n, k; the C layout of an OuterProduct
// says which registers and lanes a block holds.
struct MatrixAtom {
  std::string_view name;
  AtomKind kind;
  int m, n, k;
  Scalar a, b, c;            // elements; `c` is what it accumulates in
  std::string_view a_layout, b_layout, c_layout;
  int warps = 1;             // that execute it together
  Cycles cycles;
  std::string_view text = {};  // how the speller writes it
  bool k_major_only = false;   // of a Group: rows of its operands in shared memory run along k, not along m or n
  int sum_bits = 0;            // binary places that a sum keeps behind its first, where they are fewer than those of `c`; else 0
  std::string_view swaps = {};  // of a Group: the row whose instruction it is, with the operands in each other's place; else its own
};

// What the engine of BulkCopy can be asked for at once. Its arrays are as `layout/engine_rows.h` has them.
struct BoxLimits {
  int unit = 0;     // bytes that the tensor's address and its strides are multiples of; 0: it takes anything
  int rank = 0;     // most dimensions of the tensor
  int extent = 0;   // most elements along one dimension of a box
};

// Additions to device memory that are each done at once, in no order.
struct AddLimits {
  int bytes = 0;        // most that a lane adds by one instruction; 0: one element
  bool narrow = false;  // f16 and bf16 are added by one, too
};

// How fast a usual device is, beside what a machine says of products and caches: what estimates are made of. In clocks, and per clock of
// a core when all cores ask at once.
struct Pace {
  double gigahertz = 0;     // clocks of a nanosecond under load
  double launch = 0;        // of a launch that does nothing
  double latency = 0;       // until device memory has answered
  double memory_bytes = 0;  // from device memory
  double cache_bytes = 0;   // from the caches that all cores share, which one takes at most
  double straddled = 0;     // clocks a byte that the engine waits more where rows of a tensor begin within lines, so that it asks for two of them
  double first_read = 0;    // clocks a byte that a core waits more for what no other block has read, of its part where others have
  double shared_bytes = 0;  // from a core's shared memory
  double roles = 0;         // clocks until roles of a block have begun
  double turn = 0;          // of a turn of products, beside them
  double sums = 0;          // of blocks that add up what they have
  double sum_bytes = 0;     // of a block's tile that is added up so
  double store_bytes = 0;   // that a block stores from registers as it ends
  double lanes = 0;         // that do an operation of 32 bits, where enough warps take turns
  double schedulers = 0;    // of a core, among which its warps are dealt out
  double waiting = 0;       // n warps on a scheduler do n^2 / (n^2 + waiting) of what it could: what one waits for must fall into another's work
  double warps = 0;         // that a core holds
};

struct Machine {
  std::string_view name;
  std::string_view target;      // the row of targets.def that spells for it
  int lanes;                    // of a warp
  int max_warps;                // of a block
  int default_warps;            // when the program does not say
  int role_warps;               // that take a role, and trade registers, together
  int registers_per_lane;       // 32-bit ones (on a CPU: vector registers); a larger tile gets a home in memory
  int64_t shared_bytes;         // of a block
  int banks;                    // of shared memory, 4 bytes wide; 0: no banks, contiguity counts instead
  int vector_bytes;             // widest load or store of one lane
  int simd_bytes;               // widest vector register of a CPU; 0 elsewhere
  uint64_t caps;
  std::span<const MatrixAtom> matrix_atoms;  // best first
  BoxLimits boxes = {};                      // of BulkCopy
  AddLimits adds = {};
  int64_t cluster_blocks = 1;                // most blocks of a launch that see each other's shared memory
  int64_t block_registers = 0;               // that the roles of a block may share out; 0: none are traded
  int64_t argument_bytes = 0;                // most that a launch may be handed; 0: no limit
  int64_t lane_bytes = 0;                    // of memory that is one lane's own; 0: no limit
  int cores = 0;                             // that run blocks at once, of a usual device; 0: not told
  int cores_in_fours = 0;                    // of them, those that clusters of four blocks of a core each fill; 0: as many as fours divide
  int64_t product_rate = 0;                  // multiplications of matrix products a clock of a core, times the bytes of an element; 0: not told
  int64_t far_bytes = 0;                     // that each core gets a clock from the caches that all share, when all ask at once; 0: not told
  Pace pace = {};                            // where `cores` is told
  bool has(Cap cap) const { return caps >> int(cap) & 1; }
};

constexpr uint64_t cap_set(std::initializer_list<Cap> caps) {
  uint64_t bits = 0;
  for (Cap cap : caps) bits |= 1ull << int(cap);
  return bits;
}

}  // namespace tilec
