// The shape of a tile, and how a coordinate of it is packed into one vector of bits.
//
// Each axis owns a run of bits of the vector, the last axis the lowest one. The width of a run depends on the rank
// only, so layouts of one rank share one space whatever their extents: an atom's vectors are a tile's vectors.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "layout/bits.h"

namespace tilec::layout {

inline constexpr int kMaxRank = 6;
// "No axis": the same data again (in registers).
inline constexpr int kReplica = -1;

// One integer per axis; entries at and above the rank are zero.
using Coordinate = std::array<int, kMaxRank>;

struct Shape {
  int rank = 0;
  std::array<int, kMaxRank> extents{};

  Shape() = default;
  Shape(std::initializer_list<int> list) : Shape(std::span<const int>(list.begin(), list.size())) {}
  explicit Shape(std::span<const int> list);
  int operator[](int axis) const { return extents[axis]; }
  int64_t elements() const;
  bool contains(const Coordinate& coordinate) const;
  friend bool operator==(const Shape&, const Shape&) = default;
};

Shape without_axis(const Shape& shape, int axis);
Shape with_axis(const Shape& shape, int axis, int extent);  // the new axis comes before the old `axis`

// Every extent is odd part × power of two: 96 = 3 × 2^5.
struct OddAndBits {
  int odd = 1;
  int bits = 0;
};
OddAndBits split_extent(int64_t extent);

// --- a coordinate as a vector of bits ---------------------------------------------------------------------------
constexpr int run_width(int rank) { return rank <= 2 ? 32 : 64 / rank; }
constexpr int run_start(int rank, int axis) { return (rank - 1 - axis) * run_width(rank); }
constexpr Vec coordinate_bit(int rank, int axis, int bit) { return Vec{1} << (run_start(rank, axis) + bit); }
constexpr Vec axis_mask(int rank, int axis) {
  return ((Vec{1} << run_width(rank)) - 1) << run_start(rank, axis);
}
// The bits of `v` along `axis`, moved down to bit 0.
constexpr Vec axis_part(Vec v, int rank, int axis) { return (v & axis_mask(rank, axis)) >> run_start(rank, axis); }
// How many bits of `axis` the vectors reach: one more than the highest.
int bits_of_axis(Vecs vectors, int rank, int axis);
// `v` in another space: its axis i becomes axis `new_axis[i]` of a space of rank `new_rank`, or is dropped (kReplica).
Vec moved(Vec v, int rank, std::span<const int> new_axis, int new_rank);

// --- names of axes ----------------------------------------------------------------------------------------------
// The letters of a tile's axes, one each: "c", "rc", "arc", "abrc", "abdrc", "abderc". Atom tables have others ("mk").
std::string_view axis_letters(int rank);

}  // namespace tilec::layout
