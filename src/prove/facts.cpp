// What holds inside a region, from the operations around it.
#include "ir/sources.h"
#include "prove/prover.h"

namespace tilec::prove {

using namespace ir;

constexpr int64_t kMostTurns = int64_t(1) << 48;  // of a thread, as in growth.h

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
  if (auto* loop = op.get<op::While>()) {
    add_turn(facts, *loop, region, twin);
    facts.is_exact = false;
  }
  return facts;
}

namespace {

// Does no turn make the carried value smaller?
bool never_falls(const Kernel& kernel, ValueId carried, ValueId next) {
  auto* sum = kernel.defined_by<op::Binary>(next);
  auto step = sum && sum->fn == BinaryFn::Add && sum->a == carried ? kernel.constant(sum->b) : std::nullopt;
  return step && step->i >= 0;
}

}  // namespace

// What each turn adds to a carried `int`, the same in all turns, where the sum stays within 64 bits: it is small, or stands below an end.
std::optional<Linear> Prover::step_of_turns(const op::While& loop, size_t carried, Twin twin) {
  const Kernel& kernel = reader_.kernel();
  ValueId now = kernel.region(loop.body).args[carried], next = kernel.terminator(loop.body).as<op::Yield>().values[carried];
  Linear step = value(next, twin) - value(now, twin);
  auto* sum = kernel.defined_by<op::Binary>(next);
  if (auto end = end_of_count(kernel, loop, carried); end && sum && sum->fn == BinaryFn::Add && sum->a == now) {
    Interval highest = reader_.terms().range(value(*end, twin) + value(sum->b, twin));
    if (highest.high < kPlusInfinity && reader_.terms().range(value(sum->b, twin)).low >= 0) step = value(sum->b, twin);
  }
  bool is_same = !step.is_lost && step != Linear() && !reader_.depends_on(step, loop.body) && !reader_.depends_on(step, loop.condition);
  return is_same ? std::optional(step) : std::nullopt;
}

// A turn: its condition holds in its body, what the condition got is what the body gets, and what only grows is no less than
// it was before the loop.
void Prover::add_turn(Facts& facts, const op::While& loop, RegionId region, Twin twin) {
  const Kernel& kernel = reader_.kernel();
  const auto &tested = kernel.region(loop.condition).args, &args = kernel.region(loop.body).args;
  const auto& passed = kernel.terminator(loop.condition).as<op::Yield>().values;
  const auto& yields = kernel.terminator(loop.body).as<op::Yield>().values;
  auto add = [&](Formula f) {
    if (!f.is_true()) facts.formulas.push_back(std::move(f));
  };
  for (size_t i = loop.step.valid() ? 1 : 0; i < args.size(); ++i) {
    if (kernel.type(args[i]) != scalar_type(Scalar::Index) || passed[i + 1] != tested[i]) continue;
    if (region == loop.body) add(equal(value(args[i], twin), value(tested[i], twin)));
    if (never_falls(kernel, args[i], yields[i])) add(at_least(value(tested[i], twin), value(loop.inits[i], twin)));
    if (auto step = step_of_turns(loop, i, twin)) {
      Linear turns = reader_.terms().variable("turns", {0, kMostTurns}, false);
      add(equal(value(tested[i], twin), value(loop.inits[i], twin) + reader_.terms().product(turns, *step)));
    }
  }
  if (region != loop.body) return;
  if (!loop.step.valid()) return add(condition(passed[0], twin));
  Linear index = value(args[0], twin), low = value(loop.inits[0], twin), step = value(loop.step, twin);
  add(at_least(index, low));
  if (auto end = end_of_count(kernel, loop)) add(less(index, value(*end, twin)));
  if (step != Linear(1)) add(equal(reader_.terms().remainder(index - low, step), 0));
}

namespace {

// A contract that holds has a value: nothing in it is divided by zero.
void each_divisor(const Kernel& kernel, ValueId v, std::set<ValueId>& seen, const std::function<void(ValueId)>& f) {
  each_source(kernel, v, seen, [&](ValueId x) {
    auto* binary = kernel.defined_by<op::Binary>(x);
    if (binary && is_integer(kernel.type(x).element) && (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem)) f(binary->b);
  });
}

}  // namespace

namespace {

// Does it hang on integers of the caller's? What is not followed of such a contract may forbid the numbers of an example.
bool hangs_on_integers(const Kernel& kernel, ValueId condition) {
  bool found = false;
  each_source(kernel, condition, [&](ValueId v) {
    const Op* op = kernel.definition(v);
    found |= op ? op->is<op::If>() || op->is<op::For>() || op->is<op::While>() : is_integer(kernel.type(v).element) && kernel.type(v).is_scalar();
  });
  return found;
}

}  // namespace

void Prover::add_contract(Facts& facts) {
  const Kernel& kernel = reader_.kernel();
  auto add = [&](Formula f) {
    if (!f.is_true()) facts.formulas.push_back(std::move(f));
  };
  std::set<ValueId> seen;
  for (const Requirement& r : kernel.requirements) {
    Formula told = condition(r.condition);
    facts.is_exact &= is_free(told) || !hangs_on_integers(kernel, r.condition);
    add(std::move(told));
    each_divisor(kernel, r.condition, seen, [&](ValueId divisor) {
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
