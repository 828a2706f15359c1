// Regions of tensors as an engine moves them: cut into boxes, where the call's addresses and strides suit it.
#include <set>

#include "ir/overlap.h"
#include "layout/engine_rows.h"
#include "lower/lowering.h"

namespace tilec::lower {

// Do the call's addresses and strides suit the engine? None: it asks nothing, or the launcher sees to it, as it does for what no
// part of the kernel writes: then it hands the engine a copy of a tensor that does not.
ValueId Lowering::boxes_hold(std::span<const ValueId> tensors) {
  ValueId holds;
  std::set<ValueId> asked;
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  for (ValueId tensor : tensors) {
    if (!machine_.boxes.unit || is_never_written(source_, tensor) || !asked.insert(tensor).second) continue;
    holds = all(holds, begins_at_multiples(tensor, machine_.boxes.unit / byte_width(source_.type(tensor).element)));
    holds = all(holds, builder_.value(ir::op::HasBoxes{scalar_buffer(tensor)}, ir::scalar_type(Scalar::Bool)));
  }
  builder_.set_region(here);
  return holds;
}

void Lowering::by_engine(ValueId holds, const std::function<void()>& engine, const std::function<void()>& lanes) {
  if (!holds.valid() || held_.contains(holds)) return engine();
  if (broken_.contains(holds)) return lanes();
  RegionId outer = builder_.region(), boxes = target_.new_region(), other = target_.new_region();
  builder_.set_region(boxes);
  engine();
  builder_.yield({});
  builder_.set_region(other);
  lanes();
  builder_.yield({});
  builder_.set_region(outer);
  builder_.add(ir::op::If{holds, boxes, other});
}

// A box has as many elements along an axis as the engine takes at once, and no more than lie one behind the other in the tile.
ir::Ints Lowering::box_shape(const ir::Ints& region, const Type& tile) const {
  if (!machine_.boxes.unit) return region;
  auto rows = layout::engine_rows(source_.layouts.mem(tile.layout), bit_width(tile.element));
  INVARIANT(rows.has_value(), "a tile that an engine moves has a layout that it knows");
  ir::Ints box = region;
  size_t rank = box.size();
  for (size_t axis = 0; axis < rank; ++axis)
    box[axis] = axis + 1 == rank ? rows->width : axis + 2 == rank ? std::min<int64_t>(box[axis], machine_.boxes.extent) : 1;
  return box;
}

std::vector<ValueId> Lowering::stepped(std::vector<ValueId> offsets, const ir::Axes& axes, const ir::Ints& by) {
  for (size_t axis = 0; axis < by.size(); ++axis) {
    ValueId& offset = offsets[size_t(axes[axis])];
    offset = builder_.add(offset, builder_.index(by[axis]));
  }
  return offsets;
}

// Calls emit(origin, shape) for each box of a region; the last ones of an axis may be smaller.
void Lowering::each_box(const ir::Ints& region, const ir::Ints& box, const std::function<void(const ir::Ints&, const ir::Ints&)>& emit) {
  ir::Ints origin(region.size(), 0), shape(region.size());
  for (size_t axis = 0;;) {
    for (size_t i = 0; i < region.size(); ++i) shape[i] = std::min(box[i], region[i] - origin[i]);
    emit(origin, shape);
    for (axis = region.size(); axis-- > 0;) {
      if ((origin[axis] += box[axis]) < region[axis]) break;
      origin[axis] = 0;
    }
    if (axis == size_t(-1)) return;
  }
}

}  // namespace tilec::lower
