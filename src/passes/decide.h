// What is left of a region once conditions in it have become constants.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// Folds conditions and puts the taken side in the place of ifs and selects that ask a constant.
void decide(ir::Kernel& kernel, ir::RegionId region);

}  // namespace tilec::passes
