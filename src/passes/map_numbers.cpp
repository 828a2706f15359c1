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
  std::map<ValueId, ValueId> same = {};  // what a value is equal to

  ValueId root(ValueId v) const {
    auto found = same.find(v);
    return found != same.end() ? found->second : v;
  }

  // The operand that the other one, as far as it is known, leaves as it is.
  ValueId unchanged(const op::Binary& o) {
    Numbers a = of(o.a), b = of(o.b);
    auto is_one = [](const Numbers& x) { return x.exact && (x.exact->is_float ? x.exact->f == 1 : x.exact->i == 1); };
    auto changes_nothing = [&](const Numbers& x) {
      switch (o.fn) {
        case BinaryFn::Add: return x.is_within(kZero);
        case BinaryFn::Mul: return is_one(x);
        case BinaryFn::Max: case BinaryFn::Maximum: return x.is_within(kNegativeInfinity);
        case BinaryFn::Min: case BinaryFn::Minimum: return x.is_within(kPositiveInfinity);
        default: return false;
      }
    };
    if (o.fn == BinaryFn::Sub && b.is_within(kZero)) return o.a;
    return changes_nothing(b) ? o.a : changes_nothing(a) ? o.b : ValueId{};
  }

  void follow(const Op& op) {
    ValueId to;
    if (auto* o = op.get<op::Binary>()) to = unchanged(*o);
    if (auto* o = op.get<op::Fma>())
      if (apply(BinaryFn::Mul, kernel.type(o->a).element, of(o->a), of(o->b)).is_within(kZero)) to = o->c;
    if (to.valid()) same[op.result()] = root(to);
  }

  Numbers of(ValueId v) { return scalar_numbers(kernel, v, known); }

  std::optional<bool> decided(ValueId condition, RegionId region) {
    Numbers n = of(condition);
    if (n.exact) return n.exact->i != 0;
    if (assumption.is_true()) return std::nullopt;
    prove::Facts facts = prover.facts(region).with(assumption);
    prove::Formula f = prover.condition(condition);
    if (prover.proves(facts, f, prove::Effort::Quick)) return true;
    if (prover.proves(facts, negation(f), prove::Effort::Quick)) return false;
    return std::nullopt;
  }

  struct Yielded {
    std::vector<Numbers> numbers;
    std::vector<ValueId> same;
  };
  Yielded region(RegionId id) {
    for (OpId o : kernel.region(id).ops) {
      const Op& op = kernel.op(o);
      if (auto* yield = op.get<op::Yield>()) {
        Yielded result;
        for (ValueId v : yield->values) result.numbers.push_back(of(v)), result.same.push_back(root(v));
        return result;
      }
      if (op.results.empty()) continue;
      if (auto* branch = op.get<op::If>()) {
        run_branch(*branch, op, id);
      } else if (auto* select = op.get<op::Select>()) {
        auto decision = decided(select->condition, id);
        known[op.result()] = decision ? of(*decision ? select->a : select->b) : joined(of(select->a), of(select->b));
        if (decision) same[op.result()] = root(*decision ? select->a : select->b);
      } else if (op.is<op::ElementLoad>()) {
        known[op.result()] = data(kernel.type(op.result()).element);
      } else if (table(op.kind()) == OpTable::Scalar) {
        known[op.result()] = of(op.result());
        follow(op);
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
      Yielded yielded = region(side ? branch.then_body : branch.else_body);
      for (size_t i = 0; i < result.size(); ++i) result[i] = joined(result[i], yielded.numbers[i]);
      for (size_t i = 0; decision && i < result.size(); ++i) same[op.results[i]] = yielded.same[i];
    }
    for (size_t i = 0; i < result.size(); ++i) known[op.results[i]] = result[i];
  }
};

}  // namespace

namespace {

struct ScalarNumbers {
  const Kernel& kernel;
  const NumbersOf& known;
  NumbersOf found = {};

  Numbers of(ValueId v) {
    if (auto at = known.find(v); at != known.end()) return at->second;
    if (auto at = found.find(v); at != found.end()) return at->second;
    return found.insert_or_assign(v, derive(v)).first->second;
  }

  Numbers derive(ValueId v) {
    const Type& type = kernel.type(v);
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
};

}  // namespace

Numbers scalar_numbers(const Kernel& kernel, ValueId v, const NumbersOf& known) { return ScalarNumbers{kernel, known}.of(v); }

MapResults run_on_numbers(prove::Prover& prover, const Kernel& kernel, RegionId body, NumbersOf known,
                          const prove::Formula& assumption) {
  Run run{prover, kernel, std::move(known), assumption};
  Run::Yielded yielded = run.region(body);
  return {std::move(yielded.numbers), std::move(yielded.same), std::move(run.known)};
}

}  // namespace tilec::passes
