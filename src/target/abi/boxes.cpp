#include "target/abi/boxes.h"

#include <algorithm>

#include "base/check.h"
#include "layout/notation.h"

namespace tilec::target {

layout::EngineRows rows_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy) {
  std::vector<int> extents(copy.dst_shape.begin(), copy.dst_shape.end());
  auto layout = layout::parse_mem_layout(copy.layout, layout::Shape(extents));
  auto rows = layout ? layout::engine_rows(*layout, bit_width(kernel.type(copy.dst).element)) : std::nullopt;
  INVARIANT(rows.has_value(), "an engine writes layouts that it knows");
  return *rows;
}

BoxAbi box_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy) {
  const ir::Param* param = kernel.param_of(copy.src);
  INVARIANT(param, "an engine copies out of parameters");
  BoxAbi box{int(param - kernel.params.data()), rows_of(kernel, copy).swizzle, std::vector<int64_t>(kernel.type(copy.src).shape.size(), 1)};
  for (size_t i = 0; i < copy.shape.size(); ++i) box.extents[size_t(copy.src_axes[i])] = copy.shape[i];
  return box;
}

std::vector<BoxAbi> boxes_of(const ir::Kernel& kernel, ir::RegionId launch) {
  std::vector<BoxAbi> boxes;
  ir::each_op(kernel, launch, [&](ir::OpId id) {
    const auto* copy = kernel.op(id).get<ir::op::CopyBox>();
    if (!copy) return;
    BoxAbi box = box_of(kernel, *copy);
    if (std::ranges::find(boxes, box) == boxes.end()) boxes.push_back(std::move(box));
  });
  return boxes;
}

}  // namespace tilec::target
