#include "passes/map_numbers.h"

namespace tilec::passes {

using namespace ir;

namespace {

// `x > 0` and the like among the contracts, for a parameter: a kind stays when its least or greatest number keeps them all.
Numbers by_contract(const Kernel& kernel, ValueId v) {
  Scalar type = kernel.type(v).element;
  Numbers numbers = data(type);
  for (const Requirement& r : kernel.requirements) {
    auto* compare = kernel.defined_by<op::Compare>(r.condition);
    if (!compare || !is_float(type) || (compare->a != v && compare->b != v)) continue;
    auto number = kernel.constant(compare->a == v ? compare->b : compare->a);
    if (!number) continue;
    auto holds = [&](double x) {
      Number n = Number::real(x);
      return compare->a == v ? evaluate(compare->fn, type, n, *number) : evaluate(compare->fn, type, *number, n);
    };
    constexpr std::pair<uint8_t, double> kEnds[] = {{kNegative, -1e-30}, {kNegative, -1e30}, {kZero, 0.0},
                                                    {kPositive, 1e-30},  {kPositive, 1e30}};
    uint8_t possible = 0;
    for (auto [kind, end] : kEnds)
      if (holds(end)) possible |= kind;
    numbers.kinds &= possible;
  }
  return numbers;
}

struct Run {
  prove::Prover& prover;
  const Kernel& kernel;
  NumbersOf known;
  const prove::Formula& assumption;

  Numbers of(ValueId v) { return scalar_numbers(kernel, v, known); }

  std::optional<bool> decided(ValueId condition, RegionId region) {
    Numbers n = of(condition);
    if (n.exact) return n.exact->i != 0;
    if (assumption.is_true()) return std::nullopt;
    prove::Facts facts = prover.facts(region).with(assumption);
    prove::Formula f = prover.condition(condition);
    if (prover.prove(facts, f, prove::Effort::Quick).is_proved()) return true;
    if (prover.prove(facts, negation(f), prove::Effort::Quick).is_proved()) return false;
    return std::nullopt;
  }

  std::vector<Numbers> region(RegionId id) {
    for (OpId o : kernel.region(id).ops) {
      const Op& op = kernel.op(o);
      if (auto* yield = op.get<op::Yield>()) {
        std::vector<Numbers> result;
        for (ValueId v : yield->values) result.push_back(of(v));
        return result;
      }
      if (op.results.empty()) continue;
      if (auto* branch = op.get<op::If>()) {
        run_branch(*branch, op, id);
      } else if (auto* select = op.get<op::Select>()) {
        auto decision = decided(select->condition, id);
        known[op.result()] = decision ? of(*decision ? select->a : select->b) : joined(of(select->a), of(select->b));
      } else if (op.is<op::ElementLoad>()) {
        known[op.result()] = data(kernel.type(op.result()).element);
      } else if (table(op.kind()) == OpTable::Scalar) {
        known[op.result()] = of(op.result());
      } else {
        for (ValueId v : op.results) known[v] = anything(kernel.type(v).element);
      }
    }
    return {};
  }

  void run_branch(const op::If& branch, const Op& op, RegionId at) {
    auto decision = decided(branch.condition, at);
    std::vector<Numbers> result(op.results.size());
    for (bool side : {true, false}) {
      if (decision && *decision != side) continue;
      std::vector<Numbers> yielded = region(side ? branch.then_body : branch.else_body);
      for (size_t i = 0; i < result.size(); ++i) result[i] = joined(result[i], yielded[i]);
    }
    for (size_t i = 0; i < result.size(); ++i) known[op.results[i]] = result[i];
  }
};

}  // namespace

Numbers scalar_numbers(const Kernel& kernel, ValueId v, const NumbersOf& known) {
  if (auto found = known.find(v); found != known.end()) return found->second;
  const Type& type = kernel.type(v);
  auto of = [&](ValueId x) { return scalar_numbers(kernel, x, known); };
  auto element = [&](ValueId x) { return kernel.type(x).element; };
  const Op* op = kernel.definition(v);
  if (!op) return kernel.value(v).region == kernel.body ? by_contract(kernel, v) : anything(type.element);
  if (auto* o = op->get<op::Constant>()) return exactly(type.element, o->number);
  if (auto* o = op->get<op::Unary>()) return apply(o->fn, element(o->x), of(o->x));
  if (auto* o = op->get<op::Binary>()) return apply(o->fn, element(o->a), of(o->a), of(o->b));
  if (auto* o = op->get<op::Fma>())
    return apply(BinaryFn::Add, type.element, apply(BinaryFn::Mul, type.element, of(o->a), of(o->b)), of(o->c));
  if (auto* o = op->get<op::Compare>()) return apply(o->fn, element(o->a), of(o->a), of(o->b));
  if (auto* o = op->get<op::Convert>()) return apply_convert(element(o->x), type.element, o->mode, of(o->x));
  if (auto* o = op->get<op::Select>()) return joined(of(o->a), of(o->b));
  if (op->is<op::ElementLoad>()) return data(type.element);
  return anything(type.element);
}

std::vector<Numbers> run_on_numbers(prove::Prover& prover, const Kernel& kernel, RegionId body, NumbersOf known,
                                    const prove::Formula& assumption) {
  return Run{prover, kernel, std::move(known), assumption}.region(body);
}

}  // namespace tilec::passes
