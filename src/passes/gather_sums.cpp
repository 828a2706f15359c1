// Maps that add to a region of device memory element by element, as tiles that are added to it.
//   in:  Typed
//   out: Typed; such maps give the tile that they added, and a store adds it; where they read it in a shared tile, a copy does
//
// A map adds to a region where each index of its one atomic is a coordinate of the map and a number that is the same for all, no two
// the same coordinate, and where it is done at every point, but for points beyond an edge of the tensor.
#include <algorithm>
#include <numeric>

#include "passes/cleanup.h"
#include "passes/effects.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Gatherer {
 public:
  Gatherer(Kernel& kernel, const std::vector<int>& uses, RegionId region, OpId id) : kernel_(kernel), uses_(uses), region_(region), id_(id) {}

  void run() {
    if (!kernel_.op(id_).results.empty() || !read_body(map().body) || !atomic_ || !is_region() || !are_edges()) return;
    if (shared_.valid() && (atomic_->operands[0] != element_ || kernel_.type(shared_).element != kernel_.type(atomic_->buffer).element)) return;
    rewrite();
  }

 private:
  const op::Map& map() const { return kernel_.op(id_).as<op::Map>(); }

  // Pure operations and one addition, perhaps under conditions.
  bool read_body(RegionId region) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      if (const op::If* branch = op.get<op::If>()) {
        if (!op.results.empty() || !holds_nothing(branch->else_body)) return false;
        conditions_.push_back(branch->condition);
        if (!read_body(branch->then_body)) return false;
        conditions_.push_back({});  // what follows is not under it
        continue;
      }
      if (const op::Atomic* atomic = op.get<op::Atomic>()) {
        if (atomic_ || atomic->fn != AtomicFn::Add || atomic->order != MemoryOrder::Relaxed) return false;
        if (!op.results.empty() && uses_[op.result().index]) return false;
        atomic_ = *atomic, under_ = conditions_;
        continue;
      }
      if (op.is<op::Yield>()) continue;
      if (const op::ElementLoad* load = op.get<op::ElementLoad>()) {
        if (shared_.valid() || !is_own_element(*load)) return false;
        shared_ = load->buffer, element_ = op.result();
        continue;
      }
      if (!may_be_hoisted(kernel_, op) || is_guarded(op)) return false;
      inside_.push_back(id);
    }
    return true;
  }
  bool holds_nothing(RegionId region) const { return !region.valid() || kernel_.region(region).ops.size() == 1; }

  // At each point the element of a shared tile that lies there.
  bool is_own_element(const op::ElementLoad& load) const {
    const Type& tile = kernel_.type(load.buffer);
    const std::vector<ValueId>& args = kernel_.region(map().body).args;
    return tile.space == Space::Shared && tile.shape == map().shape && load.bounds == Bounds::Inside &&
           std::equal(load.indices.begin(), load.indices.end(), args.begin(), args.begin() + int64_t(tile.shape.size()));
  }

  // The map's axis that an index steps with, and what is added to it.
  struct Step {
    int64_t axis = -1;
    ValueId offset;
  };
  bool is_inside(ValueId v) const {
    const std::vector<ValueId>& args = kernel_.region(map().body).args;
    if (std::ranges::find(args, v) != args.end() || v == element_) return true;
    return std::ranges::any_of(inside_, [&](OpId id) { return std::ranges::find(kernel_.op(id).results, v) != kernel_.op(id).results.end(); });
  }
  // The same for all points, though it may be worked out at each.
  bool is_uniform(ValueId v) const {
    if (!is_inside(v)) return true;
    const Op* op = kernel_.definition(v);
    bool holds = op != nullptr;
    if (op) each_operand(op->data, [&](ValueId used) { holds = holds && is_uniform(used); });
    return holds;
  }
  ValueId hoisted(Builder& b, ValueId v) {
    if (!is_inside(v)) return v;
    OpData data = kernel_.definition(v)->data;
    const Type type = kernel_.type(v);
    each_operand(data, [&](ValueId& used) { used = hoisted(b, used); });
    return b.value(std::move(data), type);
  }
  std::optional<Step> step_of(ValueId index) const {
    if (is_uniform(index)) return Step{-1, index};
    const std::vector<ValueId>& args = kernel_.region(map().body).args;
    for (size_t axis = 0; axis < map().shape.size(); ++axis)
      if (args[axis] == index) return Step{int64_t(axis), {}};
    const op::Binary* sum = kernel_.defined_by<op::Binary>(index);
    if (!sum || sum->fn != BinaryFn::Add) return std::nullopt;
    auto a = step_of(sum->a), b = step_of(sum->b);
    if (!a || !b || (a->axis >= 0) == (b->axis >= 0)) return std::nullopt;
    if (a->axis < 0) std::swap(a, b);
    if (a->offset.valid()) return std::nullopt;
    return Step{a->axis, b->offset};
  }

  bool is_region() {
    const Space space = kernel_.type(atomic_->buffer).space;
    if (space != Space::Global && space != Space::Workspace) return false;
    if (atomic_->bounds != Bounds::Inside) return false;
    axes_.assign(map().shape.size(), -1);
    for (size_t d = 0; d < atomic_->indices.size(); ++d) {
      auto step = step_of(atomic_->indices[d]);
      if (!step) return false;
      offsets_.push_back(step->offset);
      if (step->axis < 0) continue;
      if (axes_[size_t(step->axis)] >= 0) return false;
      axes_[size_t(step->axis)] = int64_t(d);
    }
    return std::ranges::find(axes_, -1) == axes_.end();
  }

  // Each condition says that an index lies below its dimension's extent: the points where it does not are those beyond the edge.
  bool are_edges() {
    bounds_.assign(atomic_->indices.size(), Bounds::Inside);
    return std::ranges::all_of(under_, [&](ValueId v) { return v.valid() && is_edge(v); });
  }
  bool is_edge(ValueId condition) {
    if (const op::Binary* both = kernel_.defined_by<op::Binary>(condition); both && both->fn == BinaryFn::And) return is_edge(both->a) && is_edge(both->b);
    const op::Compare* test = kernel_.defined_by<op::Compare>(condition);
    if (!test || test->fn != CompareFn::Lt) return false;
    for (size_t d = 0; d < atomic_->indices.size(); ++d)
      if (test->a == atomic_->indices[d] && test->b == extent(d)) return bounds_[d] = Bounds::Guarded, true;
    return false;
  }
  ValueId extent(size_t d) const {
    if (const op::Alloc* memory = kernel_.defined_by<op::Alloc>(atomic_->buffer)) return extent_of_workspace(*memory, d);
    const Param* param = kernel_.param_of(atomic_->buffer);
    return param && d < param->extents.size() ? param->extents[d] : ValueId{};
  }

  // It states its dynamic extents alone, or every extent.
  ValueId extent_of_workspace(const op::Alloc& memory, size_t d) const {
    const Ints& shape = kernel_.type(atomic_->buffer).shape;
    if (memory.extents.size() == shape.size()) return memory.extents[d];
    if (shape[d] != kDynamic) return {};
    return memory.extents[size_t(std::count(shape.begin(), shape.begin() + ptrdiff_t(d), kDynamic))];
  }

  void rewrite() {
    insert_after(kernel_, region_, id_, [&](Builder& b) {
      for (ValueId& offset : offsets_)
        offset = offset.valid() ? hoisted(b, offset) : b.index(0);
      if (shared_.valid()) copy(b);
      else store(b);
    });
    std::erase(kernel_.region(region_).ops, id_);
  }

  void store(Builder& b) {
    RegionId body = map().body;
    std::vector<OpId>& ops = kernel_.region(body).ops;
    OpId yield = ops.back();
    ops = inside_;
    ops.push_back(yield);
    kernel_.op(yield).data = op::Yield{{atomic_->operands[0]}};
    ValueId tile = b.value(op::Map(map()), tile_type(kernel_.type(atomic_->buffer).element, map().shape));
    b.add(op::Store{tile, atomic_->buffer, offsets_, axes_, bounds_, true, {}});
  }

  void copy(Builder& b) {
    Axes own(axes_.size());
    std::iota(own.begin(), own.end(), 0);
    std::vector<ValueId> corner(own.size(), b.index(0));
    b.add(op::Copy{shared_, corner, own, BoundsList(own.size(), Bounds::Inside), atomic_->buffer, offsets_, axes_, bounds_, map().shape, {},
                   CopyClass::Unset, true, {}});
  }

  Kernel& kernel_;
  const std::vector<int>& uses_;
  RegionId region_;
  OpId id_;
  std::vector<OpId> inside_;  // the pure operations, in order
  std::optional<op::Atomic> atomic_;
  ValueId shared_, element_;  // the shared tile of which every point reads its element
  std::vector<ValueId> conditions_, under_;
  std::vector<ValueId> offsets_;
  Axes axes_;
  BoundsList bounds_;
};

}  // namespace

void gather_sums(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.adds.bytes) return;
  const std::vector<int> uses = use_counts(kernel);
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    if (kernel.op(id).is<op::Map>()) Gatherer(kernel, uses, region, id).run();
  });
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
