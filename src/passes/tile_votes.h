// Whether any element of a tile is true, or all are, asked of the whole tile: one barrier at which warps vote, in place of
// reductions along its axes, each of which goes from warp to warp through memory.
//   in, out: Placed
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void tile_votes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
