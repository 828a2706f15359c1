#include "passes/thread_turns.h"

#include <deque>

namespace tilec::passes {

using namespace ir;
using prove::Formula;
using prove::Linear;

namespace {

// A tree over 1024 threads has ten turns. Of a loop whose end is not known, the first few and any two neighbours are followed.
constexpr int64_t kMostTurns = 12, kFirstTurns = 3;
constexpr size_t kMostOpen = 256;   // what may meet the next operation; more is left to the interpreter
constexpr int kMostWalked = 20000;  // operations, those of every turn counted

using Open = std::vector<Passage>;

struct Walk {
  const Kernel& kernel;
  prove::Prover& prover;
  const op::Simt& simt;
  const Meet& meet;
  std::deque<Turn> turns = {};
  std::map<OpId, bool> barriers = {};
  int walked = 0;

  bool has_barrier(OpId id) {
    if (auto known = barriers.find(id); known != barriers.end()) return known->second;
    bool found = kernel.op(id).is<op::BlockBarrier>();
    each_region(kernel.op(id).data, [&](RegionId r) {
      for (OpId inner : kernel.region(r).ops) found = has_barrier(inner) || found;
    });
    return barriers[id] = found;
  }

  Turn& new_turn(const Turn* outer) {
    turns.push_back(outer ? *outer : Turn{});
    Turn& turn = turns.back();
    turn.one = prover.new_twin(simt.body);
    turn.other = prover.new_twin(simt.body);
    for (auto& [v, number] : turn.known) bind_both(turn, v, number);
    for (RegionId region : turn.entered) prover.enter(region, turn.one), prover.enter(region, turn.other);
    return turn;
  }
  void bind_both(const Turn& turn, ValueId v, const Linear& number) {
    prover.bind(v, turn.one, number);
    prover.bind(v, turn.other, number);
  }
  // What threads may differ in stays unknown, and so does what is no number.
  bool is_common(const Linear& number) const { return !number.is_lost && !prover.depends_on(number, simt.body); }
  void bind(Turn& turn, ValueId v, const Linear& number) {
    if (!is_common(number)) return;
    bind_both(turn, v, number);
    turn.known.push_back({v, number});
  }
  void bind(Turn& turn, std::span<const ValueId> values, const std::vector<Linear>& numbers) {
    for (size_t i = 0; i < values.size(); ++i) bind(turn, values[i], numbers[i]);
  }
  void name(Turn& turn, ValueId v, const Linear& number) {
    const std::string& hint = kernel.value(v).hint;
    if (!hint.empty() && kernel.type(v).element != Scalar::Bool && is_common(number)) turn.names.push_back({hint, number});
  }
  Linear read(const Turn& turn, ValueId v) {
    Linear nothing;
    nothing.is_lost = true;
    const Type& type = kernel.type(v);
    if (!type.is_scalar()) return nothing;
    if (is_integer(type.element)) return prover.value(v, turn.one);
    if (type.element != Scalar::Bool) return nothing;
    Formula condition = prover.condition(v, turn.one);
    return condition.is_true() ? Linear(1) : condition.is_false() ? Linear(0) : nothing;
  }
  std::vector<Linear> read(const Turn& turn, std::span<const ValueId> values) {
    std::vector<Linear> numbers;
    for (ValueId v : values) numbers.push_back(read(turn, v));
    return numbers;
  }

  static Open under(Open open, const Formula& condition) {
    if (condition.is_false()) return {};
    if (!condition.is_true())
      for (Passage& passage : open) passage.path.push_back(condition);
    return open;
  }
  static void join(Open& to, Open more) { to.insert(to.end(), more.begin(), more.end()); }

  // `open` is what ran since the last barrier; what comes back is so for what follows the region.
  Open walk(RegionId region, Turn& turn, Open open) {
    for (OpId id : kernel.region(region).ops) {
      if (++walked > kMostWalked || open.size() > kMostOpen) return {};
      const Op& op = kernel.op(id);
      auto* loop = op.get<op::While>();
      if (op.is<op::BlockBarrier>()) open.clear();
      else if (std::optional<Open> after = loop ? walk_while(*loop, op, turn, open) : std::nullopt) open = std::move(*after);
      else if (!has_barrier(id)) pass({region, id, &turn, {}}, open);
      else if (auto* loop = op.get<op::For>()) open = walk_for(*loop, op, turn, std::move(open));
      else if (auto* branch = op.get<op::If>()) open = walk_branch(*branch, turn, std::move(open));
      else open.clear();
    }
    return open;
  }

  void pass(Passage passage, Open& open) {
    open.push_back(std::move(passage));
    for (size_t i = 0; i < open.size(); ++i) meet(open[i], open.back());
  }

  Open walk_branch(const op::If& branch, Turn& turn, Open open) {
    Formula condition = prover.condition(branch.condition, turn.one);
    Open after;
    if (!condition.is_false()) join(after, walk(branch.then_body, turn, under(open, condition)));
    if (!condition.is_true()) join(after, walk(branch.else_body, turn, under(std::move(open), negation(condition))));
    return after;
  }

  struct Range {
    Linear low, high, step;
    bool is_known() const { return low.is_constant() && high.is_constant() && step.is_constant() && step.constant > 0; }
    int64_t count() const { return high.constant <= low.constant ? 0 : (high.constant - low.constant - 1) / step.constant + 1; }
  };

  Turn& turn_of(const op::For& loop, const Turn& outer, const Linear& index) {
    Turn& turn = new_turn(&outer);
    ValueId v = kernel.region(loop.body).args[0];
    bind(turn, v, index);
    name(turn, v, index);
    return turn;
  }

  Open walk_for(const op::For& loop, const Op& op, Turn& outer, Open open) {
    Range range{prover.value(loop.low, outer.one), prover.value(loop.high, outer.one), prover.value(loop.step, outer.one)};
    std::span<const ValueId> carried_args = std::span(kernel.region(loop.body).args).subspan(1);
    std::vector<Linear> carried = read(outer, loop.inits);
    Open after = under(open, at_least(range.low, range.high));
    int64_t turn_count = !range.is_known() ? kFirstTurns : std::min(range.count(), kMostTurns);
    Linear index = range.low;
    for (int64_t k = 0; k < turn_count; ++k, index = index + range.step) {
      Turn& turn = turn_of(loop, outer, index);
      bind(turn, carried_args, carried);
      open = walk(loop.body, turn, std::move(open));
      carried = read(turn, kernel.terminator(loop.body).as<op::Yield>().values);
      if (!range.is_known()) join(after, under(open, at_least(index + range.step, range.high)));
    }
    if (range.is_known() && range.count() <= kMostTurns) {
      bind(outer, op.results, carried);
      return range.count() == 0 ? after : open;
    }
    join(after, walk_any_turn(loop, range, outer));
    return after;
  }

  // Some turn and the one after it, whichever they are.
  Open walk_any_turn(const op::For& loop, const Range& range, const Turn& outer) {
    ValueId v = kernel.region(loop.body).args[0];
    prove::Interval low = prover.terms().range(range.low), high = prover.terms().range(range.high);
    Linear index = prover.terms().variable(kernel.value(v).hint, {low.low, std::max((high + prove::Interval{-1, -1}).high, low.low)}, true);
    Open open = walk(loop.body, turn_of(loop, outer, index), {});
    walk(loop.body, turn_of(loop, outer, index + range.step), open);
    return under(std::move(open), at_least(index + range.step, range.high));
  }

  // Nothing where the threads may not take the same turns, or more of them than are followed.
  std::optional<Open> walk_while(const op::While& loop, const Op& op, Turn& outer, Open open) {
    std::vector<Linear> carried = read(outer, loop.inits);
    Open after;
    for (int64_t k = 0; k < kMostTurns; ++k) {
      Turn& turn = new_turn(&outer);
      for (RegionId region : {loop.condition, loop.body}) {
        turn.entered.push_back(region);
        prover.enter(region, turn.one), prover.enter(region, turn.other);
      }
      bind(turn, kernel.region(loop.condition).args, carried);
      open = walk(loop.condition, turn, std::move(open));
      const auto& yielded = kernel.terminator(loop.condition).as<op::Yield>().values;
      Formula condition = prover.condition(yielded[0], turn.one);
      if (!prover.is_free(condition) || prover.depends_on(condition, simt.body)) return std::nullopt;
      carried = read(turn, std::span(yielded).subspan(1));
      if (condition.is_false() && after.empty()) bind(outer, op.results, carried);
      join(after, under(open, negation(condition)));
      if (condition.is_false()) return after;
      turn.path.push_back(condition);
      const auto& args = kernel.region(loop.body).args;
      bind(turn, args, carried);
      for (size_t i = 0; i < args.size(); ++i) name(turn, args[i], carried[i]);
      open = walk(loop.body, turn, under(std::move(open), condition));
      carried = read(turn, kernel.terminator(loop.body).as<op::Yield>().values);
    }
    return std::nullopt;
  }
};

}  // namespace

void each_meeting(const Kernel& kernel, prove::Prover& prover, const op::Simt& simt, const Meet& meet) {
  Walk walk{kernel, prover, simt, meet};
  walk.walk(simt.body, walk.new_turn(nullptr), {});
}

}  // namespace tilec::passes
