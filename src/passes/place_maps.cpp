#include "passes/place_maps.h"

#include "layout/build.h"
#include "layout/transform.h"
#include "passes/products.h"

namespace tilec::passes {

using namespace ir;
using layout::RegLayout;

bool is_whole(const op::Map& map, size_t input) {
  const Axes& axes = map.input_axes[input];
  for (size_t a = 0; a < axes.size(); ++a)
    if (axes[a] != int64_t(a)) return false;
  return axes.size() == map.shape.size();
}

RegLayout projected(const RegLayout& whole, const Axes& axes) {
  RegLayout result = whole;
  for (int axis = whole.shape.rank - 1; axis >= 0; --axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) result = layout::project(result, axis);
  return layout::normalized(std::move(result));
}

RegLayout map_layout(const Kernel& kernel, const Op& op, int lanes, int warps) {
  auto layout_of = [&](ValueId tile) { return kernel.layouts.reg(kernel.type(tile).layout); };
  if (!op.results.empty()) return layout_of(op.results[0]);
  const op::Map& map = op.as<op::Map>();
  for (size_t i = 0; i < map.inputs.size(); ++i)
    if (is_whole(map, i)) return layout_of(map.inputs[i]);
  std::vector<int> extents(map.shape.begin(), map.shape.end());
  return layout::blocked(layout::Shape(extents), lanes, warps, 1);
}

RegLayout input_layout(const Kernel& kernel, const RegLayout& whole, const op::Map& map, size_t input) {
  if (is_whole(map, input)) return whole;
  const Axes& axes = map.input_axes[input];
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  RegLayout wanted = projected(whole, sorted);
  if (sorted != axes) {
    std::vector<int> order;
    for (int64_t a : axes) order.push_back(int(std::find(sorted.begin(), sorted.end(), a) - sorted.begin()));
    wanted = layout::transpose(wanted, order);
  }
  wanted.shape = shape_of(kernel.type(map.inputs[input]));
  return layout::normalized(std::move(wanted));
}

}  // namespace tilec::passes
