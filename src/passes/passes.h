// The passes within one form. `Typed -> Typed` and the like: the form that comes in and goes out.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"
#include "passes/place.h"
#include "passes/select_atoms.h"

namespace tilec::passes {

// Thread -> Thread: narrow floats become integer code, math functions polynomials, where the machine lacks them.
void legalise(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

}  // namespace tilec::passes
