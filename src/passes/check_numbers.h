// Integer arithmetic that may have no value: division by zero, and an `int` that leaves 64 bits.
//   in:  Typed    out: divisions whose divisor is not shown to differ from 0 are guarded
// What is shown to go wrong is an error with the numbers. A division that data may make one by zero gives 0 and reports
// BOUNDS; one of the host's is a contract of the call.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_numbers(ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
