// Which tiles of a launch weigh most, in registers of a lane: the first to be made smaller where registers run out.
#pragma once
#include "ir/kernel.h"

namespace tilec::check {

// Of each launch of a kernel in Staged form, in the order of the program. A tile that a loop carries comes before one that is as
// heavy and does not, since it is there all the time.
std::vector<ir::HeavyTiles> heavy_tiles(const ir::Kernel& kernel);

}  // namespace tilec::check
