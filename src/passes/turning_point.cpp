#include "passes/turning_point.h"

namespace tilec::passes {

using namespace ir;

namespace {

// x <= limit or x >= limit, while x is taken apart.
struct Relation {
  bool is_at_most;
  ValueId limit;
  ValueId never;  // true where no x that can be computed fulfils it, though `limit` had to stay within 64 bits
};

struct Difference {
  ValueId value, is_too_low, is_too_high;
};

// x - y, held at the ends of the range.
Difference subtract(Builder& b, ValueId x, ValueId y) {
  ValueId least = b.add(b.index(INT64_MIN), b.binary(BinaryFn::Max, y, b.index(0)));
  ValueId most = b.add(b.index(INT64_MAX), b.binary(BinaryFn::Min, y, b.index(0)));
  ValueId held = b.binary(BinaryFn::Min, b.binary(BinaryFn::Max, x, least), most);
  return {b.sub(held, y), b.compare(CompareFn::Lt, x, least), b.compare(CompareFn::Gt, x, most)};
}

// x + y, held at the ends of the range.
Difference add(Builder& b, ValueId x, ValueId y) {
  ValueId least = b.sub(b.index(INT64_MIN), b.binary(BinaryFn::Min, y, b.index(0)));
  ValueId most = b.sub(b.index(INT64_MAX), b.binary(BinaryFn::Max, y, b.index(0)));
  ValueId held = b.binary(BinaryFn::Min, b.binary(BinaryFn::Max, x, least), most);
  return {b.add(held, y), b.compare(CompareFn::Lt, x, least), b.compare(CompareFn::Gt, x, most)};
}

// A bound that lies beyond all integers holds for all of them or for none: below the least it holds for every `>=`.
void bound(Builder& b, Relation& relation, const Difference& limit) {
  relation.limit = limit.value;
  relation.never = b.logical_or(relation.never, relation.is_at_most ? limit.is_too_low : limit.is_too_high);
}

void undo(Builder& b, Relation& relation, const Turning::Undo& step) {
  switch (step.step) {
    case Turning::Step::Plus: return bound(b, relation, subtract(b, relation.limit, step.by));
    case Turning::Step::Minus: return bound(b, relation, add(b, relation.limit, step.by));
    case Turning::Step::From:
      relation.is_at_most = !relation.is_at_most;
      return bound(b, relation, subtract(b, step.by, relation.limit));
    case Turning::Step::Times: {
      ValueId floor = b.binary(BinaryFn::Div, relation.limit, step.by);
      ValueId rest = b.binary(BinaryFn::Min, b.binary(BinaryFn::Rem, relation.limit, step.by), b.index(1));
      relation.limit = relation.is_at_most ? floor : b.add(floor, rest);
      return;
    }
  }
}

// One step from `x` towards the index: the operand that moves, if only one does.
std::optional<std::pair<Turning::Undo, ValueId>> take_apart(const Kernel& kernel, ValueId x, const std::function<bool(ValueId)>& stays) {
  const op::Binary* b = kernel.defined_by<op::Binary>(x);
  if (!b || is_guarded(*kernel.definition(x)) || stays(b->a) == stays(b->b)) return std::nullopt;
  bool is_first = !stays(b->a);
  ValueId moves = is_first ? b->a : b->b, by = is_first ? b->b : b->a;
  if (b->fn == BinaryFn::Add) return std::pair(Turning::Undo{Turning::Step::Plus, by}, moves);
  if (b->fn == BinaryFn::Sub) return std::pair(Turning::Undo{is_first ? Turning::Step::Minus : Turning::Step::From, by}, moves);
  auto factor = kernel.constant(by);
  if (b->fn == BinaryFn::Mul && factor && factor->i > 0) return std::pair(Turning::Undo{Turning::Step::Times, by}, moves);
  return std::nullopt;
}

}  // namespace

bool Turning::says_before() const {
  bool at_most = is_at_most;
  for (const Undo& step : steps) at_most ^= step.step == Step::From;
  return at_most != is_opposite;
}

std::optional<Turning> find_turn(const Kernel& kernel, ValueId comparison, ValueId index, const std::function<bool(ValueId)>& stays) {
  const op::Compare* compare = kernel.defined_by<op::Compare>(comparison);
  if (!compare || kernel.type(comparison).varying || kernel.type(compare->a).element != Scalar::Index) return std::nullopt;
  if (stays(compare->a) == stays(compare->b)) return std::nullopt;
  bool is_first = !stays(compare->a);
  Turning turn{.limit = is_first ? compare->b : compare->a};
  switch (compare->fn) {
    case CompareFn::Le: turn.is_at_most = is_first; break;
    case CompareFn::Ge: turn.is_at_most = !is_first; break;
    case CompareFn::Lt: turn.is_at_most = !is_first, turn.is_opposite = true; break;
    case CompareFn::Gt: turn.is_at_most = is_first, turn.is_opposite = true; break;
    default: return std::nullopt;
  }
  for (ValueId x = is_first ? compare->a : compare->b; x != index;) {
    auto step = take_apart(kernel, x, stays);
    if (!step) return std::nullopt;
    turn.steps.push_back(step->first);
    x = step->second;
  }
  return turn;
}

ValueId turning_point(Builder& b, const Turning& turn) {
  Relation relation{turn.is_at_most, turn.limit, b.boolean(false)};
  for (const Turning::Undo& step : turn.steps) undo(b, relation, step);
  if (!relation.is_at_most) return b.select(relation.never, b.index(INT64_MAX), relation.limit);
  bool is_small = !turn.steps.empty() && turn.steps.back().step == Turning::Step::Times && b.kernel().constant(turn.steps.back().by)->i > 1;
  ValueId last = is_small ? relation.limit : b.binary(BinaryFn::Min, relation.limit, b.index(INT64_MAX - 1));
  return b.select(relation.never, b.index(INT64_MIN), b.add(last, b.index(1)));
}

std::vector<ValueId> sources(const Turning& turn) {
  std::vector<ValueId> all{turn.limit};
  for (const Turning::Undo& step : turn.steps) all.push_back(step.by);
  return all;
}

}  // namespace tilec::passes
