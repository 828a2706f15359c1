// What holds inside a region, from the operations around it.
#include "prove/prover.h"

namespace tilec::prove {

using namespace ir;

Facts Facts::with(Formula more) const {
  Facts result = *this;
  result.formulas.push_back(std::move(more));
  return result;
}

Facts Facts::with(const Facts& more) const {
  Facts result = *this;
  result.formulas.insert(result.formulas.end(), more.formulas.begin(), more.formulas.end());
  result.is_exact &= more.is_exact;
  return result;
}

const Facts& Prover::facts(RegionId region, Twin twin) {
  auto key = std::pair(region, twin.number);
  if (auto found = facts_.find(key); found != facts_.end()) return found->second;
  RegionId outer = reader_.place_of(region).region;
  Facts result = outer.valid() ? facts(outer, twin).with(own_facts(region, twin)) : own_facts(region, twin);
  return facts_.emplace(key, std::move(result)).first->second;
}

void Prover::enter(RegionId region, Twin twin) { facts_[{region, twin.number}] = facts(reader_.place_of(region).region, twin); }

bool Prover::is_free(const Formula& formula) const {
  std::vector<bool> seen;
  std::vector<AtomId> atoms;
  reader_.terms().each_atom(formula, seen, atoms);
  return std::all_of(atoms.begin(), atoms.end(), [&](AtomId id) {
    const Atom& atom = reader_.terms()[id];
    return (atom.kind != AtomKind::Variable && atom.kind != AtomKind::Flag) || atom.is_free;
  });
}

Facts Prover::own_facts(RegionId region, Twin twin) {
  Facts facts;
  auto add = [&](Formula f) {
    facts.is_exact &= is_free(f);
    if (!f.is_true()) facts.formulas.push_back(std::move(f));
  };
  OpId id = reader_.place_of(region).op;
  if (!id.valid()) {
    if (region == reader_.kernel().body) add_contract(facts);
    return facts;
  }
  const Op& op = reader_.kernel().op(id);
  const auto& args = reader_.kernel().region(region).args;
  if (auto* launch = op.get<op::Launch>())
    for (size_t i = 0; i < args.size(); ++i) add(less(value(args[i], twin), value(launch->extents[i], twin)));
  if (auto* loop = op.get<op::For>()) {
    Linear index = value(args[0], twin), low = value(loop->low, twin), step = value(loop->step, twin);
    add(at_least(index, low));
    add(less(index, value(loop->high, twin)));
    if (step != Linear(1)) add(equal(reader_.terms().remainder(index - low, step), 0));
  }
  if (auto* branch = op.get<op::If>()) {
    Formula f = condition(branch->condition, twin);
    add(region == branch->then_body ? f : negation(f));
  }
  if (op.is<op::While>()) facts.is_exact = false;
  return facts;
}

namespace {

// A contract that holds has a value: nothing in it is divided by zero.
void each_divisor(const Kernel& kernel, ValueId v, const std::function<void(ValueId)>& f) {
  const Op* op = kernel.definition(v);
  if (!op) return;
  auto* binary = op->get<op::Binary>();
  if (binary && is_integer(kernel.type(v).element) && (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem)) f(binary->b);
  each_operand(op->data, [&](ValueId operand) { each_divisor(kernel, operand, f); });
}

}  // namespace

void Prover::add_contract(Facts& facts) {
  const Kernel& kernel = reader_.kernel();
  auto add = [&](Formula f) {
    if (!f.is_true()) facts.formulas.push_back(std::move(f));
  };
  for (const Requirement& r : kernel.requirements) {
    add(condition(r.condition));
    each_divisor(kernel, r.condition, [&](ValueId divisor) {
      Linear x = value(divisor);
      add(terms().range(x).low >= 0 ? at_least(x, 1) : negation(equal(x, 0)));
    });
  }
  for (const Param& param : kernel.params)
    for (ValueId extent : param.extents) {
      Linear x = value(extent);
      Interval range = terms().range(x);
      if (range.low < 0) add(at_least(x, 0));
      if (range.high > kLargestExtent) add(at_least(kLargestExtent, x));
    }
}

}  // namespace tilec::prove
