// Innermost loops first. What a loop is split by, and whether that pays, split_plan.h says; here the parts are made.
//
//   for i in low..high { if i < n {a} else {b} }    ->    middle = min(n, high)
//                                                         for i in low..middle { a }
//                                                         for i in max(low, middle)..high { b }
#include "passes/split_loops.h"

#include <set>

#include "diag/diag.h"
#include "ir/divergence.h"
#include "passes/cleanup.h"
#include "passes/clone.h"
#include "passes/decide.h"
#include "passes/rewrite.h"
#include "passes/split_plan.h"

namespace tilec::passes {

using namespace ir;

namespace {

// All threads of a block come to these together.
bool meets_others(const Op& op) {
  switch (op.kind()) {
    case OpKind::BlockBarrier: case OpKind::NamedBarrier: case OpKind::BarrierVote: case OpKind::WarpBarrier: case OpKind::ClusterBarrier: case OpKind::GroupFence: case OpKind::GroupProduct: case OpKind::GroupCommit:
    case OpKind::GroupWait:
      return true;
    default: return false;
  }
}

class Splitter {
 public:
  Splitter(Kernel& kernel, Diagnostics& diagnostics) : kernel_(kernel), diagnostics_(diagnostics) {}

  void run() {
    for (OpId id : std::vector<OpId>(kernel_.region(kernel_.body).ops))
      if (const auto* launch = kernel_.op(id).get<op::Launch>()) {
        launch_ = launch->body;
        walk(launch->body);
      }
  }

 private:
  Kernel& kernel_;
  Diagnostics& diagnostics_;
  RegionId launch_;
  std::vector<OpId> around_;  // the loops around the place where the walk stands
  mutable std::set<ValueId> assumed_;  // what `while` loops carry, of which the question is asked

  void walk(RegionId region) {
    for (OpId id : std::vector<OpId>(kernel_.region(region).ops)) {
      std::vector<RegionId> inner;
      each_region(kernel_.op(id).data, [&](RegionId r) { inner.push_back(r); });
      bool is_loop = kernel_.op(id).is<op::For>(), is_while = kernel_.op(id).is<op::While>();
      if (is_loop || is_while) around_.push_back(id);
      for (RegionId r : inner) walk(r);
      if (is_loop || is_while) around_.pop_back();
      if (!is_loop) continue;
      std::optional<SplitPlan> plan = plan_split(kernel_, id);
      if (plan && keeps_barriers_uniform(id, *plan)) split(region, id, *plan);
    }
  }

  bool keeps_barriers_uniform(OpId loop, const SplitPlan& plan) const {
    bool meets = false;
    each_op(kernel_, kernel_.op(loop).as<op::For>().body, [&](OpId id) { meets |= meets_others(kernel_.op(id)); });
    return !meets || std::ranges::all_of(plan.premises, [&](const Premise& p) {
      std::vector<ValueId> all = p.turn ? sources(*p.turn) : std::vector{p.condition};
      return std::ranges::all_of(all, [&](ValueId v) { return is_same_in_block(v); });
    });
  }

  // The same in all threads of the block, as far as operands tell.
  bool is_same_in_block(ValueId v) const {
    const Value& value = kernel_.value(v);
    if (!value.op.valid()) {
      if (value.region == kernel_.body || value.region == launch_) return true;
      auto is_around = [&](OpId id) {
        bool found = false;
        each_region(kernel_.op(id).data, [&](RegionId r) { found |= r == value.region; });
        return found;
      };
      auto loop = std::ranges::find_if(around_, is_around);
      if (loop == around_.end()) return false;
      if (const op::While* carrying = kernel_.op(*loop).get<op::While>()) return is_carried_alike(*carrying, value.region, v);
      if (kernel_.region(value.region).args[0] != v) return false;
      const auto& bounds = kernel_.op(*loop).as<op::For>();
      return is_same_in_block(bounds.low) && is_same_in_block(bounds.high) && is_same_in_block(bounds.step);
    }
    const Op& op = kernel_.op(value.op);
    if (op.is<op::TakeBlock>() || op.is<op::ReadBlock>()) return true;
    if (table(op.kind()) != OpTable::Scalar || kernel_.type(v).varying) return false;
    bool is_same = !differs_by_thread(op.kind()) && !op.is<op::ElementLoad>();
    each_operand(op.data, [&](ValueId operand) { is_same = is_same && is_same_in_block(operand); });
    return is_same;
  }

  // What the loop carries is, if it begins so and each round hands on such, as long as it is so itself; and rounds end alike.
  bool is_carried_alike(const op::While& loop, RegionId region, ValueId v) const {
    if (!assumed_.insert(v).second) return true;
    const std::vector<ValueId>& args = kernel_.region(region).args;
    const auto& tested = kernel_.terminator(loop.condition).as<op::Yield>().values;
    const auto& handed = kernel_.terminator(loop.body).as<op::Yield>().values;
    size_t at = size_t(std::ranges::find(args, v) - args.begin());
    bool is_same = region == loop.body ? is_same_in_block(tested[0]) && is_same_in_block(tested[at + 1])
                                       : is_same_in_block(loop.inits[at]) && is_same_in_block(handed[at]);
    assumed_.erase(v);
    return is_same;
  }

  // Where the main part begins and ends; each iteration lies in one part.
  struct Ends {
    ValueId begin, end;
  };

  Ends ends_of(Builder& b, const op::For& loop, const SplitPlan& plan) {
    ValueId begin, end, holds;
    auto join = [&](ValueId& all, ValueId one, BinaryFn fn) { all = all.valid() ? b.binary(fn, all, one) : one; };
    for (const Premise& p : plan.premises) {
      if (!p.turn) join(holds, p.says ? p.condition : b.logical_not(p.condition), BinaryFn::And);
      else if (p.is_late) join(begin, turning_point(b, *p.turn), BinaryFn::Max);
      else join(end, turning_point(b, *p.turn), BinaryFn::Min);
    }
    if (holds.valid() && end.valid()) end = b.select(holds, end, b.index(INT64_MIN));
    else if (holds.valid()) begin = b.select(holds, begin, b.index(INT64_MAX));
    begin = begin.valid() ? within(b, loop, loop.low, begin) : loop.low;
    end = end.valid() ? within(b, loop, begin, end) : loop.high;
    return {begin, end};
  }

  // The first index of the loop that is not below `point`, from `least` (an index of it) to the high end.
  ValueId within(Builder& b, const op::For& loop, ValueId least, ValueId point) {
    ValueId bounded = b.binary(BinaryFn::Max, b.binary(BinaryFn::Min, point, loop.high), least);
    int64_t step = kernel_.constant(loop.step)->i;
    if (step == 1) return bounded;
    // Behind a low end that is not negative no difference leaves 64 bits; what would pass the high end stops there.
    ValueId most = b.binary(BinaryFn::Max, loop.high, least), past = b.binary(BinaryFn::Rem, b.sub(bounded, least), loop.step);
    ValueId missing = b.binary(BinaryFn::Rem, b.sub(loop.step, past), loop.step);
    return b.add(bounded, b.binary(BinaryFn::Min, missing, b.sub(most, bounded)));
  }

  Substitution constants(Builder& b, const Decided& decided) {
    Substitution out;
    for (auto [value, says] : decided) out.emplace(value, b.boolean(says));
    return out;
  }

  // A copy of the loop from `low` to `high`, behind what carries `inits`; gives what it carries on.
  std::vector<ValueId> add_part(Builder& b, OpId original, ValueId low, ValueId high, std::vector<ValueId> inits, const Decided& decided) {
    auto first = kernel_.constant(low), end = kernel_.constant(high);
    if (first && end && first->i >= end->i) return inits;
    op::For part = kernel_.op(original).as<op::For>();
    std::vector<Type> types;
    for (ValueId v : inits) types.push_back(kernel_.type(v));
    part.low = low, part.high = high, part.inits = std::move(inits);
    part.body = clone_region(kernel_, part.body, constants(b, decided));
    decide(kernel_, part.body);
    return kernel_.op(b.add(std::move(part), types)).results;
  }

  void split(RegionId region, OpId id, const SplitPlan& plan) {
    report(id, plan);
    insert_before(kernel_, region, id, [&](Builder& b) {
      const op::For loop = kernel_.op(id).as<op::For>();
      auto [begin, end] = ends_of(b, loop, plan);
      std::vector<ValueId> carried = loop.inits;
      if (plan.has_before) carried = add_part(b, id, loop.low, begin, std::move(carried), plan.before);
      if (plan.has_after) carried = add_part(b, id, begin, end, std::move(carried), plan.main);
      const Decided& last = plan.has_after ? plan.after : plan.main;
      for (auto [value, constant] : constants(b, last)) replace_uses(kernel_, loop.body, {value}, constant);
      auto& rest = kernel_.op(id).as<op::For>();
      rest.low = plan.has_after ? end : begin;
      rest.inits = std::move(carried);
    });
    decide(kernel_, kernel_.op(id).as<op::For>().body);
  }

  void report(OpId id, const SplitPlan& plan) {
    std::string_view part = plan.has_before && plan.has_after ? "middle" : plan.has_before ? "later" : "first";
    Report remark = diagnostics_.at(kernel_.op(id).span).remark(diag::LoopSplit, part);
    for (OpId test : plan.tests) remark.mark(kernel_.op(test).span, "not tested there");
  }
};

bool has_candidates(const Kernel& kernel) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const auto* loop = kernel.op(id).get<op::For>())
      each_op(kernel, loop->body, [&](OpId inner) { found |= kernel.op(inner).is<op::If>(); });
  });
  return found;
}

}  // namespace

void split_loops(Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  if (!has_candidates(kernel)) return;
  merge_equal_scalars(kernel);  // conditions that are one are then one value, in front of the loops that do not change them
  Splitter(kernel, diagnostics).run();
}

}  // namespace tilec::passes
