#include "passes/tile_votes.h"

#include <algorithm>
#include <numeric>

#include "passes/cleanup.h"
#include "passes/clone.h"
#include "passes/rewrite.h"
#include "passes/within_lanes.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Through conversions, which change no element.
ValueId origin(const Kernel& kernel, ValueId v) {
  while (const op::ConvertLayout* convert = kernel.defined_by<op::ConvertLayout>(v)) v = convert->x;
  return v;
}

bool depends(const Kernel& kernel, ValueId v, ValueId on) {
  bool found = v == on;
  if (const Op* op = kernel.definition(v)) each_operand(op->data, [&](ValueId used) { found = found || depends(kernel, used, on); });
  return found;
}

// Does the map put what decides nothing in some places of one tile, and leave the others?
bool is_mask(const Kernel& kernel, const op::Map& map, ReduceFn fn) {
  if (map.inputs.size() != 1 || map.input_axes[0].size() != map.shape.size()) return false;
  const ValueId element = kernel.region(map.body).args.back();
  const auto& yielded = kernel.terminator(map.body).as<op::Yield>().values;
  const op::Select* chosen = yielded.size() == 1 ? kernel.defined_by<op::Select>(yielded[0]) : nullptr;
  auto number = chosen ? kernel.constant(chosen->a) : std::nullopt;
  return number && number->i == identity(fn, Scalar::Bool).i && chosen->b == element && !depends(kernel, chosen->condition, element);
}

// A chain of reductions by one function, with masks between.
struct Question {
  Kernel& kernel;
  Builder& b;
  ReduceFn fn;

  // A tile in whose place is asked about all elements of another one: which of its axes are that one's.
  struct Stand {
    ValueId tile;
    Axes axes;
  };

  Stand stand_in(ValueId v, bool is_masked) {
    v = origin(kernel, v);
    if (auto* reduce = kernel.defined_by<op::Reduce>(v); reduce && reduce->fn == fn) {
      const auto axis = size_t(reduce->axis);
      Stand x = stand_in(reduce->x, is_masked);
      // Behind a mask there is one element to choose for all that a lane has along the axis.
      if (is_masked) x.tile = reduced_within_lanes(b, fn, x.tile, x.axes[axis]).value_or(x.tile);
      x.axes.erase(x.axes.begin() + int64_t(axis));
      return x;
    }
    Axes all(kernel.type(v).shape.size());
    std::iota(all.begin(), all.end(), 0);
    auto* map = kernel.defined_by<op::Map>(v);
    if (!map || !is_mask(kernel, *map, fn)) return {v, all};
    const op::Map mask = *map;
    Stand x = stand_in(mask.inputs[0], true);
    if (x.axes.size() == kernel.type(x.tile).shape.size()) return {v, all};
    return {masked(mask, x), x.axes};
  }

  ValueId masked(const op::Map& mask, const Stand& x) {
    const Type type = kernel.type(x.tile);
    op::Map map{.inputs = {x.tile}, .input_axes = {Axes(type.shape.size())}, .shape = type.shape, .body = clone_region(kernel, mask.body)};
    std::iota(map.input_axes[0].begin(), map.input_axes[0].end(), 0);
    const std::vector<ValueId> before = kernel.region(map.body).args;
    std::vector<ValueId> args;
    for (int64_t axis = 0; axis < int64_t(type.shape.size()); ++axis) {
      auto at = std::ranges::find(x.axes, axis);
      args.push_back(at != x.axes.end() ? before[size_t(at - x.axes.begin())] : kernel.new_arg(map.body, scalar_type(Scalar::Index)));
    }
    args.push_back(before.back());
    kernel.region(map.body).args = std::move(args);
    return b.value(std::move(map), type);
  }
};

}  // namespace

void tile_votes(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.has(Cap::VotingBarriers)) return;
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    const op::Reduce* reduce = kernel.op(id).get<op::Reduce>();
    bool is_vote = reduce && (reduce->fn == ReduceFn::Any || reduce->fn == ReduceFn::All) && kernel.type(kernel.op(id).result()).is_scalar();
    if (!is_vote) return;
    const ReduceFn fn = reduce->fn;
    const ValueId x = kernel.op(id).result();
    ValueId tile;
    insert_before(kernel, region, id, [&](Builder& b) { tile = Question{kernel, b, fn}.stand_in(x, false).tile; });
    kernel.op(id).data = op::VoteTile{fn == ReduceFn::Any ? VoteKind::Any : VoteKind::All, tile};
  });
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
