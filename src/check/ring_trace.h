// What one role does to rings, in order, for one choice of the numbers that a kernel is given: its scalars are computed, its
// tiles are not. Nothing of a role's control flow depends on another role, so each is traced alone.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace tilec::check {

enum class RingStep : uint8_t { Make, Acquire, Commit, Wait, Release };

struct RingEvent {
  RingStep step;
  ir::ValueId ring;
  int64_t turn = 0;  // but of Make: a ring that is made in a loop is another one each time
};

struct Program {
  std::string role;  // empty: the block, where it has no roles
  int64_t warps = 0;
  std::vector<RingEvent> events;
};

// One block of one launch.
struct BlockTrace {
  ir::OpId launch;
  std::vector<Program> programs;
};

// `choice` picks the extents, the numbers that are read from memory, and the block. Launches without blocks are left out, and
// all of them when the programs are too long to follow.
std::vector<BlockTrace> trace_rings(const ir::Kernel& staged, uint64_t choice);

}  // namespace tilec::check
