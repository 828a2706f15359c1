// The elements of a warp dealt anew to its lanes, so that each holds longer runs of neighbours, or that neighbours lie in neighbours.
#pragma once
#include <optional>
#include <vector>

#include "layout/reg_layout.h"

namespace tilec::layout {

struct Widening {
  RegLayout layout;
  // In this order: what bit `reg` of the register index chose is chosen by bit `lane` of the lane index, and the other way round.
  struct Swap {
    int reg = 0, lane = 0;
  };
  std::vector<Swap> swaps;
  std::vector<int> order;  // then bit i of the register index is what its bit order[i] was
};

// Each lane's registers begin with 2^bits neighbours along `axis`; none where they are not in one warp, or where there are not
// enough registers to trade for them.
std::optional<Widening> widened(const RegLayout& layout, int axis, int bits);

// The lanes of a warp hold neighbours along `axis`, as many as there are lanes, or elements; none where they do already, where
// registers and lanes do not hold them alone, or where no lanes lie along another axis: lanes of one row fill it between them
// anyway, and to trade takes registers.
std::optional<Widening> spread(const RegLayout& layout, int axis);

}  // namespace tilec::layout
