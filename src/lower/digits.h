// The registers of a layout as a loop nest. A digit is a run of register places that steps evenly along one axis, so a
// register index is a number in mixed radix and a coordinate is the sum of digit * weight, plus what the lane adds.
#pragma once
#include <functional>
#include <vector>

#include "ir/builder.h"
#include "layout/reg_layout.h"

namespace tilec::lower {

struct Digit {
  int64_t count = 1;
  int axis = layout::kReplica;
  int64_t weight = 0;  // along the axis
  int64_t place = 1;   // in the register index
};

// From the innermost outwards. Null when a register bit flips several coordinate bits (then registers are enumerated).
std::optional<std::vector<Digit>> digits_of(const layout::RegLayout& layout);

// One iteration of a nest: the value of each digit, a constant where the nest is unrolled.
struct Point {
  std::vector<Digit> digits;
  std::vector<ir::ValueId> values;
};

// Emits loops over the digits, the last outermost; the innermost ones are unrolled while their product stays within
// `unroll`. `body` gets the loop-carried values and returns their next ones.
using Carried = std::vector<ir::ValueId>;
// Digits along an axis whose bit is set in `always` are unrolled wherever they stand.
Carried nest(ir::Builder& builder, std::span<const Digit> digits, int64_t unroll, Carried inits,
             const std::function<Carried(const Point&, const Carried&)>& body, unsigned always = 0);

// `count` iterations of a plain loop, unrolled when `unroll` allows; the body gets the index.
Carried count_loop(ir::Builder& builder, int64_t count, bool unroll, Carried inits,
                   const std::function<Carried(ir::ValueId, const Carried&)>& body);

// The register index, and the coordinate along one axis, of a point; lanes add their part to the coordinate.
ir::ValueId register_index(ir::Builder& builder, const Point& point);
ir::ValueId coordinate(ir::Builder& builder, const Point& point, int axis);
// Of the same point, the digits along axes for which `keep` holds, with the places they have in a layout that lacks the rest.
Point projected(const Point& point, const std::function<bool(int)>& keep);

}  // namespace tilec::lower
