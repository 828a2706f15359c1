// What numbers of the host's part can be, as types and extents tell. Whether one may fail decides whether it may be computed where
// the program would have skipped it.
#pragma once
#include "ir/kernel.h"
#include "prove/linear.h"

namespace tilec::sema {

// May the operation leave 64 bits, or divide by zero? Of those that are no arithmetic on integers: no.
bool may_fail_on_host(const ir::Kernel& kernel, const ir::Op& op);

}  // namespace tilec::sema
