// A schedule in the language's own words. Pasted beside the kernel, it pins what it says.
#pragma once
#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace tilec {

// `instance` and `machine`: as in `schedule gemm[T = bf16] for model`. `kernel` has been placed, and staged where it is.
std::string schedule_text(const ir::Kernel& kernel, std::string_view instance, std::string_view machine);

}  // namespace tilec
