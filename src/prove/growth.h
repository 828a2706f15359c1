// How far numbers get that loops carry.
#pragma once
#include "prove/linear.h"
#include "prove/reader.h"

namespace tilec::prove {

// No thread makes 2^48 turns: at one a nanosecond that takes three days. So what each turn moves by 2^12 at most stays within
// 2^61, if it begins within 2^60.
constexpr Interval kReachOfSlow{-(int64_t(1) << 61), int64_t(1) << 61};

// Is it such a number: a loop's argument or result, an `int`, made by turns of sums with small numbers, of quotients and choices,
// from numbers that are known to be bounded?
bool is_slow(Reader& reader, ir::ValueId v);

}  // namespace tilec::prove
