// Layouts made to measure.
#pragma once
#include <span>

#include "layout/reg_layout.h"

namespace tilec::layout {

// The layout of loads, stores and elementwise chains. `vector` consecutive elements of the last axis go to consecutive
// registers, lanes follow along the last axis first, warps deal out the first axis first, what is left is registers.
// Any extents: odd parts become grids, and an extent is rounded up only where the lanes and warps would idle otherwise.
// Spare lanes and warps are replicas. `lanes` and `vector` are powers of two.
//
// `second`: `count` elements of another axis follow the vector in registers, so that a lane holds rectangles.
struct Second {
  int axis = 0;
  int count = 1;  // a power of two
};
RegLayout blocked(const Shape& shape, int lanes, int warps, int vector, Second second = {});

// `count` warps step along `axis`; kReplica: they hold the same (the warps along n, of an operand over m and k).
struct WarpStep {
  int axis = kReplica;
  int count = 1;
};
// An atom's fragment repeated over a tile: warps take neighbouring atoms in the order of the steps, the rest is
// repeated in registers, the last axis first. An odd factor of a step deals its axis in contiguous blocks. A tile of
// more axes than the atom has repeats it over the leading ones. Extents are rounded up to whole atoms.
RegLayout tiled(const RegLayout& atom, const Shape& shape, std::span<const WarpStep> warps);

}  // namespace tilec::layout
