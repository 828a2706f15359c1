// Shared memory that a launch leaves free.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Bytes of a shared buffer.
int64_t shared_bytes(const ir::Kernel& kernel, ir::ValueId buffer);

// Bytes beside all shared buffers and rings of the launch, and what earlier rounds of the passes were short of.
int64_t room_beside(const ir::Kernel& kernel, const Machine& machine, ir::RegionId launch);

}  // namespace tilec::passes
