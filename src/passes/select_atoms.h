// Chooses the atom of every matrix product and puts its operands where the atom reads them.
//   in:  Typed    out: Typed, every gemm names an atom; operands in the memory and element type that it takes
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void select_atoms(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
