// Copies of regions.
#pragma once
#include <unordered_map>

#include "ir/kernel.h"

namespace tilec::passes {

// By the index of a value: what stands for it in a copy.
using Substitution = std::unordered_map<uint32_t, ir::ValueId>;

// A region like `from`, with operations, arguments and values of its own. Values from outside stay what they are; uses of a
// value in `given` become uses of its stand-in.
ir::RegionId clone_region(ir::Kernel& kernel, ir::RegionId from, Substitution given = {});

}  // namespace tilec::passes
