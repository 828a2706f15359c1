// The shared memory of a launch, once `pack-shared` has given every buffer its place.
#pragma once
#include "ir/kernel.h"

namespace tilec::ir {

// The end of the last buffer, in bytes; 0 where none has a place.
int64_t packed_bytes(const Kernel& kernel, RegionId launch);

}  // namespace tilec::ir
