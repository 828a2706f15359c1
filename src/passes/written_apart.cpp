#include "passes/written_apart.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "ir/late_store.h"
#include "ir/overlap.h"
#include "ir/own_rows.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Does the number grow by `extent` or more with each turn of the loop?
bool steps_by(const Kernel& kernel, ValueId offset, ValueId index, int64_t extent) {
  const op::Binary* product = kernel.defined_by<op::Binary>(offset);
  if (!product || product->fn != BinaryFn::Mul) return false;
  auto factor = kernel.constant(product->a == index ? product->b : product->a);
  return (product->a == index || product->b == index) && factor && factor->i >= extent;
}

// A number as another one, or none, and a constant that is added.
struct Sum {
  ValueId of;
  int64_t constant = 0;
};

Sum sum_of(const Kernel& kernel, ValueId v) {
  Sum sum{v};
  for (const op::Binary* add = kernel.defined_by<op::Binary>(v); add && add->fn == BinaryFn::Add; add = kernel.defined_by<op::Binary>(sum.of)) {
    auto constant = kernel.constant(add->b);
    if (!constant) break;
    sum = {add->a, sum.constant + constant->i};
  }
  auto alone = kernel.constant(sum.of);
  return alone ? Sum{{}, sum.constant + alone->i} : sum;
}

// What an operation writes of a tensor.
struct Written {
  std::vector<ValueId> offsets;
  Axes axes;
  Ints shape;
  std::vector<OpId> loops;  // around it
};

class WrittenApart {
 public:
  explicit WrittenApart(const Kernel& kernel) : kernel_(kernel) {}

  std::set<ValueId> in(RegionId body) {
    walk(body, {});
    std::set<ValueId> apart;
    for (const auto& [buffer, written] : touched_) {
      bool meets_none = std::ranges::none_of(touched_, [&](const auto& other) { return other.first != buffer && may_overlap(kernel_, other.first, buffer); });
      if (kernel_.param_of(buffer) && meets_none && are_apart(written)) apart.insert(buffer);
    }
    return apart;
  }

 private:
  void walk(RegionId region, const std::vector<OpId>& loops) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      std::set<ValueId> own;
      for (const MemoryTouch& touch : op.is<op::Map>() || op.is<op::Simt>() || !has_regions(op) ? touches_of(kernel_, id) : std::vector<MemoryTouch>{}) own.insert(touch.buffer);
      const op::Store* store = op.get<op::Store>();
      const op::Copy* sent = op.get<op::Copy>();
      if ((store && store->label == kLateStore) || (sent && sent->label == kLateStore)) continue;
      for (ValueId buffer : own) touched_[buffer].push_back(written(op, buffer, loops));
      if (op.is<op::Map>() || op.is<op::Simt>()) continue;
      std::vector<OpId> inner = loops;
      if (op.is<op::For>() || op.is<op::While>()) inner.push_back(id);
      each_region(op.data, [&](RegionId r) { walk(r, inner); });
    }
  }

  static bool has_regions(const Op& op) {
    bool found = false;
    each_region(op.data, [&](RegionId) { found = true; });
    return found;
  }

  // None: it does something else with the tensor than store a tile there, by the warps that hold it.
  std::optional<Written> written(const Op& op, ValueId buffer, const std::vector<OpId>& loops) const {
    const op::Store* store = op.get<op::Store>();
    if (store && !store->adds && store->buffer == buffer) return Written{store->offsets, store->axes, kernel_.type(store->tile).shape, loops};
    const op::Copy* sent = op.get<op::Copy>();
    if (sent && !sent->adds && sent->dst == buffer && rows_of_own(kernel_, sent->src)) return Written{sent->dst_offsets, sent->dst_axes, sent->shape, loops};
    return std::nullopt;
  }

  bool are_apart(const std::vector<std::optional<Written>>& all) const {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!all[i] || !goes_on(*all[i])) return false;
      for (size_t k = 0; k < i; ++k)
        if (!is_beside(*all[i], *all[k])) return false;
    }
    return true;
  }

  // Pieces of one region, in one turn.
  bool is_beside(const Written& a, const Written& b) const {
    if (a.loops != b.loops || a.axes != b.axes || a.shape != b.shape) return false;
    bool ok = false;
    for (size_t axis = 0; axis < a.offsets.size(); ++axis) {
      const Sum x = sum_of(kernel_, a.offsets[axis]), y = sum_of(kernel_, b.offsets[axis]);
      if (x.of != y.of) return false;
      auto tiled = std::ranges::find(a.axes, int64_t(axis));
      ok |= std::abs(x.constant - y.constant) >= (tiled == a.axes.end() ? 1 : a.shape[size_t(tiled - a.axes.begin())]);
    }
    return ok;
  }

  // Is the region another one in each turn?
  bool goes_on(const Written& place) const {
    return std::ranges::all_of(place.loops, [&](OpId id) {
      const op::For* loop = kernel_.op(id).get<op::For>();
      if (!loop) return false;
      // What other blocks store is apart, and so is what one stores that takes their place.
      if (kernel_.defined_by<op::GridBlocks>(loop->step)) return true;
      ValueId index = kernel_.region(loop->body).args[0];
      for (size_t axis = 0; axis < place.axes.size(); ++axis)
        if (steps_by(kernel_, place.offsets[size_t(place.axes[axis])], index, place.shape[axis])) return true;
      return false;
    });
  }

  const Kernel& kernel_;
  std::map<ValueId, std::vector<std::optional<Written>>> touched_;
};

}  // namespace

std::set<ValueId> written_apart_in(const Kernel& kernel, RegionId body) { return WrittenApart(kernel).in(body); }

}  // namespace tilec::passes
