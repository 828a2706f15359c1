// Loops of sums of a block that goes on: every other round takes their turns from the last to the first.
//   in:  Placed, behind `persist`    out: Placed
//
//   for n in block_number .. all step grid_blocks { for k in low..high { copies of turn k; sums += products of them } }
//     ->   for n ..., back = false, handed on as its opposite { for k in low..high { the same of turn back ? last + low - k : k } }
//
// Rounds of a block often read the same rows or columns. What one round has read last the caches still hold when
// the next one begins; what it has read first is gone. The order of a sum is free, so only loops that do nothing but add up may turn about;
// and only those that an engine fills do: where lanes copy, the edge stays the last turn, so that the others do without its tests.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// `rounds`: the loop over block numbers that stands in the body of the launch.
void go_forth_and_back(ir::Kernel& kernel, const Machine& machine, ir::OpId launch, ir::OpId rounds);

}  // namespace tilec::passes
