// What numbers of the host's part can be, as types and extents tell. Whether one may fail decides whether it may be computed where
// the program would have skipped it.
#pragma once
#include <map>

#include "ir/kernel.h"
#include "prove/linear.h"

namespace tilec::sema {

// May the operation leave 64 bits, or divide by zero? Of those that are no arithmetic on integers: no.
bool may_fail_on_host(const ir::Kernel& kernel, const ir::Op& op);

// What an integer can be, as types, extents and how it is computed tell.
prove::Interval range_of(const ir::Kernel& kernel, ir::ValueId v);
// Is it never negative, as types and extents tell?
bool is_never_negative(const ir::Kernel& kernel, ir::ValueId v);
// A power of two that an `int` does not reach, 2^31 of extents and of indices of launches, what its ends say of the index of a loop; 64: it is made of
// numbers of 64 bits that a caller or memory chooses, or that a loop has carried. From 64 on a sum or a product may have no value. `near`: of indices.
using Magnitudes = std::map<ir::ValueId, int>;
inline constexpr int kNearBits = 31;
int magnitude(const ir::Kernel& kernel, const Magnitudes& near, ir::ValueId v);
int magnitude(const ir::Kernel& kernel, const Magnitudes& near, const ir::op::Binary& binary);
inline bool is_far(const ir::Kernel& kernel, const Magnitudes& near, ir::ValueId v) { return magnitude(kernel, near, v) >= 63; }

}  // namespace tilec::sema
