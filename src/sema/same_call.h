// Kernels that one function of the object can stand for: who calls it cannot tell them apart.
#pragma once
#include <string>

#include "ir/kernel.h"

namespace tilec::sema {

// What differs in parameters, dims or contracts, for people; empty: nothing.
std::string difference_of_calls(const ir::Kernel& a, const ir::Kernel& b);

}  // namespace tilec::sema
