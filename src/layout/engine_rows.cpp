#include "layout/engine_rows.h"

#include <algorithm>

namespace tilec::layout {

namespace {

bool is_stack_of(const MemLayout& layout, MemLayout core) {
  for (int axis = layout.shape.rank - 3; axis >= 0; --axis) core = stacked(core, layout.shape[axis]);
  return core == layout;
}

}  // namespace

std::optional<EngineRows> engine_rows(const MemLayout& layout, int element_bits) {
  const Shape& shape = layout.shape;
  if (shape.rank == 0) return std::nullopt;
  int width = shape[shape.rank - 1];
  if (layout == row_major(shape)) return EngineRows{.width = width, .panel = width};
  if (shape.rank < 2) return std::nullopt;
  int rows = shape[shape.rank - 2];
  for (int bytes : {128, 64, 32}) {
    auto core = swizzled(Shape{rows, width}, 1, 0, element_bits, bytes);
    if (!core || !is_stack_of(layout, *core)) continue;
    int of_panel = bytes * 8 / element_bits;
    return EngineRows{bytes, of_panel, width / of_panel, int64_t(rows) * of_panel};
  }
  return std::nullopt;
}

std::optional<size_t> split_axis(const std::vector<int64_t>& region, const EngineRows& rows, int element_bits, int64_t parts) {
  constexpr int64_t kLine = 128, kLinesOfSwizzle = 8;  // bytes, at whose multiples parts begin; lines after which a swizzle repeats
  size_t rank = region.size();
  int64_t unit = kLine * (rows.swizzle ? kLinesOfSwizzle : 1);
  if (rank >= 2 && region[rank - 2] % parts == 0 && region[rank - 2] / parts * rows.width * element_bits / 8 % unit == 0) return rank - 2;
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    if (region[axis] % parts == 0) return axis;
  if (rank >= 1 && rows.count > 1 && region[rank - 1] / rows.width % parts == 0) return rank - 1;
  return std::nullopt;
}

}  // namespace tilec::layout
