// Copies that an engine makes box by box: which it can make, as far as that is known before a call.
#pragma once
#include <string>

#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Why the machine's engine cannot copy this region of a parameter into a shared tile; empty: it can, where the call's address and
// strides suit it. The tile has its layout, and is filled as a whole.
std::string why_no_box(const ir::Kernel& kernel, const ir::op::Copy& copy, const Machine& machine);

}  // namespace tilec::passes
