// Conditions of the host's part, as the kernel's contract can have them.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// Is this region run by the host, with no launch around it?
bool is_of_host(const ir::Kernel& kernel, ir::RegionId region);

// `condition`, computed in `region` of the host's part, as a value of the kernel's body: whether it held whenever control came by.
// Branches and loops around it hand it on, as one value more.
ir::ValueId in_body(ir::Kernel& kernel, ir::RegionId region, ir::ValueId condition);

}  // namespace tilec::passes
