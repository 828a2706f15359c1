// Tensors of a launch that nobody reads and whose elements are written once: lanes need not meet for them.
#pragma once
#include <set>

#include "ir/kernel.h"

namespace tilec::passes {

// Those that one store alone touches, or the pieces of one, in each turn of the loops around it a region of its own; what is stored late is
// another round's.
std::set<ir::ValueId> written_apart_in(const ir::Kernel& kernel, ir::RegionId body);

}  // namespace tilec::passes
