// split-roles: the warps of a block take roles. One fills the rings, the other does all else; each runs its own copy of the
// block's program, without what is the other's.
//   in:  Staged form    out: Staged form; launches whose rings can be filled apart hold one `roles` operation
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void split_roles(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

// Do lanes of a role that fills rings copy, or may they have to where a call's tensors do not suit the engine?
bool lanes_copy(const ir::Kernel& kernel);

}  // namespace tilec::passes
