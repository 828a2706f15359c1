// A tile reduced along one axis as far as each lane can by itself, by reshapes and reductions that move nothing.
#pragma once
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace tilec::passes {

// How an axis falls apart: runs of neighbouring bits of its coordinate that registers hold, or lanes and warps. The first steps least.
struct Run {
  int64_t extent = 1;
  bool is_held = false;  // by the registers of a lane
};
// None for a tile that is dealt out in grids, or padded.
std::optional<std::vector<Run>> runs_along(const layout::RegLayout& tile, int axis);

// The tile with one element left along the axis for each place that lanes and warps have there.
std::optional<ir::ValueId> reduced_within_lanes(ir::Builder& b, ir::ReduceFn fn, ir::ValueId x, int64_t axis);

}  // namespace tilec::passes
