// Do two blocks of a launch, or two iterations of a `parallel` loop, touch one element that one of them writes?
//   in:  Typed    out: unchanged; an error with both indices where they do, a warning where it is not known
// Loops in which a block waits for another one are told of as well (`check_waits.h`). Atomics may meet each other. Shared tiles belong to one block; launches run in order. Parameters that may
// overlap by `alias` count as one memory with one first element; where their layouts differ, nothing is known.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_races(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
