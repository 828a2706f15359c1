// Gives every shared buffer its place in the memory of a block; those that are never needed at the same time share it.
//   in:  Thread form, barriers where they will be    out: Thread form, every shared `alloc` with its offset
//
// It comes behind lowering, since reductions between warps and conversions of layouts need shared memory too, and lowering
// is who puts it there; and it adds no barrier, so that sharing costs nothing: where none is between two buffers, they lie apart.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void pack_shared(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
