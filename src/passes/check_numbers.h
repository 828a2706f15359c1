// Integer arithmetic that has no value whenever it runs: division by zero, and an `int` that leaves 64 bits.
//   in:  Typed    out: unchanged; an error with the numbers
// A divisor that only some arguments of the call make zero is no error here: such a division gives 0 and reports BOUNDS.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void check_numbers(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
