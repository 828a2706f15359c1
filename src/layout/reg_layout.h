// RegLayout: what a lane holds. (register, lane, warp, cta) -> coordinate of the tile.
//   law: surjective. Every element is somewhere; it may be in several places.
//
// Bits inside, integers outside. The power of two of an axis is reached by hardware bits, each of which flips the
// coordinate bits of its vector (0: a replica). Above the bits of an axis come its grids: integer counts, each unrolled
// in registers or dealt to warps, the first listed the innermost. So 96 = 32 × 3 is five bits and a grid of three.
//   coordinate along an axis = its bits + 2^bits * (grid 0 + count 0 * (grid 1 + ...))
//   register index           = register bits + 2^(register bits) * (register grid 0 + count 0 * (...))
//   warp index               = warp bits     + 2^(warp bits)     * (warp grid 0 + ...)
#pragma once
#include <string>
#include <vector>

#include "layout/bits.h"
#include "layout/shape.h"

namespace tilec::layout {

enum class GridPlace : uint8_t { Register, Warp };

struct Grid {
  int axis = kReplica;  // kReplica: that many places hold the same
  int count = 1;
  GridPlace place = GridPlace::Register;
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct RegLayout {
  Shape shape;  // the tile's own extents; the layout may cover more (33 rounded up to 64), and is masked then
  Basis reg{}, lane{}, warp{}, cta{};
  std::vector<Grid> grids{};

  int bits(int axis) const;
  int grid_count(int axis) const;  // product of the counts of its grids
  int covered(int axis) const { return grid_count(axis) << bits(axis); }
  Shape cover() const;

  int64_t registers() const;  // of one lane
  int lanes() const { return 1 << lane.size(); }
  int warps() const;
  int ctas() const { return 1 << cta.size(); }
  Basis all_bits() const { return concat({reg, lane, warp, cta}); }

  // The coordinate that a place holds; outside the tile where the layout is padded.
  Coordinate coordinate(int64_t register_index, int lane_index, int warp_index, int cta_index = 0) const;
  bool is_inside(const Coordinate& coordinate) const { return shape.contains(coordinate); }
  bool is_padded() const { return !(cover() == shape); }
  // Is some element held in more than one place?
  bool is_replicated() const;

  friend bool operator==(const RegLayout&, const RegLayout&) = default;
};

// The same function in its one normal form: no counts of one, neighbouring grids of one axis and place merged, a factor
// of two directly above the bits turned into a bit, register grids before warp grids where the order is free.
RegLayout normalized(RegLayout layout);
// What breaks the law, as a sentence; empty when the layout is surjective and covers its shape.
std::string flaw(const RegLayout& layout);

}  // namespace tilec::layout
