// A shuffle from farther away than a warp is wide.
//   in:  Typed    out: unchanged; a warning with the distance and the number of lanes
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_shuffles(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
