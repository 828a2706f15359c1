// Memory layouts of shared buffers: the one whose readers and writers meet the fewest bank conflicts.
//   in:  every tile has its register layout    out: every shared buffer, and every view of one, has a memory layout
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void place_buffers(ir::Kernel& kernel, ir::RegionId launch_body, const Machine& machine, int64_t warps, Diagnostics& diagnostics);

// In a schedule a tensor's name means the copies in shared memory from which products read its tiles. Where there is none,
// its layout is its caller's.
void refuse_layouts_of_parameters(const ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tilec::passes
