#include "passes/within_lanes.h"

#include <algorithm>

#include "layout/transform.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Reducer {
  Builder& b;
  Kernel& kernel = b.kernel();

  ValueId reshaped(ValueId v, const Ints& shape) {
    auto same = layout::reshape(kernel.layouts.reg(kernel.type(v).layout), layout::Shape(std::vector<int>(shape.begin(), shape.end())));
    INVARIANT(same.has_value(), "bits of an axis fall apart anywhere");
    return b.value(op::Reshape{v}, placed(v, shape, layout::normalized(*same)));
  }

  Type placed(ValueId like, const Ints& shape, layout::RegLayout layout) {
    Type type = kernel.type(like);
    type.shape.assign(shape.begin(), shape.end());
    type.layout = kernel.layouts.intern(std::move(layout));
    return type;
  }
};

}  // namespace

std::optional<std::vector<Run>> runs_along(const layout::RegLayout& tile, int axis) {
  if (!tile.grids.empty() || tile.is_padded()) return std::nullopt;
  std::vector<Run> runs;
  for (int bit = 0; bit < tile.bits(axis); ++bit) {
    const layout::Vec moves = layout::coordinate_bit(tile.shape.rank, axis, bit);
    bool is_held = std::ranges::find(tile.reg, moves) != tile.reg.end();
    if (runs.empty() || runs.back().is_held != is_held) runs.push_back({1, is_held});
    runs.back().extent *= 2;
  }
  return runs;
}

std::optional<ValueId> reduced_within_lanes(Builder& b, ReduceFn fn, ValueId x, int64_t axis) {
  Reducer reducer{b};
  Kernel& kernel = b.kernel();
  const Type type = kernel.type(x);
  auto runs = runs_along(kernel.layouts.reg(type.layout), int(axis));
  if (!runs || type.shape.size() + runs->size() > size_t(layout::kMaxRank)) return std::nullopt;
  Ints shape(type.shape.begin(), type.shape.begin() + axis), rest(type.shape.begin() + axis + 1, type.shape.end());
  for (size_t i = runs->size(); i-- > 0;) shape.push_back((*runs)[i].extent);
  shape.insert(shape.end(), rest.begin(), rest.end());
  ValueId v = reducer.reshaped(x, shape);
  int64_t left = 1;
  for (size_t i = 0; i < runs->size(); ++i) {
    if (!(*runs)[i].is_held) left *= (*runs)[i].extent;
    if (!(*runs)[i].is_held) continue;
    const auto at = axis + int64_t(runs->size() - 1 - i);
    auto reduction = layout::reduce(kernel.layouts.reg(kernel.type(v).layout), int(at));
    INVARIANT(reduction.has_value(), "registers step along one axis with each bit");
    shape.erase(shape.begin() + at);
    v = b.value(op::Reduce{fn, v, at}, reducer.placed(v, shape, layout::normalized(reduction->result)));
    // What is left keeps its number of axes, so that the next run is found by it.
    shape.insert(shape.begin() + at, 1);
    v = reducer.reshaped(v, shape);
  }
  Ints whole(type.shape.begin(), type.shape.end());
  whole[size_t(axis)] = left;
  return reducer.reshaped(v, whole);
}

}  // namespace tilec::passes
