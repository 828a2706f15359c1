#include "prove/terms.h"

#include <bit>

namespace tilec::prove {

namespace {

constexpr int kMostRuns = 4, kLastBit = 61;
// A number that hangs on a long chain of decisions is any number of its type: what a question says would grow with the chain.
constexpr int kDeepest = 24, kDeep = 4;
constexpr size_t kMostParts = 128;  // of a product: it has the product of those of its factors
constexpr size_t kMostFactors = 8;  // extents, strides and indices; solvers count no steps while they multiply out longer ones

Interval quotient_range(Interval a, Interval b) {
  if (b.is_point() && b.low > 0) return floor_divide(a, b.low);
  if (b.low >= 1) return {std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, -1)};
  return a.low >= 0 && b.low >= 0 ? Interval{0, a.high} : Interval{};  // by zero: zero
}

Linear lost() {
  Linear sum;
  sum.is_lost = true;
  return sum;
}

}  // namespace

AtomId Terms::variable(std::string name, Interval range, bool is_free) {
  atoms_.push_back({.kind = AtomKind::Variable, .is_free = is_free, .name = std::move(name), .range = range});
  return {uint32_t(atoms_.size() - 1)};
}

AtomId Terms::truth_value(std::string name, bool is_free) {
  atoms_.push_back({.kind = AtomKind::Flag, .is_free = is_free, .name = std::move(name), .range = {0, 1}});
  return {uint32_t(atoms_.size() - 1)};
}

AtomId Terms::add(Atom atom) {
  if (atom.kind != AtomKind::Variable && atom.kind != AtomKind::Flag) return intern(std::move(atom));
  atoms_.push_back(std::move(atom));
  return {uint32_t(atoms_.size() - 1)};
}

AtomId Terms::intern(Atom atom) {
  std::string key(1, char('a' + int(atom.kind)));
  append_key(key, atom.a);
  append_key(key, atom.b);
  if (atom.kind == AtomKind::Choice) append_key(key, atom.condition);
  for (AtomId f : atom.factors) append_key(key, Linear(f));
  auto [found, is_new] = ids_.try_emplace(std::move(key), AtomId{uint32_t(atoms_.size())});
  if (!is_new) return found->second;
  atom.depth = depth(atom);
  atoms_.push_back(std::move(atom));
  return found->second;
}

int Terms::depth(const Linear& sum) const {
  int most = 0;
  for (const Linear::Part& part : sum.parts) most = std::max(most, atoms_[part.atom.index].depth);
  return most;
}

int Terms::depth(const Formula& f) const {
  if (f.kind == Formula::Kind::AtLeastZero) return depth(f.linear);
  int most = f.kind == Formula::Kind::Flag ? atoms_[f.flag.index].depth : 0;
  for (const Formula& part : f.parts) most = std::max(most, depth(part));
  return most;
}

int Terms::depth(const Atom& atom) const {
  int most = std::max({depth(atom.a), depth(atom.b), depth(atom.condition)});
  for (AtomId f : atom.factors) most = std::max(most, atoms_[f.index].depth);
  return most + 1;
}

Linear Terms::defined(Atom atom) { return depth(atom) > kDeepest ? lost() : Linear(intern(std::move(atom))); }

Linear Terms::monomial(std::vector<AtomId> factors) {
  if (factors.size() == 1) return factors[0];
  if (factors.size() > kMostFactors) return lost();
  std::sort(factors.begin(), factors.end());
  Interval range{1, 1};
  for (AtomId f : factors) range = range * atoms_[f.index].range;
  if (factors.size() == 2 && factors[0] == factors[1]) range.low = std::max<int64_t>(range.low, 0);
  return defined({.kind = AtomKind::Product, .range = range, .factors = std::move(factors)});
}

Linear Terms::product(const Linear& a, const Linear& b) {
  if (b.is_constant()) return a * b.constant;
  if (a.is_constant()) return b * a.constant;
  if (a.parts.size() * b.parts.size() > kMostParts) return lost();
  Linear sum = a * b.constant + b * a.constant - Linear(a.constant) * b.constant;
  auto factors_of = [&](AtomId id) {
    const Atom& atom = atoms_[id.index];
    return atom.kind == AtomKind::Product ? atom.factors : std::vector{id};
  };
  for (const Linear::Part& p : a.parts)
    for (const Linear::Part& q : b.parts) {
      std::vector<AtomId> factors = factors_of(p.atom), more = factors_of(q.atom);
      factors.insert(factors.end(), more.begin(), more.end());
      sum = sum + monomial(std::move(factors)) * p.factor * q.factor;
    }
  sum.is_lost |= a.is_lost || b.is_lost;
  return sum;
}

Linear Terms::quotient(const Linear& a, const Linear& b) {
  if (a.is_lost || b.is_lost) return lost();
  if (b.is_constant() && b.constant < 0) return quotient(-a, -b);
  if (!b.is_constant() || b.constant == 0) return divided(a, b, quotient_range(range(a), range(b)));
  // floor((d * x + y) / d) = x + floor(y / d), and y's constant is reduced as well.
  Linear whole, rest;
  for (const Linear::Part& part : a.parts) {
    int64_t q = floor_divide(part.factor, b.constant);
    if (part.factor == q * b.constant) whole = whole + Linear(part.atom) * q;
    else rest = rest + Linear(part.atom) * part.factor;
  }
  whole.constant += floor_divide(a.constant, b.constant);
  rest.constant = a.constant - floor_divide(a.constant, b.constant) * b.constant;
  Interval bounds = floor_divide(range(rest), b.constant);
  if (bounds.is_point()) return whole + bounds.low;
  return whole + divided(rest, b, bounds);
}

Linear Terms::divided(const Linear& a, const Linear& b, Interval range) {
  Linear q = defined({.kind = AtomKind::Quotient, .range = range, .a = a, .b = b});
  if (q.is_lost) return q;
  Linear times_divisor = product(q, b);
  atoms_[q.parts[0].atom.index].times_divisor = times_divisor;
  return q;
}

Linear Terms::remainder(const Linear& a, const Linear& b) { return a - product(b, quotient(a, b)); }

// Bits i to j - 1 are what is left of a / 2^i by 2^(j - i).
Linear Terms::masked(const Linear& a, int64_t mask) {
  if (mask < 0) return a - masked(a, ~mask);
  Linear sum;
  int runs = 0;
  for (uint64_t left = uint64_t(mask); left;) {
    int first = std::countr_zero(left), end = first + std::countr_one(left >> first);
    if (++runs > kMostRuns || end > kLastBit) return lost();
    sum = sum + quotient(a, int64_t(1) << first) * (int64_t(1) << first) - quotient(a, int64_t(1) << end) * (int64_t(1) << end);
    left = left >> end << end;
  }
  return sum;
}

Linear Terms::least(const Linear& a, const Linear& b) {
  if (a.is_lost || b.is_lost) return lost();
  Interval difference = range(a - b);
  if (difference.high <= 0 || a == b) return a;
  if (difference.low >= 0) return b;
  Interval x = range(a), y = range(b);
  Interval bounds{std::min(x.low, y.low), std::min(x.high, y.high)};
  bool is_ordered = a.parts < b.parts || (a.parts == b.parts && a.constant < b.constant);
  return defined({.kind = AtomKind::Least, .range = bounds, .a = is_ordered ? a : b, .b = is_ordered ? b : a});
}

Linear Terms::greatest(const Linear& a, const Linear& b) { return -least(-a, -b); }

Linear Terms::choice(const Formula& condition, const Linear& a, const Linear& b) {
  if (condition.is_true() || a == b) return a;
  if (condition.is_false()) return b;
  if (a.is_lost || b.is_lost) return lost();
  return defined({.kind = AtomKind::Choice, .range = hull(range(a), range(b)), .a = a, .b = b, .condition = condition});
}

Formula Terms::choice(const Formula& condition, const Formula& a, const Formula& b) {
  return any_of({all_of({condition, a}), all_of({negation(condition), b})});
}

Interval Terms::range(const Linear& sum) const {
  if (sum.is_lost) return {};
  Interval total{sum.constant, sum.constant};
  for (const Linear::Part& part : sum.parts)
    total = total + atoms_[part.atom.index].range * Interval{part.factor, part.factor};
  return total;
}

bool Terms::is_never_negative(const Linear& sum) const {
  if (sum.is_lost) return false;
  for (const Linear::Part& part : sum.parts) {
    const Interval& range = atoms_[part.atom.index].range;
    if (part.factor > 0 ? range.low == kMinusInfinity : range.high == kPlusInfinity) return false;
  }
  return range(sum).low >= 0;
}

Linear Terms::rewritten(const Linear& sum, AtomId atom, const Linear& by) {
  Linear result = substitute(sum, atom, by);
  for (const Linear::Part& part : sum.parts) {
    std::vector<AtomId> factors = atoms_[part.atom.index].factors;
    auto at = std::find(factors.begin(), factors.end(), atom);
    if (at == factors.end()) continue;
    factors.erase(at);
    Linear others = rewritten(monomial(std::move(factors)), atom, by);
    result = result - Linear(part.atom) * part.factor + product(others, by) * part.factor;
  }
  return result;
}

std::vector<Formula> Terms::definition(AtomId id) const {
  const Atom& atom = atoms_[id.index];
  Linear x(id);
  switch (atom.kind) {
    case AtomKind::Quotient:
      return {implication(at_least(atom.b, 1), all_of({at_least(atom.a, atom.times_divisor),
                                                       less(atom.a, atom.times_divisor + atom.b)}))};
    case AtomKind::Least:
      return {at_least(atom.a, x), at_least(atom.b, x), any_of({at_least(x, atom.a), at_least(x, atom.b)})};
    case AtomKind::Choice:
      return {implication(atom.condition, equal(x, atom.a)), implication(negation(atom.condition), equal(x, atom.b))};
    case AtomKind::Variable: case AtomKind::Flag: case AtomKind::Product: return {};
  }
  return {};
}

void Terms::each_atom(const Linear& sum, std::vector<bool>& seen, std::vector<AtomId>& out) const {
  seen.resize(atoms_.size());
  for (const Linear::Part& part : sum.parts) {
    if (seen[part.atom.index]) continue;
    seen[part.atom.index] = true;
    const Atom& atom = atoms_[part.atom.index];
    for (AtomId f : atom.factors) each_atom(Linear(f), seen, out);
    each_atom(atom.a, seen, out);
    each_atom(atom.b, seen, out);
    if (atom.kind == AtomKind::Choice) each_atom(atom.condition, seen, out);
    out.push_back(part.atom);
  }
}

void Terms::each_atom(const Formula& f, std::vector<bool>& seen, std::vector<AtomId>& out) const {
  if (f.kind == Formula::Kind::AtLeastZero) each_atom(f.linear, seen, out);
  if (f.kind == Formula::Kind::Flag) each_atom(Linear(f.flag), seen, out);
  for (const Formula& part : f.parts) each_atom(part, seen, out);
}

std::optional<int64_t> Terms::evaluate(AtomId id, const Model& model) const {
  // Definitions may be shared: deep ones are looked at once for a model.
  if (atoms_[id.index].depth < kDeep) return derive(id, model);
  if (auto found = model.derived.find(id.index); found != model.derived.end()) return found->second;
  return model.derived[id.index] = derive(id, model);
}

std::optional<int64_t> Terms::derive(AtomId id, const Model& model) const {
  const Atom& atom = atoms_[id.index];
  auto a = atom.kind >= AtomKind::Quotient ? evaluate(atom.a, model) : std::nullopt;
  auto b = atom.kind >= AtomKind::Quotient ? evaluate(atom.b, model) : std::nullopt;
  switch (atom.kind) {
    case AtomKind::Variable: case AtomKind::Flag: {
      const int64_t* found = model.find(id);
      return found ? std::optional(*found) : std::nullopt;
    }
    case AtomKind::Quotient: return a && b && *b != 0 ? std::optional(floor_divide(*a, *b)) : std::nullopt;
    case AtomKind::Least: return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
    case AtomKind::Choice: {
      auto condition = evaluate(atom.condition, model);
      return condition ? (*condition ? a : b) : std::nullopt;
    }
    case AtomKind::Product: break;
  }
  int64_t product = 1;
  for (AtomId f : atom.factors) {
    auto x = evaluate(f, model);
    if (!x || __builtin_mul_overflow(product, *x, &product)) return std::nullopt;
  }
  return product;
}

std::optional<int64_t> Terms::evaluate(const Linear& sum, const Model& model) const { return evaluate_without({}, sum, model); }

std::optional<int64_t> Terms::evaluate_without(AtomId left_out, const Linear& sum, const Model& model) const {
  if (sum.is_lost) return std::nullopt;
  int64_t total = sum.constant;
  for (const Linear::Part& part : sum.parts) {
    if (part.atom == left_out) continue;
    auto x = evaluate(part.atom, model);
    int64_t scaled;
    if (!x || __builtin_mul_overflow(*x, part.factor, &scaled) || __builtin_add_overflow(total, scaled, &total))
      return std::nullopt;
  }
  return total;
}

std::optional<bool> Terms::evaluate(const Formula& f, const Model& model) const {
  using Kind = Formula::Kind;
  if (f.kind == Kind::True || f.kind == Kind::False) return f.is_true();
  if (f.kind == Kind::AtLeastZero) {
    auto x = evaluate(f.linear, model);
    return x ? std::optional(*x >= 0) : std::nullopt;
  }
  if (f.kind == Kind::Flag) {
    const int64_t* found = model.find(f.flag);
    return found ? std::optional((*found != 0) != f.is_negated) : std::nullopt;
  }
  // One part that decides is enough, even where others have no value.
  bool decides = f.kind == Kind::Any, all_known = true;
  for (const Formula& part : f.parts) {
    auto x = evaluate(part, model);
    if (x == decides) return decides;
    all_known &= x.has_value();
  }
  return all_known ? std::optional(!decides) : std::nullopt;
}

}  // namespace tilec::prove
