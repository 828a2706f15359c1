// An `out` tensor whose launch, a block a tile, leaves the last elements unwritten: `launch (i in N / 64)` forgets the tail.
//   in:  Typed    out: unchanged; a warning with the numbers
// Asked where one store at the top of one launch is all that ever writes the tensor.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_outputs(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
