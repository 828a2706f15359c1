// Thread form in and out: barriers between which nothing changes hands go.
//
// Every step of lowering puts a barrier where what it has written is to be read, and another one in front of what it writes, as it does
// not know what stands around it. Of those in front, most have a barrier before them that does as well: in a loop with several exchanges
// between warps each of them keeps the next one's memory apart from its last use. One barrier after the other is looked at, as if it were
// not there: where no touch of memory in front of it meets one behind it before another barrier comes, it is dropped. Only in loops, and not where
// shared memory would grow by more than a little: a barrier is also what lets buffers lie in the same bytes.
//
// What products in flight read is touched until they are awaited, and what an engine stores until that. Who arrives at a barrier with
// phases, or has an engine fill a tile, may speak for other warps: all that they have touched in front of a barrier meets it.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void drop_barriers(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
