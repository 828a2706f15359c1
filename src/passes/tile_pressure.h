// Registers of a lane that tiles take at once.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// The most 32-bit registers of a lane that tiles and products in flight take at one place of a launch, in Staged form. Numbers and
// addresses are left out.
int64_t tile_pressure(const ir::Kernel& kernel, ir::RegionId launch);

}  // namespace tilec::passes
