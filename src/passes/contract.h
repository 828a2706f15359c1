// contract: a product and a sum that the source writes as one expression are rounded once.
//   in:  Typed    out: Typed; on machines with fused multiply-add, x * y + z and its like of f32 and f64 are one `fma`
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void contract(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
