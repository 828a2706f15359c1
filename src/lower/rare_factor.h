// Tiles multiplied by a factor of their rows, or columns, that is one as long as something stays that the program chooses to let stay:
//
//   m_new = if top > m + bound { top } else { m };  alpha = exp((m - m_new) * scale);  o * alpha
//
// A softmax over blocks of keys scales all that it has added up when the maximum of a row moves. x * 1 is x: a warp whose factors are all
// one need not multiply. A maximum that moves whenever a score is greater is no such choice: nothing was gained there (docs/performance.md).
#pragma once
#include "ir/kernel.h"

namespace tilec::lower {

// The input of a map that the other one is multiplied by, if it is such a factor; -1: none.
int64_t rare_factor(const ir::Kernel& kernel, const ir::op::Map& map);

}  // namespace tilec::lower
