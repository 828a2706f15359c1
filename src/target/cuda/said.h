// What the assembler says of each function, read where it matters to who wrote the kernel.
#pragma once
#include "target/target.h"

namespace tilec::target::cuda {

// Functions with a stack frame, registers that ran out, or matrix products that do not run as they are written; in the order in which
// they are first spoken of.
std::vector<AssembledFunction> slow_functions(std::string_view said);

}  // namespace tilec::target::cuda
