#include "passes/check_numbers.h"

#include "diag/diag.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Interval;
using prove::Linear;

namespace {

constexpr const char* kKeepFromZero = "test the divisor with an `if`, or state in a `requires` that it is never 0";

struct Check {
  Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;
  std::vector<OpId> of_the_host = {};  // divisions of the kernel's own level by what may be 0

  void division(RegionId region, OpId id, op::Binary& binary) {
    Linear divisor = prover.value(binary.b);
    if (!prover.terms().range(divisor).holds(0)) return;
    std::string what = binary.fn == BinaryFn::Div ? "division" : "remainder";
    auto at = diagnostics.at(kernel.op(id).span);
    if (prover.proves(prover.facts(region), equal(divisor, 0), prove::Effort::Quick))
      return void(at.error(diag::IntegerFault, what, "the divisor is always 0"));
    prove::Answer answer = prover.prove(prover.facts(region), negation(equal(divisor, 0)));
    if (answer.is_proved()) return;
    if (answer.is_refuted())
      return void(at.error(diag::IntegerFault, what, example_text(prover, answer.model) + "the divisor is 0").help(kKeepFromZero));
    if (region == kernel.body) return of_the_host.push_back(id);
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
        if (!is_known && std::find(of_the_host.begin(), of_the_host.end(), id) == of_the_host.end()) of_the_host.push_back(id);
      });
  }
  void each_division(ValueId v, const std::function<void(OpId)>& f) {
    const Op* op = kernel.definition(v);
    if (!op) return;
    if (auto* binary = op->get<op::Binary>(); binary && is_division(*binary)) f(kernel.value(v).op);
    each_operand(op->data, [&](ValueId operand) { each_division(operand, f); });
  }
  bool is_division(const op::Binary& binary) const {
    return (binary.fn == BinaryFn::Div || binary.fn == BinaryFn::Rem) && is_integer(kernel.type(binary.a).element);
  }

  // No code of the kernel runs where a contract fails.
  void require_divisor(OpId id) {
    ValueId divisor = kernel.op(id).as<op::Binary>().b, condition;
    insert_before(kernel, kernel.body, id, [&](Builder& b) {
      condition = b.compare(CompareFn::Ne, divisor, b.constant(kernel.type(divisor).element, Number::integer(0)));
    });
    const std::string& name = kernel.value(divisor).hint;
    kernel.requirements.push_back({condition, name.empty() ? "a divisor that is not 0" : name + " != 0", kernel.op(id).span});
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
    loop.guarded = !prover.proves(prover.facts(region), at_least(Linear(INT64_MAX - 1), past), prove::Effort::Quick);
  }

  void overflow(const Op& op, const op::Binary& binary) {
    Interval a = prover.terms().range(prover.value(binary.a)), b = prover.terms().range(prover.value(binary.b));
    auto is_bounded = [](Interval x) { return x.low != prove::kMinusInfinity && x.high != prove::kPlusInfinity; };
    if (!is_bounded(a) || !is_bounded(b)) return;
    Interval result;
    if (binary.fn == BinaryFn::Add) result = a + b;
    else if (binary.fn == BinaryFn::Sub) result = a + b * Interval{-1, -1};
    else if (binary.fn == BinaryFn::Mul) result = a * b;
    else return;
    if (result.low == prove::kPlusInfinity || result.high == prove::kMinusInfinity)
      diagnostics.at(op.span).error(diag::IntegerFault, std::string(name(binary.fn)), "the result never fits in 64 bits");
  }
};

}  // namespace

void check_numbers(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  pass.contracts();
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    Op& op = kernel.op(id);
    if (auto* loop = op.get<op::For>()) return pass.step(region, op, loop->step), pass.last_step(region, *loop);
    if (auto* loop = op.get<op::While>(); loop && loop->step.valid()) return pass.step(region, op, loop->step);
    auto* binary = op.get<op::Binary>();
    if (!binary || !is_integer(kernel.type(op.result()).element)) return;
    if (pass.is_division(*binary)) pass.division(region, id, *binary);
    else if (kernel.type(op.result()).element == Scalar::Index) pass.overflow(op, *binary);
  });
  pass.contract_divisions();
  for (OpId id : pass.of_the_host) pass.require_divisor(id);
}

}  // namespace tilec::passes
