// How long launches are expected to take, as formulas over dims.
//   in:  Typed form, with a schedule    out: the same, `kernel.estimates` where the machine says how fast it is
//
// A core runs `c` blocks at once, as many as fit or as there are for it, `rounds` one after the other:
//
//   clocks = launch + rounds * (begin + sum over loops of turns * max(c * work of a turn, latency / depth) + c * end)
//
// where the work of a turn is what keeps the busiest of matrix units, caches and lanes busy, if copies run ahead, and their sum if they do
// not. No launch is faster than device memory gives the tensors once.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void estimate(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
