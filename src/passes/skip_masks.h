// skip-masks: a tile that lies wholly on one side of the masks of its elementwise code goes without them.
//   in:  Placed    out: Placed; where lanes may branch, maps of loops stand behind one test of the block where that decides their masks
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void skip_masks(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
