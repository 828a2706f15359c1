// Puts barriers between conflicting touches of memory by the warps of a block, or of a role.
//   in:  Staged form    out: Staged form, every conflict inside a role (or outside roles) ordered
// What engines read is fenced before the barrier behind its writes.
// What one role, or the engine that copies, hands to another is ordered by rings and is none of this pass's business.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void insert_barriers(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
