#include "passes/check_numbers.h"

#include "diag/diag.h"
#include "ir/source_words.h"
#include "ir/sources.h"
#include "passes/host_contract.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Interval;
using prove::Linear;

namespace {

constexpr int64_t kFar = int64_t(1) << 61;  // sums with it stay in 64 bits

constexpr const char* kKeepFromZero = "test the divisor with an `if`, or state in a `requires` that it is never 0";

std::string_view kind_of(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::Add: return "sum";
    case BinaryFn::Sub: return "difference";
    case BinaryFn::Mul: return "product";
    default: return "shift";
  }
}

struct Check {
  Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;
  struct HostCheck {
    RegionId region;
    OpId op;
    FaultCause cause;
    size_t requirement;  // that the number is computed for
  };
  const std::set<RegionId> of_host = regions_of_host(kernel);
  const prove::Facts all_of_host = prover.facts(kernel.body);
  prove::Facts believed = {};               // by the steps of the host's part before this one
  size_t requirement = kNoRequirement;      // of this step
  std::vector<HostCheck> of_the_host = {};  // of the host's part: divisions by what may be 0, what may leave 64 bits
  std::vector<Span> guarded = {};      // what may leave 64 bits in a block
  std::set<ValueId> counted = {};      // the next indices of loops that count: they stay, by the law of such loops

  // What a proof may lean on. In the host's part no contract that is not known to be computed exactly.
  prove::Facts facts(RegionId region) const {
    if (!of_host.contains(region)) return prover.facts(region);
    const std::vector<prove::Formula>& all = prover.facts(region).formulas;
    prove::Facts own = believed;
    own.formulas.insert(own.formulas.end(), all.begin() + ptrdiff_t(all_of_host.formulas.size()), all.end());
    return own;
  }
  void believe(prove::Formula fact) {
    if (!fact.is_true()) believed.formulas.push_back(std::move(fact));
  }
  void fails_at_host(RegionId region, OpId id, FaultCause cause) {
    of_the_host.push_back({region, id, cause, requirement});
    if (cause == FaultCause::Division && region == kernel.body)
      believe(negation(equal(prover.value(kernel.op(id).as<op::Binary>().b), 0)));
  }

  void division(RegionId region, OpId id, op::Binary& binary) {
    Linear divisor = prover.value(binary.b);
    if (!prover.terms().range(divisor).holds(0)) return;
    std::string what = binary.fn == BinaryFn::Div ? "division" : "remainder";
    auto at = diagnostics.at(kernel.op(id).span);
    // Where nothing ever comes by, everything is proved, that it is 0 as well.
    auto is_reached = [&] {
      const prove::Facts& here = prover.facts(region);
      return !prover.proves(here, negation(equal(divisor, 0))) && !prover.prove(here.with(equal(divisor, 0)), prove::truth(false)).is_proved();
    };
    if (prover.proves(prover.facts(region), equal(divisor, 0), prove::Effort::Quick) && is_reached())
      return void(at.error(diag::IntegerFault, what, "the divisor is always 0"));
    if (of_host.contains(region) && prover.proves(facts(region), negation(equal(divisor, 0)))) return;
    prove::Answer answer = prover.prove(prover.facts(region), negation(equal(divisor, 0)));
    if (answer.is_proved() && !of_host.contains(region)) return;
    if (answer.is_refuted())
      return void(at.error(diag::IntegerFault, what, example_text(prover, answer.model) + "the divisor is 0").help(kKeepFromZero));
    if (of_host.contains(region)) return fails_at_host(region, id, FaultCause::Division);
    at.remark(diag::DivisionGuarded, what);
    binary.guarded = true;
  }

  bool is_division(const op::Binary& binary) const {
    return (binary.fn == BinaryFn::Div || binary.fn == BinaryFn::Rem) && is_integer(kernel.type(binary.a).element);
  }

  // No code of the kernel runs where a contract fails. What a contract is made of is asked for in front of it.
  void require_values() {
    std::vector<Requirement> all;
    size_t written = kernel.requirements.size();
    for (size_t r = 0; r <= written; ++r) {
      for (const HostCheck& check : of_the_host)
        if (check.requirement == (r < written ? r : kNoRequirement)) all.push_back(requirement_of(check));
      if (r < written) all.push_back(kernel.requirements[r]);
    }
    kernel.requirements = std::move(all);
  }
  Requirement requirement_of(const HostCheck& check) {
    bool divides = check.cause == FaultCause::Division;
    ValueId condition = divides ? has_divisor(check.region, check.op) : fits(check.region, check.op);
    std::string text = divides ? divisor_words(kernel.op(check.op).as<op::Binary>().b) : source_words(kernel, kernel.op(check.op).result()) + " to fit in 64 bits";
    if (check.requirement != kNoRequirement) text += " in " + kernel.requirements[check.requirement].text;
    return {in_body(kernel, check.region, condition), std::move(text), kernel.op(check.op).span};
  }
  ValueId fits(RegionId region, OpId id) {
    OpData data = kernel.op(id).data;
    ValueId condition;
    insert_before(kernel, region, id, [&](Builder& b) {
      if (auto* unary = data.get<op::Unary>()) condition = b.compare(CompareFn::Ne, unary->x, b.index(INT64_MIN));
      if (auto* binary = data.get<op::Binary>()) condition = b.logical_not(b.overflows(binary->fn, binary->a, binary->b));
    });
    return condition;
  }
  ValueId has_divisor(RegionId region, OpId id) {
    ValueId divisor = kernel.op(id).as<op::Binary>().b, condition;
    insert_before(kernel, region, id, [&](Builder& b) {
      condition = b.compare(CompareFn::Ne, divisor, b.constant(kernel.type(divisor).element, Number::integer(0)));
    });
    return condition;
  }
  std::string divisor_words(ValueId divisor) const {
    std::string text = source_words(kernel, divisor);
    return (kernel.defined_by<op::Binary>(divisor) ? "(" + text + ")" : text) + " != 0";
  }

  // Contracts that no call can keep prove everything.
  void contracts() {
    if (kernel.requirements.empty() || !prover.prove(prover.facts(kernel.body), prove::truth(false), prove::Effort::Quick).is_proved()) return;
    std::string all;
    for (const Requirement& r : kernel.requirements) all += (all.empty() ? "" : ", ") + r.text;
    diagnostics.at(kernel.requirements.back().span).error(diag::StaticAssertFailed, "these contracts never hold together: " + all);
  }

  // A loop goes up: with any other step it would not end, or never begin.
  void step(RegionId region, const Op& op, ValueId by) {
    Linear step = prover.value(by);
    if (prover.terms().range(step).low >= 1 || own_range(by).low >= 1) return;
    prove::Answer answer = prover.prove(facts(region), negation(less(step, 1)));
    if (answer.is_proved()) return;
    std::string example = answer.is_refuted() ? ": " + example_text(prover, answer.model) + "it is below 1" : "";
    auto report = diagnostics.at(op.span).error(diag::NotAllowedHere, "a step that may be below 1", "in a loop" + example);
    report.help("state in a `requires` that it is at least 1, or write `max(step, 1)`");
  }

  // The step after the last turn.
  void last_step(RegionId region, op::For& loop) {
    Linear past = prover.value(loop.high) + prover.value(loop.step) - 1;
    if (prover.value(loop.step) == Linear(1) || prover.terms().range(past).high != prove::kPlusInfinity) return;
    loop.guarded = !prover.proves(facts(region), at_least(Linear(INT64_MAX - 1), past), prove::Effort::Sums);
  }

  // What an operation says of its result by itself. The prover reads a rest as what is divided less a product, which may be any number.
  Interval own_range(ValueId v, int depth = 4) const {
    if (auto n = kernel.constant(v)) return {n->i, n->i};
    auto* converted = kernel.defined_by<op::Convert>(v);
    if (converted && is_integer(kernel.type(converted->x).element) && depth > 0) v = converted->x;
    auto* binary = depth > 0 ? kernel.defined_by<op::Binary>(v) : nullptr;
    if (!binary) return {};
    auto divisor = kernel.constant(binary->b);
    if (binary->fn == BinaryFn::And && divisor && divisor->i >= 0 && is_integer(kernel.type(v).element)) return {0, divisor->i};
    if (kernel.type(v).element != Scalar::Index) return {};
    bool is_known = divisor && divisor->i >= 2;
    if (binary->fn == BinaryFn::Rem && is_known) return {0, divisor->i - 1};
    Interval a = own_range(binary->a, depth - 1);
    if (binary->fn == BinaryFn::Div && is_known)
      return {prove::floor_divide(a.low, divisor->i), prove::floor_divide(a.high, divisor->i)};
    return binary->fn == BinaryFn::Add ? a + own_range(binary->b, depth - 1) : Interval{};
  }
  Interval range(ValueId v) { return intersection(prover.terms().range(prover.value(v)), own_range(v)); }

  // Of the exact result.
  Interval result_range(const op::Binary& binary) {
    Interval a = range(binary.a), b = range(binary.b);
    switch (binary.fn) {
      case BinaryFn::Add: return a + b;
      case BinaryFn::Sub: return a + b * Interval{-1, -1};
      case BinaryFn::Mul: return a * b;
      case BinaryFn::Shl: return shifted_left(a, b);
      default: return {0, 0};
    }
  }

  // What shows that the result `x` fits. By the signs of its operands a sum leaves 64 bits at one side only.
  prove::Formula stays(const op::Binary& binary, const Linear& x) {
    Interval a = range(binary.a), b = range(binary.b);
    bool is_sum = binary.fn == BinaryFn::Add, is_difference = binary.fn == BinaryFn::Sub;
    bool has_floor = (is_sum && (a.low >= 0 || b.low >= 0)) || (is_difference && (a.low >= 0 || b.high <= 0));
    bool has_ceiling = (is_sum && (a.high <= 0 || b.high <= 0)) || (is_difference && (a.high < 0 || b.low >= 0));
    return prove::all_of({has_floor ? prove::truth(true) : at_least(x, -kFar), has_ceiling ? prove::truth(true) : at_least(kFar, x)});
  }

  // x / y + (x % y != 0): where the quotient is at an end of 64 bits, y is 1 or -1, and there is no rest.
  bool rounds_up(const op::Binary& sum) const {
    auto* whole = kernel.defined_by<op::Binary>(sum.a);
    auto* one = kernel.defined_by<op::Select>(sum.b);
    auto* test = one ? kernel.defined_by<op::Compare>(one->condition) : nullptr;
    auto* rest = test && test->fn == CompareFn::Ne ? kernel.defined_by<op::Binary>(test->a) : nullptr;
    if (sum.fn != BinaryFn::Add || !whole || !rest || whole->fn != BinaryFn::Div || rest->fn != BinaryFn::Rem) return false;
    auto is = [&](ValueId v, int64_t number) { return kernel.constant(v) && kernel.constant(v)->i == number; };
    return whole->a == rest->a && whole->b == rest->b && is(test->b, 0) && is(one->a, 1) && is(one->b, 0);
  }

  // Everything else that is proved of a number takes it for exact.
  void exactness(RegionId region, OpId id, op::Binary& binary) {
    const Op& op = kernel.op(id);
    Interval result = result_range(binary);
    if (result.is_bounded() || counted.contains(op.result()) || rounds_up(binary)) return;
    auto at = diagnostics.at(op.span);
    if (range(binary.a).is_bounded() && range(binary.b).is_bounded() &&
        (result.low == prove::kPlusInfinity || result.high == prove::kMinusInfinity))
      return void(at.error(diag::IntegerFault, kind_of(binary.fn), "the result never fits in 64 bits"));
    if (prover.proves(facts(region), stays(binary, prover.value(op.result())), prove::Effort::Sums)) return;
    guard(region, id, binary.guarded);
  }

  void guard(RegionId region, OpId id, bool& is_guarded) {
    if (of_host.contains(region)) return fails_at_host(region, id, FaultCause::Overflow);
    guarded.push_back(kernel.op(id).span);
    is_guarded = true;
  }

  // The least `int` has no negative.
  bool has_negative(RegionId region, ValueId v) {
    return range(v).low != prove::kMinusInfinity || prover.proves(facts(region), at_least(prover.value(v), -kFar), prove::Effort::Sums);
  }
  void negative(RegionId region, OpId id, op::Unary& unary) {
    if (!has_negative(region, unary.x)) guard(region, id, unary.guarded);
  }
  void quotient(RegionId region, OpId id, op::Binary& binary) {
    if (!range(binary.b).holds(-1) || has_negative(region, binary.a)) return;
    prove::Formula is_other = negation(equal(prover.value(binary.b), -1));
    if (!prover.proves(facts(region), is_other)) guard(region, id, binary.may_leave);
  }

  // An expression is told of once, for all that is tested inside it.
  void tell_guarded() {
    auto is_within = [](Span inner, Span outer) {
      return inner.file == outer.file && outer.begin <= inner.begin && inner.end <= outer.end && inner != outer;
    };
    for (Span span : guarded)
      if (std::none_of(guarded.begin(), guarded.end(), [&](Span other) { return is_within(span, other); }))
        diagnostics.at(span).remark(diag::OverflowGuarded);
  }

  void operation(RegionId region, OpId id) {
    Op& op = kernel.op(id);
    if (auto* loop = op.get<op::For>()) return step(region, op, loop->step), last_step(region, *loop);
    if (auto* loop = op.get<op::While>(); loop && loop->step.valid()) {
      counted.insert(kernel.terminator(loop->body).as<op::Yield>().values[0]);
      return step(region, op, loop->step);
    }
    if (op.results.size() != 1 || !is_integer(kernel.type(op.result()).element)) return;
    bool is_int = kernel.type(op.result()).element == Scalar::Index;
    if (auto* unary = op.get<op::Unary>(); unary && is_int && (unary->fn == UnaryFn::Neg || unary->fn == UnaryFn::Abs))
      return negative(region, id, *unary);
    auto* binary = op.get<op::Binary>();
    if (!binary) return;
    bool divides = is_division(*binary);
    if (divides) division(region, id, *binary);
    else if (is_int) exactness(region, id, *binary);
    if (divides && is_int && binary->fn == BinaryFn::Div) quotient(region, id, *binary);
  }

  // Of the host's part, with all that stands inside of it there.
  void host_operation(RegionId region, OpId id) {
    operation(region, id);
    if (kernel.op(id).is<op::Launch>()) return;
    each_region(kernel.op(id).data, [&](RegionId inner) {
      for (OpId op : kernel.region(inner).ops) host_operation(inner, op);
    });
  }

  // May it fail, as far as types and extents tell?
  bool is_risky(OpId id) {
    const Op& op = kernel.op(id);
    bool found = false;
    each_region(op.data, [&](RegionId inner) {
      for (OpId each : kernel.region(inner).ops) found = found || is_risky(each);
    });
    if (op.results.size() != 1 || !is_integer(kernel.type(op.result()).element)) return found;
    bool is_int = kernel.type(op.result()).element == Scalar::Index;
    if (auto* unary = op.get<op::Unary>()) return is_int && range(unary->x).low == prove::kMinusInfinity;
    auto* binary = op.get<op::Binary>();
    if (binary && is_division(*binary)) return range(binary->b).holds(0) || (is_int && range(binary->b).holds(-1));
    return found || (binary && is_int && !result_range(*binary).is_bounded());
  }

  void host() {
    for (const HostStep& each : host_steps(kernel, [&](OpId id) { return is_risky(id); })) {
      requirement = each.requirement;
      if (each.kind == HostStep::Kind::Operation) host_operation(kernel.body, each.op);
      if (each.kind == HostStep::Kind::Requirement) believe(prover.condition(kernel.requirements[each.requirement].condition));
      if (each.kind == HostStep::Kind::Extent) extent(prover.value(each.extent));
    }
  }
  void extent(const Linear& x) {
    Interval range = prover.terms().range(x);
    if (range.low < 0) believe(at_least(x, 0));
    if (range.high > prove::kLargestExtent) believe(at_least(prove::kLargestExtent, x));
  }
};

}  // namespace

void check_numbers(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  pass.contracts();
  pass.host();
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    if (!pass.of_host.contains(region)) pass.operation(region, id);
  });
  pass.tell_guarded();
  pass.require_values();
}

}  // namespace tilec::passes
