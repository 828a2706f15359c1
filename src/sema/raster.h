// The order in which blocks of a launch begin: `column(8)`, `reversed(0)`, `forward`.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// What one `raster` says: how wide panels are, or which axis runs backwards (as `ir::op::Launch` has it). The other is 0.
struct Raster {
  int64_t columns = 0, backwards = 0;
};
std::optional<Raster> read_raster(Instance& in, const ast::Expr& value);

}  // namespace tilec::sema
