#include "layout/lane_copy.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "layout/build.h"
#include "layout/transform.h"

namespace tilec::layout {

namespace {

// The tile's axes in the order in which they rise on one side.
std::vector<int> rising(std::span<const int64_t> axes) {
  std::vector<int> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int a) { return axes[size_t(a)]; });
  return order;
}

int bits_that_divide(int extent) { return std::countr_zero(static_cast<unsigned>(extent)); }

// Bits of a rectangle along the last axes of both sides.
struct Sides {
  int far = 0, near = 0;
  int accesses(int bits) const { return (1 << (bits - far)) + (1 << (bits - near)); }
};

// A wide access of device memory comes first where the numbers are the same.
Sides best_of(int bits, int most_far, int most_near) {
  Sides best;
  for (int far = 0; far <= std::min(bits, most_far); ++far) {
    Sides sides{far, std::min(bits - far, most_near)};
    if (sides.accesses(bits) <= best.accesses(bits)) best = sides;
  }
  return best;
}

}  // namespace

int64_t LaneCopy::far_register(int64_t near_register) const {
  int64_t far_register = near_register >> bits << bits;
  for (int bit = 0; bit < bits; ++bit) far_register |= (near_register >> bit & 1) << turned[size_t(bit)];
  return far_register;
}

LaneCopy lane_copy(const Shape& shape, std::span<const int64_t> far_axes, std::span<const int64_t> near_axes, int lanes, int warps, int vector) {
  std::vector<int> far_order = rising(far_axes), near_order = rising(near_axes), from_far;
  for (int axis : near_order) from_far.push_back(int(std::ranges::find(far_order, axis) - far_order.begin()));
  Shape far_shape = shape;
  for (int axis = 0; axis < shape.rank; ++axis) far_shape.extents[size_t(axis)] = shape[far_order[size_t(axis)]];
  int last = shape.rank - 1, near_last = shape.rank ? from_far[size_t(last)] : 0;
  int64_t own = 1;  // elements of a lane
  for (int axis = 0; axis < shape.rank; ++axis) own *= shape[axis];
  own /= int64_t(lanes) * warps;
  int most = bits_that_divide(vector), bits = std::bit_width(uint64_t(own)) - 1;
  if (shape.rank == 0 || near_last == last) {
    int straight = std::clamp(bits, 0, most);
    RegLayout far = blocked(far_shape, lanes, warps, 1 << straight);
    LaneCopy copy{far, transpose(far, from_far), std::min(straight, int(far.reg.size())), std::vector<int>(size_t(straight))};
    std::iota(copy.turned.begin(), copy.turned.end(), 0);
    return copy;
  }
  Sides sides = best_of(std::max(bits, 0), std::min(most, bits_that_divide(far_shape[last])), std::min(most, bits_that_divide(far_shape[near_last])));
  LaneCopy copy{.far = blocked(far_shape, lanes, warps, 1 << sides.far, {near_last, 1 << sides.near}), .near = {}, .bits = sides.far + sides.near, .turned = {}};
  copy.near = transpose(copy.far, from_far);
  for (int bit = 0; bit < copy.bits; ++bit) copy.turned.push_back(bit < sides.near ? sides.far + bit : bit - sides.near);
  Basis square(copy.near.reg.begin(), copy.near.reg.begin() + copy.bits);
  for (int bit = 0; bit < copy.bits; ++bit) copy.near.reg[size_t(bit)] = square[size_t(copy.turned[size_t(bit)])];
  return copy;
}

}  // namespace tilec::layout
