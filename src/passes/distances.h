// Pairs of comparisons of indices that differ by constants: one each, of a constant of 32 bits with how far away the nearer bound is.
//   in:  Thread    out: Thread
//
//   k + 1 >= n || k + 1 > q ... k + 9 >= n || k + 9 > q    ->    d = min(n - k, q - k + 1); 1 >= d ... 9 >= d
//
// Masks of tiles in registers, whose elements lie at constant distances from a lane's first, are such comparisons: for each element two
// of 64 bits, a select for either, and four bounds and indices that stand in pairs of registers; instead one of 32 bits and a select.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void compare_distances(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
