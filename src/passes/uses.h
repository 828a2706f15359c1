// Who uses a value.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// Does the operation, or one in its regions, have `v` as an operand?
bool uses(const ir::Kernel& kernel, ir::OpId id, ir::ValueId v);

}  // namespace tilec::passes
