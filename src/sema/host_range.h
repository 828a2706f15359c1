// What numbers of the host's part can be, as types and extents tell. Whether one may fail decides whether it may be computed where
// the program would have skipped it.
#pragma once
#include <set>

#include "ir/kernel.h"
#include "prove/linear.h"

namespace tilec::sema {

// May the operation leave 64 bits, or divide by zero? Of those that are no arithmetic on integers: no.
bool may_fail_on_host(const ir::Kernel& kernel, const ir::Op& op);

// Is it never negative, as types and extents tell?
bool is_never_negative(const ir::Kernel& kernel, ir::ValueId v);
// Is it an `int` made of 64-bit numbers that a caller or memory chooses, or that a loop has carried? Sums of those may have no value. `near`:
// indices that are known to be none.
bool is_far(const ir::Kernel& kernel, const std::set<ir::ValueId>& near, ir::ValueId v);

}  // namespace tilec::sema
