// Conditions of the host's part, as the kernel's contract can have them.
#pragma once
#include <set>

#include "ir/kernel.h"

namespace tilec::passes {

// The regions that the host runs: the body, and those inside it that have no launch around them.
std::set<ir::RegionId> regions_of_host(const ir::Kernel& kernel);

// `condition`, computed in `region` of the host's part, as a value of the kernel's body: whether it held whenever control came by.
// Branches and loops around it hand it on, as one value more.
ir::ValueId in_body(ir::Kernel& kernel, ir::RegionId region, ir::ValueId condition);

}  // namespace tilec::passes
