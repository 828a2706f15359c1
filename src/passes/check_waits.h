// Does a block wait for another one, in a loop that does nothing but look at memory? Blocks run in any order, on CPUs one after the other.
//   in:  Typed    out: unchanged; a warning at the condition
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"

namespace tilec::passes {

void check_waits(const ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tilec::passes
