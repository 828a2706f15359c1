// Vectors that loops of products read from device memory, and of which each lane holds many elements.
//   before: rows = load lse[i]                        16 registers a lane, of 64 elements
//   after:  whole = load lse[i]   ...   rows = convert_layout whole      2 registers a lane, dealt out in front of the first reader
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Placed -> Placed: each warp reads such a vector once, each lane a few elements, so that it may be on its way long before without taking
// registers.
void deal_vectors(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
