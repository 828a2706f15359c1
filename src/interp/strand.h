// The state of a run: strands (one instruction stream each: a block, a warp, a role), the block that they share, the
// run.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>

#include "interp/interp.h"
#include "interp/memory.h"
#include "interp/program.h"

namespace tilec::interp {

struct Run;
struct Block;
struct Cluster;

// Strands that were forked together: the warps of a launch or simt, the roles.
struct Group {
  uint32_t members = 0, arrived = 0, finished = 0;
  uint32_t barrier_op = ~0u;    // where those that wait are
  std::vector<uint64_t> known;  // by those that arrived
};

// Why a strand does not go on, for the sentence of a deadlock.
struct Waiting {
  uint32_t op = ~0u;
  std::string_view what;  // "turn", "phase", "barrier", ...
  int64_t number = 0;
  uint32_t object = 0;  // a ring
};

// How a loop stood some turns ago; see spin.cpp.
struct Watch {
  uint64_t execution = 0;  // of the strand, between two of others'
  uint64_t turns = 0, mask = 0, changes = 0;
  std::vector<Slot> frame;
};

struct Strand {
  Run* run = nullptr;
  Block* block = nullptr;
  const Function* code = nullptr;
  uint32_t function = 0;
  uint32_t pc = 0, width = 1;
  uint64_t mask = 1, full = 1;  // lanes that act; lanes that exist
  Slot* regs = nullptr;
  std::vector<Slot> storage;
  std::vector<uint64_t> saved;  // masks: two words a nesting level
  std::vector<Tile> tiles;
  std::vector<View> views;
  std::vector<uint32_t> handles;  // of tokens, products and rings: indices into the block's tables

  Clock clock;
  Strand* parent = nullptr;
  Group* group = nullptr;
  uint32_t children = 0;
  const TileData* fork = nullptr;  // what its children run
  int warp = 0;                    // in its group
  int64_t threads = 0;             // of its group; for a tile program, those that a `simt` runs on
  bool has_arrived = false, is_released = false, is_done = false;
  bool any = false, all = true;  // what the vote came to at which it was released
  Waiting waiting;
  std::string name;
  std::deque<Allocation> private_memory;
  std::unordered_map<uint32_t, Allocation*> own;  // allocations by op: private ones of this strand
  std::vector<uint32_t> begun;                    // copies by its lanes that no phase follows yet
  std::vector<uint32_t> stores;                   // of boxes, that it has not waited for
  std::shared_ptr<const std::vector<uint64_t>> fenced;  // what it knew at its last fence for engines
  std::vector<uint32_t> open_products;            // in the order of their issue; of a group's, those of no batch yet
  std::vector<std::vector<uint32_t>> batches;     // of products of groups

  std::unordered_map<uint32_t, Watch> watches;  // by the place that the loop jumps back to
  uint64_t execution = 0;

  Slot* at(uint32_t reg) { return regs + reg; }
  uint64_t acting(const Instr& i) const { return i.lanes == 1 ? (mask ? 1 : 0) : mask; }
};

// Copies lane 0 of a uniform result to the other lanes.
inline void spread(Strand& s, const Instr& i, Slot* d) {
  if (!i.spreads) return;
  for (uint32_t lane = 1; lane < s.width; ++lane) d[lane] = d[0];
}

// Calls f(lane) for every lane of the mask, which most often has the first ones.
template <class F>
inline void each_lane(uint64_t mask, F&& f) {
  if ((mask & (mask + 1)) == 0) {
    for (int lane = 0, lanes = std::countr_one(mask); lane < lanes; ++lane) f(lane);
    return;
  }
  for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
}

struct PhaseBarrier;

// Where an engine's box goes, and who is told.
struct Box {
  PhaseBarrier* barrier = nullptr;  // null: no copy of a box
  View view;
  int64_t origin = 0;               // the element of the shared array at the box's corner
  bool is_store = false;
};

// What the lanes of one instruction move: places by byte.
struct LaneMoves {
  View from, to;
  struct Move {
    int64_t from, to;
  };
  std::vector<Move> moves;
  int64_t bytes = 0;                 // of each
  PhaseBarrier* follower = nullptr;  // told when they are there, with so many arrivals
  int64_t arrivals = 0;
};

// What one warp gives to a product of its group, and gets: numbers at register * lanes + lane.
struct GroupPart {
  const GroupData* data = nullptr;      // null: registers alone, which no product has changed yet
  const GroupMember* member = nullptr;
  View a_view, b_view;
  std::vector<int64_t> a_bytes, b_bytes;  // of the elements that it reads
  std::vector<Slot> a, result;
  size_t numbers = 0;                     // in `result`, once it is there
  bool is_wide = false;
};

// An asynchronous copy or matrix product.
struct Flying {
  enum class Stage : uint8_t { Open, Landed, Joined } stage = Stage::Open;
  uint32_t op = ~0u;
  uint32_t agent = 0;
  uint64_t time = 0;
  bool is_product = false, is_taken = false;  // taken: its result belongs to an await or a later product
  const TileData* data = nullptr;
  Region source, target;                     // of a copy
  Box box;
  Tile acc, a, b, result;                    // of a product
  std::optional<Region> a_region, b_region;  // where its operands are, if in memory
  uint32_t acc_of = ~0u;                     // the product that it goes on from
  std::unique_ptr<GroupPart> part;           // of a product of a group
  std::unique_ptr<LaneMoves> lanes;          // of a copy by lanes
  std::vector<uint64_t> known;               // what the issuer knew: the operation happens after that
  std::shared_ptr<const std::vector<uint64_t>> fenced;  // what it knew at its last fence for engines
};

struct RingSlot {
  enum class State : uint8_t { Free, Taken, Filled } state = State::Free;
  int64_t turn = 0;  // whose it is, or whose it becomes next
  int64_t released = 0;
  std::vector<uint64_t> filled_known, free_known;
  std::vector<uint32_t> tokens;  // copies that fill it
};
struct Ring {
  uint32_t op = ~0u;
  int64_t depth = 1, consumers = 1;
  std::string name;
  std::vector<RingSlot> slots;
};

// A barrier with phases in shared memory.
struct PhaseBarrier {
  int64_t arrivals = 0, pending = 0, bytes = 0;
  uint64_t phase = 0;
  std::vector<uint64_t> gathering, known;  // of the arrivals of this phase; of all completed phases
  std::vector<uint32_t> copies;            // that count their bytes here and that nobody has waited for
  Stamp made = 0;
};

struct NamedMeeting {
  uint32_t arrived = 0, needed = 0;
  std::vector<uint64_t> known;
  std::vector<Strand*> members;
  bool is_vote = false, any = false, all = true;  // of the lanes that came, where they vote
};

// What the warps of a group have issued: the operation and the places of its operands.
struct GroupLog {
  int warps = 1;
  uint32_t op = ~0u;
  std::vector<std::vector<int64_t>> issued;
};

struct Block {
  Cluster* cluster = nullptr;
  uint32_t number = 0;
  int64_t order = 0;  // as the launcher counts: blocks of a cluster are neighbours
  std::deque<Allocation> allocations;
  std::unordered_map<uint32_t, Allocation*> by_op;
  Overlay overlay;
  std::deque<Group> groups;
  std::vector<Ring> rings;
  std::map<int64_t, NamedMeeting> meetings;
  std::map<int, GroupLog> group_logs;  // by group of warps
  std::map<int, size_t> products_of_warp;
  std::vector<uint32_t> known_blocks;  // whose releases an atomic of this block has acquired
};

// Blocks that run at once and see each other's shared memory; most often it is one. Whatever runs in it is on one clock.
struct Cluster {
  Run* run = nullptr;
  std::vector<int64_t> extents, shape;  // of the launch, and of its clusters
  int64_t blocks_at_once = 1;           // that the launch has begun
  std::deque<Block> blocks;
  std::vector<Strand*> strands;  // those that live
  std::deque<Flying> flying;
  std::map<std::pair<const Allocation*, int64_t>, PhaseBarrier> phases;
  NamedMeeting meeting;                       // of all threads
  std::vector<uint64_t> agent_times;          // the last time that each agent has used
  std::vector<std::string> agent_names;
  std::vector<uint32_t> free_agents;
  std::vector<std::vector<uint64_t>> fences;  // by agent: when it made its writes known to engines
  uint32_t map_agent = ~0u;                   // runs the elements of maps
  bool progressed = false;
};

struct Run {
  const Program& program;
  const ir::Kernel& kernel;
  const RunOptions& options;
  std::span<const Argument> arguments;
  RunResult result;
  std::deque<Allocation> memory;              // of parameters and workspaces
  std::deque<Strand> frames;                  // all strands ever made; those at rest are in `resting`
  std::vector<std::vector<Strand*>> resting;  // by function
  uint64_t base_time = 1;                     // the latest time that any agent of an earlier block has used
  uint64_t random = 0;
  uint64_t changes = 0;                       // atomics that left another number than they found
  uint64_t executions = 0;
  int64_t next_block = 0;                     // of the launch that runs: that nobody has taken yet

  Counters& counters() { return result.counters; }
};

// Records the first fault; gives Status::Stop.
Status fail(Run& run, FaultKind kind, uint32_t op, std::string text);
Status fail_at(Run& run, FaultKind kind, Span span, std::string text);
inline Status fail(Strand& s, FaultKind kind, const Instr& i, std::string text) {
  // What the host cannot compute is a call that is refused.
  bool is_number = kind == FaultKind::Overflow || kind == FaultKind::DivisionByZero;
  return fail(*s.run, is_number && s.code->kind == FunctionKind::Host ? FaultKind::Contract : kind, i.op, std::move(text));
}
void note_guard(Strand& s, uint32_t op, int64_t line, int64_t index);
// The name of a buffer in the source, in backquotes, or "memory".
std::string name_of(const Allocation& memory);

// Runs a strand until it is done, blocked or stopped.
Status execute(Strand& s);
// A strand ready to run `function`, its captures copied from `from`.
Strand* make_strand(Run& run, uint32_t function, Strand& from);
void rest(Run& run, Strand* strand);
uint64_t next_random(Run& run);

// One agent more in the block, or one that is free again.
uint32_t new_agent(Cluster& cluster, std::string name);
uint64_t advance(Cluster& cluster, Clock& clock);  // the agent's next time
std::string agent_name(const Cluster& cluster, Stamp stamp);

}  // namespace tilec::interp
