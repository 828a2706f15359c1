// Placed or Staged kernels -> Thread form: the program of one thread.
//   in:  every tile and shared buffer has a layout, every matrix product its atom, bounds decided
//   out: no tiles; scalars uniform or varying; memory by buffer and linear index
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec {
class Diagnostics;
}

namespace tilec::lower {

// On Typed kernels: errors at what `lower` cannot take.
void check_threads(ir::Kernel& kernel, const Machine&, Diagnostics& diagnostics);

ir::Kernel lower(const ir::Kernel& kernel, const Machine& machine);

}  // namespace tilec::lower
