// Code of one instruction where it is used, not in front of the loops around.
#pragma once
#include <llvm/IR/Function.h>

namespace tilec::target {

// A lane has so many registers.
void sink_cheap_code(llvm::Function& function, int64_t registers);

}  // namespace tilec::target
