// Blocks of a cluster that share one tile of the result: each runs a part of the turns of the loop of products, the sums are added up,
// and each goes on with some rows of them.
//   in:  Typed, nothing placed    out: Typed; a launch that is split has one more axis, along which its clusters lie
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// What a launch, or the schedule, asks for. A machine whose blocks are all on their own hears of none.
void split_turns(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
