// Products of groups of warps run beside the threads: puts them in flight, and awaits them.
//   in:  Staged    out: Staged, without `gemm` by an atom of kind Group
//
// In a loop whose carried accumulators take part in nothing but its products, they stay in flight from turn to turn: turn t is issued
// before those older than t - n are awaited, with n products in flight, and the slots of rings that turn t reads are given back n turns
// later. Where the last of several products reads what the others gave, it is delayed into the next turn (`delay_products.h`). All others
// run beside each other and the threads as far as registers reach (`overlap_turn.h`).
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void overlap_products(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
