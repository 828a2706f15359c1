// Follows the padding that regions over the edge of a tensor bring into tiles, and reports where it would count as data: in a
// reduction, a scan or a product along its axis, unless it is the identity there.
//   in:  Typed, bounds decided by `clip`    out: unchanged
// What memory holds is taken to be finite: a row that an infinity or a NaN spoils is spoilt without padding as well.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_padding(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
