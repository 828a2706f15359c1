// Copies of regions.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// A region like `from`, with operations, arguments and values of its own. Values from outside stay what they are.
ir::RegionId clone_region(ir::Kernel& kernel, ir::RegionId from);

}  // namespace tilec::passes
