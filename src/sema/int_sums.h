// Sums of `int`s, which do not leave 64 bits.
#pragma once
#include "sema/elementwise.h"

namespace tilec::sema {

// `total` of a tile of `int`s, a sum or a scan along an axis of so many elements; gives a number or a tile. Where it may leave 64 bits the upper and
// the lower halves of the numbers are summed by themselves, which neither does, and put together by arithmetic that check-numbers guards: it is exact in any order.
Value sum_of_ints(Instance& in, ir::ValueId tile, int64_t count, Span span, const std::function<Value(ir::ValueId)>& total);
// The same of a number of each lane of a warp.
ir::ValueId warp_sum_of_ints(Instance& in, ir::ValueId x, const std::function<ir::ValueId(ir::ValueId)>& total);

}  // namespace tilec::sema
