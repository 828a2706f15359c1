// Placed or Staged kernels -> Thread form: the program of one thread.
//   in:  every tile and shared buffer has a layout, every matrix product its atom, bounds decided
//   out: no tiles; scalars uniform or varying; memory by buffer and linear index
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::lower {

ir::Kernel lower(const ir::Kernel& kernel, const Machine& machine);

}  // namespace tilec::lower
