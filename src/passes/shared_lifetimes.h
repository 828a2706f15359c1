// Which shared buffers of a launch may lie in the same bytes.
//
// Two may not if one holds something while the other is touched (their lifetimes meet), or if warps may touch one while others
// still touch the other (no barrier is between them). A lifetime runs from the first touch to the last; a buffer from outside
// of a loop that is touched in it lives through all of its iterations.
//
// Engines: what a product in flight reads is touched until a wait has left nothing in flight. A copy is complete for those who
// wait at its barrier, and every turn of a ring that is filled is awaited: so a wait touches what its copies fill. But what an
// engine fills shares its bytes only with what is touched later: nothing fences earlier touches by threads from it.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace tilec::passes {

struct SharedBuffer {
  ir::OpId alloc;
  int64_t bytes = 0;
  bool is_of_engine = false;  // an engine fills or reads it
};

struct SharedLifetimes {
  std::vector<SharedBuffer> buffers;       // in program order
  std::vector<std::vector<bool>> meets;    // by two buffers
};

// Of the launch with this body, in Thread form; `in_step`: its threads do one thing after the other, all of them.
SharedLifetimes shared_lifetimes(const ir::Kernel& kernel, ir::RegionId body, bool in_step);

}  // namespace tilec::passes
