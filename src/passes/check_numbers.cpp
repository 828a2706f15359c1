#include "passes/check_numbers.h"

#include "diag/diag.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Interval;
using prove::Linear;

namespace {

struct Check {
  const Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover prover{kernel};

  void division(RegionId region, const Op& op, const op::Binary& binary) {
    Linear divisor = prover.value(binary.b);
    if (!prover.terms().range(divisor).holds(0)) return;
    std::string what = binary.fn == BinaryFn::Div ? "division" : "remainder";
    if (prover.prove(prover.facts(region), equal(divisor, 0), prove::Effort::Quick).is_proved())
      return void(diagnostics.at(op.span).error(diag::IntegerFault, what, "the divisor is always 0"));
    prove::Answer answer = prover.prove(prover.facts(region), negation(equal(divisor, 0)), prove::Effort::Quick);
    if (!answer.is_refuted()) return;
    std::string example = example_text(prover, answer.model);
    auto report = diagnostics.at(op.span).error(diag::IntegerFault, what, example + "the divisor is 0");
    report.help("test the divisor with an `if`, or state in a `requires` that it is never 0");
  }

  // Contracts that no call can keep prove everything.
  void contracts() {
    if (kernel.requirements.empty() || !prover.prove(prover.facts(kernel.body), prove::truth(false), prove::Effort::Quick).is_proved()) return;
    std::string all;
    for (const Requirement& r : kernel.requirements) all += (all.empty() ? "" : ", ") + r.text;
    diagnostics.at(kernel.requirements.back().span).error(diag::StaticAssertFailed, "these contracts never hold together: " + all);
  }

  // A loop goes up: with any other step it would not end, or never begin.
  void step(RegionId region, const Op& op, const op::For& loop) {
    Linear step = prover.value(loop.step);
    if (prover.terms().range(step).low >= 1) return;
    prove::Answer answer = prover.prove(prover.facts(region), negation(less(step, 1)));
    if (answer.is_proved()) return;
    std::string example = answer.is_refuted() ? ": " + example_text(prover, answer.model) + "it is below 1" : "";
    auto report = diagnostics.at(op.span).error(diag::NotAllowedHere, "a step that may be below 1", "in a loop" + example);
    report.help("state in a `requires` that it is at least 1, or write `max(step, 1)`");
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

void check_numbers(Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics};
  pass.contracts();
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    const Op& op = kernel.op(id);
    if (auto* loop = op.get<op::For>()) return pass.step(region, op, *loop);
    auto* binary = op.get<op::Binary>();
    if (!binary || !is_integer(kernel.type(op.result()).element)) return;
    if (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem) pass.division(region, op, *binary);
    else if (kernel.type(op.result()).element == Scalar::Index) pass.overflow(op, *binary);
  });
}

}  // namespace tilec::passes
