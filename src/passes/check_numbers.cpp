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
    friend bool operator==(const HostCheck&, const HostCheck&) = default;
  };
  const std::set<RegionId> of_host = regions_of_host(kernel);
  std::vector<HostCheck> of_the_host = {};  // of the host's part: divisions by what may be 0, what may leave 64 bits
  std::vector<Span> guarded = {};      // what may leave 64 bits in a block
  std::set<ValueId> counted = {};      // the next indices of loops that count: they stay, by the law of such loops

  void division(RegionId region, OpId id, op::Binary& binary) {
    Linear divisor = prover.value(binary.b);
    if (!prover.terms().range(divisor).holds(0)) return;
    std::string what = binary.fn == BinaryFn::Div ? "division" : "remainder";
    auto at = diagnostics.at(kernel.op(id).span);
    // Where nothing ever comes by, everything is proved.
    auto is_reached = [&] { return !prover.prove(prover.facts(region), prove::truth(false), prove::Effort::Quick).is_proved(); };
    if (prover.proves(prover.facts(region), equal(divisor, 0), prove::Effort::Quick) && is_reached())
      return void(at.error(diag::IntegerFault, what, "the divisor is always 0"));
    prove::Answer answer = prover.prove(prover.facts(region), negation(equal(divisor, 0)));
    if (answer.is_proved()) return;
    if (answer.is_refuted())
      return void(at.error(diag::IntegerFault, what, example_text(prover, answer.model) + "the divisor is 0").help(kKeepFromZero));
    if (of_host.contains(region)) return of_the_host.push_back({region, id, FaultCause::Division});
    at.remark(diag::DivisionGuarded, what);
    binary.guarded = true;
  }

  // A contract that divides says that its divisor is not 0, and so the host has to ask for that too.
  void contract_divisions() {
    prove::Facts as_written;
    for (const Requirement& r : kernel.requirements) as_written.formulas.push_back(prover.condition(r.condition));
    for (const Requirement& r : kernel.requirements)
      each_division(r.condition, [&](OpId id) {
        Linear divisor = prover.value(kernel.op(id).as<op::Binary>().b);
        bool is_known = !prover.terms().range(divisor).holds(0) ||
                        prover.proves(as_written, negation(equal(divisor, 0)), prove::Effort::Quick);
        HostCheck check{kernel.body, id, FaultCause::Division};
        if (!is_known && std::find(of_the_host.begin(), of_the_host.end(), check) == of_the_host.end()) of_the_host.push_back(check);
      });
  }
  void each_division(ValueId v, const std::function<void(OpId)>& f) {
    each_source(kernel, v, [&](ValueId x) {
      if (auto* binary = kernel.defined_by<op::Binary>(x); binary && is_division(*binary)) f(kernel.value(x).op);
    });
  }
  bool is_division(const op::Binary& binary) const {
    return (binary.fn == BinaryFn::Div || binary.fn == BinaryFn::Rem) && is_integer(kernel.type(binary.a).element);
  }

  // No code of the kernel runs where a contract fails.
  void require_value(const HostCheck& check) {
    if (check.cause == FaultCause::Division) require_divisor(check.region, check.op);
    else require_range(check.region, check.op);
  }
  void require_range(RegionId region, OpId id) {
    OpData data = kernel.op(id).data;
    ValueId condition;
    insert_before(kernel, region, id, [&](Builder& b) {
      if (auto* unary = data.get<op::Unary>()) condition = b.compare(CompareFn::Ne, unary->x, b.index(INT64_MIN));
      if (auto* binary = data.get<op::Binary>()) condition = b.logical_not(b.overflows(binary->fn, binary->a, binary->b));
    });
    kernel.requirements.push_back({in_body(kernel, region, condition), source_words(kernel, kernel.op(id).result()) + " to fit in 64 bits", kernel.op(id).span});
  }
  void require_divisor(RegionId region, OpId id) {
    ValueId divisor = kernel.op(id).as<op::Binary>().b, condition;
    insert_before(kernel, region, id, [&](Builder& b) {
      condition = b.compare(CompareFn::Ne, divisor, b.constant(kernel.type(divisor).element, Number::integer(0)));
    });
    bool is_sum = kernel.defined_by<op::Binary>(divisor);
    std::string text = source_words(kernel, divisor);
    kernel.requirements.push_back({in_body(kernel, region, condition), (is_sum ? "(" + text + ")" : text) + " != 0", kernel.op(id).span});
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
    if (prover.terms().range(step).low >= 1) return;
    prove::Answer answer = prover.prove(prover.facts(region), negation(less(step, 1)));
    if (answer.is_proved()) return;
    std::string example = answer.is_refuted() ? ": " + example_text(prover, answer.model) + "it is below 1" : "";
    auto report = diagnostics.at(op.span).error(diag::NotAllowedHere, "a step that may be below 1", "in a loop" + example);
    report.help("state in a `requires` that it is at least 1, or write `max(step, 1)`");
  }

  // The step after the last turn.
  void last_step(RegionId region, op::For& loop) {
    Linear past = prover.value(loop.high) + prover.value(loop.step) - 1;
    if (prover.value(loop.step) == Linear(1) || prover.terms().range(past).high != prove::kPlusInfinity) return;
    loop.guarded = !prover.proves(prover.facts(region), at_least(Linear(INT64_MAX - 1), past), prove::Effort::Sums);
  }

  Interval range(ValueId v) { return prover.terms().range(prover.value(v)); }

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

  // Everything else that is proved of a number takes it for exact.
  void exactness(RegionId region, OpId id, op::Binary& binary) {
    const Op& op = kernel.op(id);
    Interval result = result_range(binary);
    if (result.is_bounded() || counted.contains(op.result())) return;
    auto at = diagnostics.at(op.span);
    if (range(binary.a).is_bounded() && range(binary.b).is_bounded() &&
        (result.low == prove::kPlusInfinity || result.high == prove::kMinusInfinity))
      return void(at.error(diag::IntegerFault, kind_of(binary.fn), "the result never fits in 64 bits"));
    if (prover.proves(prover.facts(region), stays(binary, prover.value(op.result())), prove::Effort::Sums)) return;
    guard(region, id, binary.guarded);
  }

  void guard(RegionId region, OpId id, bool& is_guarded) {
    if (of_host.contains(region)) return of_the_host.push_back({region, id, FaultCause::Overflow});
    guarded.push_back(kernel.op(id).span);
    is_guarded = true;
  }

  // The least `int` has no negative.
  bool has_negative(RegionId region, ValueId v) {
    return range(v).low != prove::kMinusInfinity || prover.proves(prover.facts(region), at_least(prover.value(v), -kFar), prove::Effort::Sums);
  }
  void negative(RegionId region, OpId id, op::Unary& unary) {
    if (!has_negative(region, unary.x)) guard(region, id, unary.guarded);
  }
  void quotient(RegionId region, OpId id, op::Binary& binary) {
    if (!range(binary.b).holds(-1) || has_negative(region, binary.a)) return;
    prove::Formula is_other = negation(equal(prover.value(binary.b), -1));
    if (!prover.proves(prover.facts(region), is_other)) guard(region, id, binary.may_leave);
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
};

}  // namespace

void check_numbers(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  pass.contracts();
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    Op& op = kernel.op(id);
    if (auto* loop = op.get<op::For>()) return pass.step(region, op, loop->step), pass.last_step(region, *loop);
    if (auto* loop = op.get<op::While>(); loop && loop->step.valid()) {
      pass.counted.insert(kernel.terminator(loop->body).as<op::Yield>().values[0]);
      return pass.step(region, op, loop->step);
    }
    if (op.results.size() != 1 || !is_integer(kernel.type(op.result()).element)) return;
    bool is_int = kernel.type(op.result()).element == Scalar::Index;
    if (auto* unary = op.get<op::Unary>(); unary && is_int && (unary->fn == UnaryFn::Neg || unary->fn == UnaryFn::Abs))
      return pass.negative(region, id, *unary);
    auto* binary = op.get<op::Binary>();
    if (!binary) return;
    bool divides = pass.is_division(*binary);
    if (divides) pass.division(region, id, *binary);
    else if (is_int) pass.exactness(region, id, *binary);
    if (divides && is_int && binary->fn == BinaryFn::Div) pass.quotient(region, id, *binary);
  });
  pass.tell_guarded();
  pass.contract_divisions();
  for (const auto& check : pass.of_the_host) pass.require_value(check);
}

}  // namespace tilec::passes
