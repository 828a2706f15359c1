// schedule: decides what the source does not pin about roles. `stage-loops` and `split-roles` carry it out, and write down
// what came of it.
//   in:  Typed form    out: Typed form, `kernel.schedule` with roles where the machine can have them and they pay
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// The cluster that a schedule tells of: of a launch whose turns are split, without the axis that is the split.
ir::Ints cluster_of(const ir::op::Launch& launch);

void schedule(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
