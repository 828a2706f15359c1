#include "passes/place_parts.h"

#include <numeric>

#include "layout/transform.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using layout::RegLayout;

namespace {

constexpr int64_t kLargeDivisor = int64_t(1) << 30;  // enough for any layout; products beyond it are not kept

}  // namespace

Divisors::Divisors(const Kernel& kernel, RegionId body) : kernel_(kernel) {
  each_op(kernel, body, [&](OpId id) {
    if (const op::For* loop = kernel.op(id).get<op::For>()) loop_of_[loop->body] = id;
  });
}

int64_t Divisors::of(ValueId index) const {
  if (auto found = known_.find(index); found != known_.end()) return found->second;
  return known_[index] = derive(index);
}

int64_t Divisors::derive(ValueId index) const {
  if (auto constant = kernel_.constant(index)) return std::abs(constant->i);
  if (auto found = loop_of_.find(kernel_.value(index).region); found != loop_of_.end()) {
    bool is_counter = kernel_.region(found->first).args[0] == index;
    const op::For& loop = kernel_.op(found->second).as<op::For>();
    return is_counter ? std::gcd(of(loop.low), of(loop.step)) : 1;
  }
  if (const op::Select* select = kernel_.defined_by<op::Select>(index)) return std::gcd(of(select->a), of(select->b));
  const op::Binary* binary = kernel_.defined_by<op::Binary>(index);
  if (!binary) return 1;
  int64_t a = of(binary->a), b = of(binary->b);
  switch (binary->fn) {
    case BinaryFn::Mul: return a < kLargeDivisor && b < kLargeDivisor ? a * b : std::max(a, b);
    case BinaryFn::Add: case BinaryFn::Sub: case BinaryFn::Min: case BinaryFn::Max: return std::gcd(a, b);
    default: return 1;
  }
}

std::optional<RegLayout> part_layout(const Kernel& kernel, const Divisors& divisors, const PartOfTile& part, const RegLayout& tile) {
  const Type& whole = kernel.type(part.tile);
  std::vector<layout::Cut> cuts;
  for (size_t axis = 0; axis < whole.shape.size(); ++axis) {
    auto own = std::find(part.axes.begin(), part.axes.end(), int64_t(axis));
    int64_t extent = own == part.axes.end() ? 1 : part.shape[size_t(own - part.axes.begin())];
    cuts.push_back({int(extent), divisors.of(part.offsets[axis])});
  }
  std::optional<RegLayout> result = layout::cut(tile, cuts);
  if (!result) return std::nullopt;
  Axes sorted = part.axes;
  std::sort(sorted.begin(), sorted.end());
  for (int axis = whole.rank() - 1; axis >= 0; --axis)
    if (!std::binary_search(sorted.begin(), sorted.end(), int64_t(axis))) result = layout::project(*result, axis);
  std::vector<int> order;
  for (int64_t axis : part.axes) order.push_back(int(std::find(sorted.begin(), sorted.end(), axis) - sorted.begin()));
  return layout::normalized(layout::transpose(*result, order));
}

void go_through_memory(Kernel& kernel, RegionId region, OpId id) {
  const op::Extract* extract = kernel.op(id).get<op::Extract>();
  const op::Insert insert = extract ? op::Insert{extract->tile, {}, extract->offsets, extract->axes} : kernel.op(id).as<op::Insert>();
  const Type tile = kernel.type(insert.tile);
  ValueId memory;
  std::vector<ValueId> zeros;
  Axes all(tile.shape.size());
  std::iota(all.begin(), all.end(), 0);
  BoundsList inside(tile.shape.size(), Bounds::Inside);
  insert_before(kernel, region, id, [&](Builder& b) {
    zeros.assign(tile.shape.size(), b.index(0));
    memory = b.value(op::Alloc{{}, "part"}, buffer_type(Space::Shared, tile.element, tile.shape), "part");
    b.add(op::Store{insert.tile, memory, zeros, all, inside, {}});
    if (insert.part.valid()) b.add(op::Store{insert.part, memory, insert.offsets, insert.axes, inside, {}});
  });
  Number pad = is_float(tile.element) ? Number::real(0) : Number::integer(0);
  kernel.op(id).data = insert.part.valid() ? op::Load{memory, zeros, all, pad, inside, {}}
                                           : op::Load{memory, insert.offsets, insert.axes, pad, inside, {}};
}

}  // namespace tilec::passes
