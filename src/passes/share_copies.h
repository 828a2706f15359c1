// Blocks of a cluster that copy the same do it together: each copies a part, and all of them get it.
//   in:  Staged    out: Staged
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Marks the copies; a launch where none is left has no cluster any more.
void share_copies(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
