// schedule: decides what the source does not pin about roles. `stage-loops` and `split-roles` carry it out, and write down
// what came of it.
//   in:  Typed form    out: Typed form, `kernel.schedule` with roles where the machine can have them and they pay
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void schedule(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
