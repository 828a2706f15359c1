// The elements of a warp dealt anew to its lanes, so that each holds longer runs of neighbours.
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

}  // namespace tilec::layout
