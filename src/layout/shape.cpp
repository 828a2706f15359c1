#include "layout/shape.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tilec::layout {

Shape::Shape(std::span<const int> list) : rank(static_cast<int>(list.size())) {
  INVARIANT(list.size() <= kMaxRank, "a tile has at most six axes");
  std::copy(list.begin(), list.end(), extents.begin());
}

int64_t Shape::elements() const {
  int64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) count *= extents[axis];
  return count;
}

bool Shape::contains(const Coordinate& coordinate) const {
  for (int axis = 0; axis < rank; ++axis) {
    if (coordinate[axis] < 0 || coordinate[axis] >= extents[axis]) return false;
  }
  return true;
}

Shape without_axis(const Shape& shape, int axis) {
  std::vector<int> extents(shape.extents.begin(), shape.extents.begin() + shape.rank);
  extents.erase(extents.begin() + axis);
  return Shape(extents);
}

Shape with_axis(const Shape& shape, int axis, int extent) {
  std::vector<int> extents(shape.extents.begin(), shape.extents.begin() + shape.rank);
  extents.insert(extents.begin() + axis, extent);
  return Shape(extents);
}

OddAndBits split_extent(int64_t extent) {
  INVARIANT(extent > 0, "an extent is positive");
  int bits = std::countr_zero(static_cast<uint64_t>(extent));
  return {static_cast<int>(extent >> bits), bits};
}

int bits_of_axis(Vecs vectors, int rank, int axis) {
  Vec all = 0;
  for (Vec v : vectors) all |= v;
  return static_cast<int>(std::bit_width(axis_part(all, rank, axis)));
}

Vec moved(Vec v, int rank, std::span<const int> new_axis, int new_rank) {
  Vec result = 0;
  for (int axis = 0; axis < rank; ++axis) {
    Vec part = axis_part(v, rank, axis);
    if (part == 0 || new_axis[axis] == kReplica) continue;
    INVARIANT(static_cast<int>(std::bit_width(part)) <= run_width(new_rank), "an axis fits its run of bits");
    result |= part << run_start(new_rank, new_axis[axis]);
  }
  return result;
}

std::string_view axis_letters(int rank) {
  constexpr std::string_view kLetters[] = {"", "c", "rc", "arc", "abrc", "abdrc", "abderc"};
  INVARIANT(rank >= 0 && rank <= kMaxRank, "a tile has at most six axes");
  return kLetters[rank];
}

}  // namespace tilec::layout
