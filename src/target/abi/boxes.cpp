#include "target/abi/boxes.h"

#include <algorithm>

#include "base/check.h"
#include "ir/overlap.h"
#include "layout/notation.h"

namespace tilec::target {

namespace {

layout::EngineRows rows_of(const ir::Kernel& kernel, ir::ValueId memory, const ir::Ints& shape, const ir::Text& text) {
  std::vector<int> extents(shape.begin(), shape.end());
  auto layout = layout::parse_mem_layout(text, layout::Shape(extents));
  auto rows = layout ? layout::engine_rows(*layout, bit_width(kernel.type(memory).element)) : std::nullopt;
  INVARIANT(rows.has_value(), "an engine moves layouts that it knows");
  return *rows;
}

BoxAbi box_of(const ir::Kernel& kernel, ir::ValueId tensor, const ir::Axes& axes, const ir::Ints& shape, int swizzle) {
  const ir::Param* param = kernel.param_of(tensor);
  INVARIANT(param, "an engine copies out of parameters and into them");
  BoxAbi box{int(param - kernel.params.data()), swizzle, std::vector<int64_t>(kernel.type(tensor).shape.size(), 1), {}, is_never_written(kernel, tensor)};
  for (size_t i = 0; i < shape.size(); ++i) box.extents[size_t(axes[i])] = shape[i];
  return box;
}

}  // namespace

layout::EngineRows rows_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy) { return rows_of(kernel, copy.dst, copy.dst_shape, copy.layout); }
layout::EngineRows rows_of(const ir::Kernel& kernel, const ir::op::StoreBox& store) { return rows_of(kernel, store.src, store.src_shape, store.layout); }

BoxAbi box_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy) {
  return box_of(kernel, copy.src, copy.src_axes, copy.shape, rows_of(kernel, copy).swizzle);
}
BoxAbi box_of(const ir::Kernel& kernel, const ir::op::StoreBox& store) {
  BoxAbi box = box_of(kernel, store.dst, store.dst_axes, store.shape, rows_of(kernel, store).swizzle);
  if (store.adds) box.adds = kernel.type(store.dst).element;
  return box;
}

std::vector<BoxAbi> boxes_of(const ir::Kernel& kernel, ir::RegionId launch) {
  std::vector<BoxAbi> boxes;
  ir::each_op(kernel, launch, [&](ir::OpId id) {
    const auto* copy = kernel.op(id).get<ir::op::CopyBox>();
    const auto* store = kernel.op(id).get<ir::op::StoreBox>();
    if (!copy && !store) return;
    BoxAbi box = copy ? box_of(kernel, *copy) : box_of(kernel, *store);
    if (std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(std::move(box));
  });
  return boxes;
}

bool has_packed_boxes(const ir::Kernel& kernel) { return std::ranges::any_of(boxes_of(kernel, kernel.body), &BoxAbi::is_packed); }

}  // namespace tilec::target
