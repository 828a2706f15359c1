// Layout inference: gives every tile a register layout and every shared buffer a memory layout.
//   in:  Typed, atoms chosen    out: Placed; where two demands differ, a convert_layout stands between
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void place(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
