// What the body of a map does to memory. Where several lanes have a copy of an element, one of them acts for all.
#pragma once
#include "ir/kernel.h"

namespace tilec::lower {

// Touches memory, or may have something to report: its lanes outside the tile must not run.
bool has_effects(const ir::Kernel& kernel, ir::RegionId body);
bool has_atomics(const ir::Kernel& kernel, ir::RegionId body);
bool has_stores(const ir::Kernel& kernel, ir::RegionId body);
// Does it read memory that it writes? A lane that does not act can't: the one that acts for it may have written before.
bool reads_back(const ir::Kernel& kernel, ir::RegionId body);

}  // namespace tilec::lower
