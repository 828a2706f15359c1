// Follows the padding that regions over the edge of a tensor bring into tiles. Where it would count as data, in a reduction, a scan or a
// product along its axis, elements beyond the edge become the identity there; where nothing can tell which these are, or the program
// asks for other padding, it is told of.
//   in:  Typed, bounds decided by `clip`    out: Typed, with masks where padding is not neutral
// Memory may hold any number: zeros of padding are none once they have met an infinity.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_padding(ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
