// A launch whose blocks go on: fewer blocks than it has, each with the work of one after the other.
//   in:  Placed    out: Placed
//
//   launch (i, j) { body }   ->   launch (i, j) { for n in block_number .. all step grid_blocks { body of (block_index n, 0), (block_index n, 1) } }
//
// Numbers of a launch that deals them out are taken from a counter once roles fill and compute apart (lower/deal.cpp).
// What one block reads first may then be under way while the one before it ends, and whatever a block begins with is done once.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void persist(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
