// Remainders that a loop counts along instead of dividing at every turn.
//   in:  Thread    out: Thread
//
//   for i { x = i + n; ... x rem 6 ... (x div 6) & 1 ... }   ->   for i carrying (slot, parity) { ... slot ... parity ... }
//
// Slots of rings, and the phases of their barriers, are such numbers. Where the divisor is a power of two, a mask does as well.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void count_slots(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
