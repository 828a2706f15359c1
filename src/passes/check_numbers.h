// Integer arithmetic that may have no value: division by zero, and an `int` that leaves 64 bits.
//   in:  Typed    out: divisions whose divisor is not shown to differ from 0 are guarded, and what is not shown to fit
// What is shown to go wrong is an error with the numbers. A division that data may make one by zero gives 0 and reports
// BOUNDS, as does a sum that they may drive out of 64 bits; one of the host's is a contract of the call. It stands before all
// passes that take numbers for exact.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_numbers(ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
