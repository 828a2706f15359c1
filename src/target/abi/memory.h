// Where the shared and private buffers of a launch live on a CPU: shared ones where they are packed, at the head of the thread's
// scratch memory; private ones behind them, and small ones on the stack. A buffer of a loop body is new each iteration, so one place serves all iterations.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace tilec::target {

constexpr int64_t kScratchAlignment = 64;
constexpr int64_t kStackBytes = 1024;  // of private buffers in one launch

struct BufferHome {
  ir::OpId alloc;
  bool on_stack = false;
  int64_t offset = 0;    // in scratch
  int64_t elements = 0;  // in all, copies for lanes included
};
struct LaunchMemory {
  std::vector<BufferHome> homes;
  int64_t scratch_bytes = 0;
  const BufferHome& home(ir::OpId alloc) const;
};
LaunchMemory plan_memory(const ir::Kernel& kernel, ir::RegionId launch_body, int lanes);

}  // namespace tilec::target
