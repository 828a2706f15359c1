// Makes the schedule's stages explicit: versions of buffers, tokens, products in flight.
//   in:  Placed    out: Staged
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void stage_loops(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
