// In a loop over tiles, a mask of places (a causal one, an edge) cuts few tiles; the others are worked out once more, without it:
//
//   t = map(s) { if k + c > q + r {-inf} else {s} }    ->    t = if k + 127 <= q { s } else { map(s) {...} }
//
// The side that a mask has most tiles on is the one with more work: the other is a number that every element shares.
#include "passes/skip_masks.h"

#include <map>

#include "passes/cleanup.h"
#include "passes/clone.h"
#include "passes/corners.h"
#include "passes/decide.h"
#include "passes/effects.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What a condition is hoped to say.
using Hopes = std::map<ValueId, bool>;

class Skipper {
 public:
  explicit Skipper(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    each_op(kernel_, kernel_.body, [&](OpId loop) {
      if (!kernel_.op(loop).is<op::For>() && !kernel_.op(loop).is<op::While>()) return;
      each_region(kernel_.op(loop).data, [&](RegionId body) {
        each_op(kernel_, body, [&](OpId id) {
          if (kernel_.op(id).is<op::Map>() && !has_effect(kernel_, kernel_.op(id))) repeated_.insert(id);
        });
      });
    });
    each_op_in_region(kernel_, kernel_.body, [&](RegionId region, OpId id) {
      if (repeated_.contains(id)) skip(region, id);
    });
    if (has_asked_) drop_dead_code(kernel_);
  }

 private:
  Kernel& kernel_;
  std::set<OpId> repeated_;  // maps of loops
  bool has_asked_ = false;

  const op::Map& map(OpId id) const { return kernel_.op(id).as<op::Map>(); }
  const std::vector<ValueId>& yielded(RegionId r) const { return kernel_.terminator(r).as<op::Yield>().values; }

  void skip(RegionId region, OpId id) {
    Corners corners(kernel_, map(id));
    Hopes hopes = hopes_of(corners, id);
    if (hopes.empty()) return;
    has_asked_ = true;
    OpId branch;
    insert_before(kernel_, region, id, [&](Builder& b) {
      ValueId holds = b.boolean(true);
      Substitution known;
      for (auto [condition, says] : hopes)
        if (ValueId there = corners.holds(b, condition, says); there.valid()) {
          holds = b.logical_and(holds, there);
          known.emplace(condition.index, b.boolean(says));
        }
      if (!kernel_.constant(holds)) branch = add_branch(b, id, holds, std::move(known));
    });
    if (branch.valid()) put_into_else(region, id, branch);
  }

  Hopes hopes_of(const Corners& corners, OpId id) const {
    Hopes hopes;
    each_op(kernel_, map(id).body, [&](OpId inner) {
      ValueId condition;
      std::optional<bool> says;
      if (const auto* o = kernel_.op(inner).get<op::Select>()) condition = o->condition, says = hope(corners, *o);
      if (const auto* o = kernel_.op(inner).get<op::If>()) condition = o->condition, says = hope(corners, *o);
      if (says && corners.depends_on_place(condition)) hopes.try_emplace(condition, *says);
    });
    return hopes;
  }

  bool is_idle(const Corners& corners, ValueId v) const { return corners.is_outside(v) || kernel_.constant(v); }

  std::optional<bool> hope(const Corners& corners, const op::Select& o) const {
    bool is_first = !is_idle(corners, o.a), is_second = !is_idle(corners, o.b);
    return is_first == is_second ? std::nullopt : std::optional(is_first);
  }

  // Of what is a condition itself nothing is hoped.
  std::optional<bool> hope(const Corners& corners, const op::If& o) const {
    if (!o.else_body.valid() || yielded(o.then_body).empty()) return std::nullopt;
    for (ValueId v : yielded(o.then_body))
      if (kernel_.type(v).element == Scalar::Bool) return std::nullopt;
    int64_t then_work = work(corners, o.then_body), else_work = work(corners, o.else_body);
    return then_work == else_work ? std::nullopt : std::optional(then_work > else_work);
  }

  int64_t work(const Corners& corners, RegionId side) const {
    int64_t operations = 0;
    each_op(kernel_, side, [&](OpId id) { operations += !kernel_.op(id).is<op::Constant>() && !kernel_.op(id).is<op::Yield>(); });
    for (ValueId v : yielded(side)) operations += !is_idle(corners, v);
    return operations;
  }

  // The else side is filled when the results of the map have found their readers.
  OpId add_branch(Builder& b, OpId id, ValueId holds, Substitution known) {
    std::vector<Type> types;
    for (ValueId v : kernel_.op(id).results) types.push_back(kernel_.type(v));
    RegionId outer = b.region(), taken = kernel_.new_region(), other = kernel_.new_region();
    op::Map decided = map(id);
    decided.body = clone_region(kernel_, decided.body, std::move(known));
    decide(kernel_, decided.body);
    b.set_region(taken);
    auto same = inputs_yielded(decided, types);
    b.yield(same ? *same : std::vector<ValueId>(kernel_.op(b.add(decided, types)).results));
    b.set_region(outer);
    return b.add(op::If{holds, taken, other}, types);
  }

  // The inputs that a map yields as they are, if it does nothing else.
  std::optional<std::vector<ValueId>> inputs_yielded(const op::Map& m, std::span<const Type> types) const {
    const std::vector<ValueId>& args = kernel_.region(m.body).args;
    std::vector<ValueId> inputs;
    for (ValueId v : yielded(m.body)) {
      size_t at = size_t(std::ranges::find(args, v) - args.begin()), rank = m.shape.size();
      if (at == args.size() || at < rank) return std::nullopt;
      const Axes& axes = m.input_axes[at - rank];
      bool is_own = axes.size() == rank && kernel_.type(m.inputs[at - rank]) == types[inputs.size()];
      for (size_t axis = 0; is_own && axis < rank; ++axis) is_own = axes[axis] == int64_t(axis);
      if (!is_own) return std::nullopt;
      inputs.push_back(m.inputs[at - rank]);
    }
    return inputs;
  }

  void put_into_else(RegionId region, OpId id, OpId branch) {
    const std::vector<ValueId> from = kernel_.op(id).results, to = kernel_.op(branch).results;
    for (size_t k = 0; k < from.size(); ++k) {
      replace_uses(kernel_, kernel_.body, from[k], to[k]);
      kernel_.value(to[k]).hint = std::string(kernel_.value(from[k]).hint);
    }
    RegionId other = kernel_.op(branch).as<op::If>().else_body;
    std::erase(kernel_.region(region).ops, id);
    kernel_.region(other).ops.push_back(id);
    Builder b(kernel_, other);
    b.set_span(kernel_.op(id).span);
    b.yield(from);
    for (LayoutNote& note : kernel_.layout_notes)
      if (auto result = std::ranges::find(from, note.value); result != from.end()) note.value = to[size_t(result - from.begin())];
  }
};

}  // namespace

void skip_masks(Kernel& kernel, const Machine& machine, Diagnostics&) {
  INVARIANT(kernel.form == Form::Placed, "the sides of a mask give tiles of one layout");
  if (machine.has(Cap::DivergentBranches)) Skipper(kernel).run();
}

}  // namespace tilec::passes
