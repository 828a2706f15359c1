#include "passes/forth_and_back.h"

#include <algorithm>
#include <bit>
#include <set>

#include "passes/block_axes.h"
#include "passes/boxes.h"
#include "passes/effects.h"
#include "passes/fills.h"
#include "passes/rewrite.h"
#include "passes/uses.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What a pipelined loop does in a turn.
class Turn {
 public:
  Turn(const Kernel& kernel, RegionId launch, const op::For& loop)
      : kernel_(kernel), ops_(kernel.region(loop.body).ops), args_(kernel.region(loop.body).args), fills_(Fills(kernel, launch, loop.body, args_[0]).find()) {}

  // Tiles that are the turn's own come from parameters, and products of these add to tiles that nothing else asks for.
  bool only_adds_up() const {
    return args_.size() > 1 && index_says_what_is_copied() && std::ranges::all_of(ops_, [&](OpId id) { return has_place(id); }) && only_sums_are_carried();
  }

  bool is_filled_by_engine(const Machine& machine) const {
    return std::ranges::all_of(fills_, [&](const Fill& fill) { return why_no_box(kernel_, kernel_.op(fill.op).as<op::Copy>(), machine).empty(); });
  }

  // Does a copy read what another block of the launch reads, too?
  bool reads_again(const BlockAxes& axes, size_t count) const {
    return std::ranges::any_of(fills_, [&](const Fill& fill) { return std::popcount(axes.of(kernel_.op(fill.op).as<op::Copy>().src_offsets)) < int(count); });
  }

 private:
  bool index_says_what_is_copied() const {
    std::vector<ValueId> made{args_[0]};
    for (OpId id : ops_) {
      const Op& op = kernel_.op(id);
      bool asks = std::ranges::any_of(made, [&](ValueId v) { return uses(kernel_, id, v); });
      if (asks && is_pure(op)) made.push_back(op.result());
      else if (asks && !op.is<op::Copy>()) return false;
    }
    return true;
  }

  bool has_place(OpId id) const {
    const Op& op = kernel_.op(id);
    if (op.is<op::Copy>()) return std::ranges::find(fills_, id, &Fill::op) != fills_.end();
    return is_pure(op) || !(op.is<op::For>() || op.is<op::If>() || has_effect(kernel_, op));
  }

  // Each carried tile, and what becomes of it, is asked for once: by a product that adds to it, or by the next turn. There is no other product.
  bool only_sums_are_carried() const {
    std::set<OpId> products;
    for (OpId id : ops_)
      if (kernel_.op(id).is<op::Gemm>()) products.insert(id);
    const std::vector<ValueId>& handed_on = kernel_.op(ops_.back()).as<op::Yield>().values;
    for (size_t k = 0; k < handed_on.size(); ++k) {
      ValueId sum = args_[k + 1];
      while (products.erase(only_user(sum)) && is_only_added_to(only_user(sum), sum)) sum = kernel_.op(only_user(sum)).result();
      if (sum == args_[k + 1] || sum != handed_on[k] || only_user(sum) != ops_.back()) return false;
    }
    return products.empty();
  }

  bool is_only_added_to(OpId product, ValueId sum) const {
    const op::Gemm& gemm = kernel_.op(product).as<op::Gemm>();
    return gemm.acc == sum && gemm.a != sum && gemm.b != sum;
  }

  OpId only_user(ValueId v) const {
    OpId found;
    for (OpId id : ops_) {
      if (!uses(kernel_, id, v)) continue;
      if (found.valid()) return {};
      found = id;
    }
    return found;
  }

  const Kernel& kernel_;
  const std::vector<OpId>& ops_;
  const std::vector<ValueId>& args_;
  const std::vector<Fill> fills_;
};

// Of the round alone: in a loop between, what a round has read last would not be what it has read first.
std::vector<OpId> find_loops(const Kernel& kernel, const Machine& machine, OpId launch, RegionId round) {
  BlockAxes axes(kernel, kernel.op(launch).as<op::Launch>());
  const RegionId body = kernel.op(launch).as<op::Launch>().body;
  std::vector<OpId> found;
  for (OpId id : kernel.region(round).ops) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (!loop || loop->loop != LoopKind::Pipelined) continue;
    Turn turn(kernel, body, *loop);
    if (turn.only_adds_up() && turn.is_filled_by_engine(machine) && turn.reads_again(axes, kernel.op(launch).as<op::Launch>().extents.size())) found.push_back(id);
  }
  return found;
}

void turn_about(Kernel& kernel, RegionId round, OpId id, ValueId back) {
  const op::For loop = kernel.op(id).as<op::For>();
  const ValueId index = kernel.region(loop.body).args[0];
  const std::vector<OpId> turn = kernel.region(loop.body).ops;
  ValueId last, turned;
  insert_before(kernel, round, id, [&](Builder& b) {
    last = b.add(loop.low, b.mul(b.binary(BinaryFn::Div, b.sub(b.sub(loop.high, loop.low), b.index(1)), loop.step), loop.step));
  });
  insert_before(kernel, loop.body, turn.front(), [&](Builder& b) { turned = b.select(back, b.add(loop.low, b.sub(last, index)), index); });
  for (OpId inner : turn) each_operand(kernel.op(inner).data, [&](ValueId& used) { used = used == index ? turned : used; });
}

}  // namespace

void go_forth_and_back(Kernel& kernel, const Machine& machine, OpId launch, OpId rounds) {
  const RegionId region = kernel.op(launch).as<op::Launch>().body, round = kernel.op(rounds).as<op::For>().body;
  const std::vector<OpId> loops = find_loops(kernel, machine, launch, round);
  if (loops.empty()) return;
  ValueId first;
  insert_before(kernel, region, rounds, [&](Builder& b) { first = b.boolean(false); });
  kernel.op(rounds).as<op::For>().inits.push_back(first);
  add_result(kernel, rounds, scalar_type(Scalar::Bool));
  ValueId back = kernel.new_arg(round, scalar_type(Scalar::Bool), "back"), next;
  for (OpId loop : loops) turn_about(kernel, round, loop, back);
  OpId end = kernel.region(round).ops.back();
  insert_before(kernel, round, end, [&](Builder& b) { next = b.logical_not(back); });
  kernel.op(end).as<op::Yield>().values.push_back(next);
}

}  // namespace tilec::passes
