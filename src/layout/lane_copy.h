// How lanes copy a tile between device memory ("far") and shared memory ("near"), whose axes may lie in another order there.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "layout/reg_layout.h"

namespace tilec::layout {

// The same places for both sides, each over its own axes in rising order and with registers that begin along its own last axis.
// Where these are different axes of the tile, each lane moves rectangles of some elements of the one by some of the other, so that it
// touches several neighbours at once on both sides, and turns them in registers: the first `bits` register bits are a rectangle.
struct LaneCopy {
  RegLayout far, near;
  int bits = 0;
  std::vector<int> turned;  // bit i of a register's index as `near` counts is this bit as `far` does
  int64_t far_register(int64_t near_register) const;
};

// `far_axes` and `near_axes`: the axis of either side that each axis of the tile is. Of at most `vector` elements at once, and no more
// than leave something for every lane. Of the rectangles that fit, the one with the fewest accesses of both sides.
LaneCopy lane_copy(const Shape& shape, std::span<const int64_t> far_axes, std::span<const int64_t> near_axes, int lanes, int warps, int vector);

}  // namespace tilec::layout
