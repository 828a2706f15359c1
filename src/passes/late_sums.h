// late-sums: sums over rows that warps share, and that nothing but the loop's own total asks for: in the loop each lane adds up its part.
//   in:  Placed    out: Placed
//
//   for ... [l = 0]: { r = reduce.sum e; l = l * a + r }       ->   for ... [p = 0]: { q = e summed within lanes; p = p * a + q }
//                                                                   l = reduce.sum p
//
// The total of a softmax over blocks of keys is such a sum: each turn would take it across the lanes of a warp, and through memory and a
// barrier from warp to warp.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void late_sums(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
