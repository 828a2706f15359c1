// What is known of a number by the operations that make it.
#include <limits>

#include "passes/map_numbers.h"

namespace tilec::passes {

using namespace ir;

ValueId unchanged(BinaryFn fn, ValueId left, ValueId right, const Numbers& a, const Numbers& b) {
  auto is_one = [](const Numbers& x) { return x.exact && (x.exact->is_float ? x.exact->f == 1 : x.exact->i == 1); };
  // NaN gives way to whatever is no NaN.
  auto changes_nothing = [&](const Numbers& x, const Numbers& of) {
    const bool may_give_way = (of.kinds & kNan) && (x.kinds & ~kNan);
    switch (fn) {
      case BinaryFn::Add: return x.is_within(kZero);
      case BinaryFn::Mul: return is_one(x);
      case BinaryFn::Max: return x.is_within(kNegativeInfinity | kNan) && !may_give_way;
      case BinaryFn::Maximum: return x.is_within(kNegativeInfinity);
      case BinaryFn::Min: return x.is_within(kPositiveInfinity | kNan) && !may_give_way;
      case BinaryFn::Minimum: return x.is_within(kPositiveInfinity);
      case BinaryFn::Or: return x.exact && x.exact->i == 0;
      default: return false;
    }
  };
  bool takes_right_away = fn == BinaryFn::Sub && b.is_within(kZero), divides_by_one = fn == BinaryFn::Div && is_one(b);
  if (takes_right_away || divides_by_one) return left;
  return changes_nothing(b, a) ? left : changes_nothing(a, b) ? right : ValueId{};
}

namespace {

// `x > 0` and the like among the contracts, for a parameter: a kind stays when its least or greatest number keeps them all.
Numbers by_contract(const Kernel& kernel, ValueId v, Belief belief) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::pair<uint8_t, double> kEnds[] = {
      {kNegativeInfinity, -kInfinity}, {kNegative, -1e-30}, {kNegative, -1e30}, {kZero, 0.0}, {kPositive, 1e-30}, {kPositive, 1e30},
      {kPositiveInfinity, kInfinity},  {kNan, std::numeric_limits<double>::quiet_NaN()}};
  Scalar type = kernel.type(v).element;
  Numbers numbers = data(type, belief);
  for (const Requirement& r : kernel.requirements) {
    auto* compare = kernel.defined_by<op::Compare>(r.condition);
    if (!compare || !is_float(type) || (compare->a != v && compare->b != v)) continue;
    auto number = kernel.constant(compare->a == v ? compare->b : compare->a);
    if (!number) continue;
    auto holds = [&](double x) {
      Number n = Number::real(x);
      return compare->a == v ? evaluate(compare->fn, type, n, *number) : evaluate(compare->fn, type, *number, n);
    };
    uint8_t possible = 0;
    for (auto [kind, end] : kEnds)
      if (holds(end)) possible |= kind;
    numbers.kinds &= possible;
  }
  return numbers;
}

struct ScalarNumbers {
  const Kernel& kernel;
  const NumbersOf& given;
  NumbersOf found = {};

  Known of(ValueId v) {
    if (auto at = given.find(v); at != given.end()) return at->second;
    if (auto at = found.find(v); at != found.end()) return at->second;
    Known made = known([&](Belief belief) { return derive(v, belief, false); });
    made.is_of_product = has_operand(v, &Known::is_of_product), made.is_beside = has_operand(v, &Known::is_beside);
    // What is hoped of matrix products counts as sure, as does what arithmetic makes of them; an exponential leaves finite numbers at once.
    if (made.is_of_product) made.sure = overflown(v, derive(v, Belief::Finite, true));
    return found.insert_or_assign(v, made).first->second;
  }

  Numbers overflown(ValueId v, Numbers numbers) {
    auto* o = kernel.defined_by<op::Unary>(v);
    const bool is_exp = o && (o->fn == UnaryFn::Exp || o->fn == UnaryFn::Exp2);
    if (!is_exp || of(o->x).is_beside) return numbers;
    const Numbers x = of(o->x).hoped;
    if (!x.exact && (x.kinds & kPositive)) numbers.kinds |= kPositiveInfinity;
    return numbers;
  }

  bool has_operand(ValueId v, bool Known::*is) {
    const Op* op = kernel.definition(v);
    bool has_one = false;
    if (op && table(op->kind()) == OpTable::Scalar) each_operand(op->data, [&](ValueId x) { has_one = has_one || of(x).*is; });
    return has_one;
  }

  // `with_overflown`: what exponentials have made of products as well.
  Numbers derive(ValueId v, Belief belief, bool with_overflown) {
    const Type& type = kernel.type(v);
    auto element = [&](ValueId x) { return kernel.type(x).element; };
    auto number = [&](ValueId x) { return with_overflown && of(x).is_of_product ? of(x).sure : of(x).under(belief); };
    const Op* op = kernel.definition(v);
    if (!op) return kernel.value(v).region == kernel.body ? by_contract(kernel, v, belief) : anything(type.element);
    if (auto* o = op->get<op::Constant>()) return exactly(type.element, o->number);
    if (auto* o = op->get<op::Unary>()) return apply(o->fn, element(o->x), number(o->x), belief);
    if (auto* o = op->get<op::Binary>()) return apply(o->fn, element(o->a), number(o->a), number(o->b), belief);
    if (auto* o = op->get<op::Fma>())
      return apply(BinaryFn::Add, type.element, apply(BinaryFn::Mul, type.element, number(o->a), number(o->b), belief), number(o->c), belief);
    if (auto* o = op->get<op::Compare>()) return apply(o->fn, element(o->a), number(o->a), number(o->b), belief);
    if (auto* o = op->get<op::Convert>()) return apply_convert(element(o->x), type.element, o->mode, number(o->x), belief);
    if (auto* o = op->get<op::Select>()) return joined(number(o->a), number(o->b));
    if (op->is<op::ElementLoad>()) return data(type.element, belief);
    return anything(type.element);
  }
};

}  // namespace

Known scalar_numbers(const Kernel& kernel, ValueId v, const NumbersOf& known) { return ScalarNumbers{kernel, known}.of(v); }

}  // namespace tilec::passes
