// For divisors that the facts show to be 1 or more:
//   floor(floor(a / b) / c) = floor(a / (b * c))            first all quotients become such, of their first number,
//   floor((b * x + y) / b) = x + floor(y / b)
//   floor(a / (b * c)) = floor(floor(a / b) / c)            then each is made of the one with the next smaller divisor.
// Where a divisor may be zero, a quotient stays what it is.
#include "prove/digits.h"

#include <algorithm>
#include <functional>
#include <set>

namespace tilec::prove {

namespace {

using Kind = Formula::Kind;
constexpr int kStepsForSign = 60;

// A divisor: a number times atoms.
struct Monomial {
  int64_t number = 1;
  std::vector<AtomId> factors;  // in order
  friend auto operator<=>(const Monomial&, const Monomial&) = default;
};

std::optional<Monomial> monomial_of(const Terms& terms, const Linear& sum) {
  if (sum.is_constant() && sum.constant > 0) return Monomial{sum.constant, {}};
  if (sum.is_lost || sum.parts.size() != 1 || sum.constant != 0) return std::nullopt;
  AtomId atom = sum.parts[0].atom;
  return Monomial{sum.parts[0].factor, terms[atom].kind == AtomKind::Product ? terms[atom].factors : std::vector{atom}};
}

// a / b, where that is one.
std::optional<Monomial> ratio(const Monomial& a, const Monomial& b) {
  if (a.number % b.number != 0 || !std::ranges::includes(a.factors, b.factors)) return std::nullopt;
  Monomial left{a.number / b.number, {}};
  std::ranges::set_difference(a.factors, b.factors, std::back_inserter(left.factors));
  return left;
}

Linear linear_of(Terms& terms, const Monomial& m) {
  Linear product = m.number;
  for (AtomId f : m.factors) product = terms.product(product, Linear(f));
  return product;
}

// Terms that are made of other terms, in the order of these, with quotients of one's own.
class Copy {
 public:
  using Divide = std::function<Linear(AtomId quotient)>;
  Copy(const Terms& from, Terms& to) : from_(from), to_(to) {}

  void run(const Divide& divide) {
    for (uint32_t i = 0; i < from_.size(); ++i) {
      const Atom& atom = from_[{i}];
      made_.push_back(atom.kind == AtomKind::Quotient ? divide({i}) : of(atom));
      is_lost_ |= made_.back().is_lost;
    }
  }
  bool is_lost() const { return is_lost_; }

  Linear of(const Linear& sum) const {
    Linear result = sum.constant;
    result.is_lost = sum.is_lost;
    for (const Linear::Part& part : sum.parts) result = result + made_[part.atom.index] * part.factor;
    return result;
  }
  Formula of(const Formula& f) const {
    if (f.kind == Kind::AtLeastZero) return at_least_zero(of(f.linear));
    if (f.kind == Kind::Flag) return flag(made_[f.flag.index].parts[0].atom, f.is_negated);
    std::vector<Formula> parts;
    for (const Formula& part : f.parts) parts.push_back(of(part));
    return f.kind == Kind::All ? all_of(std::move(parts)) : f.kind == Kind::Any ? any_of(std::move(parts)) : f;
  }

 private:
  Linear of(const Atom& atom) {
    switch (atom.kind) {
      case AtomKind::Variable: case AtomKind::Flag: return to_.add(atom);
      case AtomKind::Least: return to_.least(of(atom.a), of(atom.b));
      case AtomKind::Choice: return to_.choice(of(atom.condition), of(atom.a), of(atom.b));
      case AtomKind::Product: case AtomKind::Quotient: break;
    }
    Linear product = 1;
    for (AtomId f : atom.factors) product = to_.product(product, made_[f.index]);
    return product;
  }

  const Terms& from_;
  Terms& to_;
  std::vector<Linear> made_;  // by atom
  bool is_lost_ = false;
};

class Rewriting {
 public:
  explicit Rewriting(Question& question) : old_(question) {}

  std::optional<Digits> run() {
    if (!has_candidates()) return std::nullopt;
    Copy first(old_.terms, flat_);
    first.run([&](AtomId q) { return flattened(first, q); });
    if (first.is_lost()) return std::nullopt;
    for (uint32_t i = 0; i < flat_.size(); ++i)
      if (flat_[{i}].kind == AtomKind::Quotient && is_positive(flat_[{i}].b))
        if (auto divisor = monomial_of(flat_, flat_[{i}].b)) families_[key(flat_[{i}].a)].push_back(*divisor);
    Digits digits;
    Copy second(flat_, digits.question.terms);
    second.run([&](AtomId q) { return nested(second, digits.question.terms, q); });
    if (second.is_lost() || !is_changed(first, second, digits.question.terms)) return std::nullopt;
    state(digits, [&](const auto& x) { return second.of(first.of(x)); });
    return digits;
  }

 private:
  template <class T> static std::string key(const T& sum_or_formula) {
    std::string bytes;
    append_key(bytes, sum_or_formula);
    return bytes;
  }

  // Two quotients at least.
  bool has_candidates() const {
    int count = 0;
    for (AtomId id : old_.problem.atoms) count += old_.terms[id].kind == AtomKind::Quotient;
    return count > 1;
  }

  // Is the divisor, of the question as it was asked, 1 or more?
  bool is_shown_positive(const Linear& divisor) {
    if (old_.terms.range(divisor).low >= 1) return true;
    auto [at, is_new] = shown_.try_emplace(key(divisor), false);
    if (!is_new) return at->second;
    auto follow = [&](const Linear& x) { return follows(old_.terms, {old_.problem.facts, at_least(x, 1), {}, {}}, kStepsForSign, Cases::Whole); };
    auto m = monomial_of(old_.terms, divisor);
    bool holds = m && m->number > 0 && m->factors.size() > 1
                     ? std::ranges::all_of(m->factors, [&](AtomId f) { return is_shown_positive(Linear(f)); }) : follow(divisor);
    return shown_[key(divisor)] = holds;
  }
  bool is_positive(const Linear& divisor) const { return flat_.range(divisor).low >= 1 || positive_.contains(key(divisor)); }

  Linear flattened(const Copy& copy, AtomId id) {
    const Atom& q = old_.terms[id];
    Linear a = copy.of(q.a), b = copy.of(q.b);
    if (!is_shown_positive(q.b)) return flat_.quotient(a, b);
    positive_.insert(key(b));
    return divided(a, b);
  }
  // By a positive number.
  Linear divided(const Linear& a, const Linear& b) {
    auto divisor = monomial_of(flat_, b);
    Linear whole, rest = a.constant;
    for (const Linear::Part& part : a.parts) {
      auto m = monomial_of(flat_, Linear(part.atom) * part.factor);
      auto left = m && divisor && !divisor->factors.empty() ? ratio(*m, *divisor) : std::nullopt;
      if (left) whole = whole + linear_of(flat_, *left);
      else rest = rest + Linear(part.atom) * part.factor;
    }
    if (rest.parts.size() == 1 && rest.constant == 0 && rest.parts[0].factor == 1) {
      const Atom inner = flat_[rest.parts[0].atom];
      Linear both = inner.kind == AtomKind::Quotient && is_positive(inner.b) ? flat_.product(inner.b, b) : Linear();
      if (both != Linear() && !both.is_lost) {
        positive_.insert(key(both));
        return whole + divided(inner.a, both);
      }
    }
    return whole + flat_.quotient(rest, b);
  }

  Linear nested(const Copy& copy, Terms& terms, AtomId id) {
    const Atom& q = flat_[id];
    auto divisor = is_positive(q.b) ? monomial_of(flat_, q.b) : std::nullopt;
    if (!divisor) return terms.quotient(copy.of(q.a), copy.of(q.b));
    return chained(copy, terms, copy.of(q.a), families_[key(q.a)], *divisor);
  }
  Linear chained(const Copy& copy, Terms& terms, const Linear& a, const std::vector<Monomial>& family, const Monomial& divisor) {
    const Monomial* before = nullptr;
    for (const Monomial& m : family) {
      if (m == divisor || !is_ratio_positive(divisor, m)) continue;
      if (!before || std::pair(m.factors.size(), m.number) > std::pair(before->factors.size(), before->number)) before = &m;
    }
    if (!before) return quotient_of_positive(terms, a, made(copy, terms, divisor));
    return quotient_of_positive(terms, chained(copy, terms, a, family, *before), made(copy, terms, *ratio(divisor, *before)));
  }
  static Linear made(const Copy& copy, Terms& terms, const Monomial& m) {
    Linear product = m.number;
    for (AtomId f : m.factors) product = terms.product(product, copy.of(Linear(f)));
    return product;
  }
  // Both are positive, so is their ratio where it is whole.
  static bool is_ratio_positive(const Monomial& a, const Monomial& b) {
    auto left = ratio(a, b);
    return left && left->number > 0;
  }
  Linear quotient_of_positive(Terms& terms, const Linear& a, const Linear& b) {
    known_divisors_.insert(key(b));
    return terms.quotient(a, b);
  }

  bool is_changed(const Copy& first, const Copy& second, const Terms& terms) const {
    auto now = [&](const Linear& sum) { return second.of(first.of(sum)); };
    return std::ranges::any_of(old_.problem.atoms, [&](AtomId id) {
      const Atom& q = old_.terms[id];
      if (q.kind != AtomKind::Quotient) return false;
      Linear made = now(Linear(id));
      if (made.parts.size() != 1 || made.constant != 0 || terms[made.parts[0].atom].kind != AtomKind::Quotient) return true;
      const Atom& atom = terms[made.parts[0].atom];
      return atom.a != now(q.a) || atom.b != now(q.b);
    });
  }

  // The facts, but what the old quotients were defined by, and what the new ones are.
  template <class F> void state(Digits& digits, F&& now) {
    std::set<std::string> defined;  // definitions stand among the facts in parts
    auto drop = [&](const Formula& f) {
      if (f.kind != Kind::All) defined.insert(key(f));
      for (const Formula& part : f.parts)
        if (f.kind == Kind::All) defined.insert(key(part));
    };
    for (AtomId id : old_.problem.atoms)
      for (const Formula& f : old_.terms.definition(id)) drop(f);
    Problem& problem = digits.question.problem;
    Terms& terms = digits.question.terms;
    auto take = [&](const Formula& f) {
      if (f.kind == Kind::All) problem.facts.insert(problem.facts.end(), f.parts.begin(), f.parts.end());
      else if (!f.is_true()) problem.facts.push_back(f);
    };
    for (const Formula& fact : old_.problem.facts)
      if (!defined.contains(key(fact))) take(now(fact));
    problem.goal = now(old_.problem.goal);
    std::vector<bool> seen;
    for (const Formula& fact : problem.facts) terms.each_atom(fact, seen, problem.atoms);
    terms.each_atom(problem.goal, seen, problem.atoms);
    for (AtomId id : problem.atoms) {
      const Atom& atom = terms[id];
      if (atom.kind == AtomKind::Quotient && known_divisors_.contains(key(atom.b))) {
        take(at_least(atom.a, atom.times_divisor));
        take(less(atom.a, atom.times_divisor + atom.b));
        take(at_least(atom.b, 1));
      } else {
        for (const Formula& f : terms.definition(id)) take(f);
      }
    }
    for (AtomId id : old_.problem.atoms)
      if (AtomKind kind = old_.terms[id].kind; kind == AtomKind::Variable || kind == AtomKind::Flag)
        digits.variables.push_back({now(Linear(id)).parts[0].atom, id});
  }

  Question& old_;
  Terms flat_;
  std::map<std::string, bool> shown_;
  std::set<std::string> positive_, known_divisors_;  // of flat terms, of new ones
  std::map<std::string, std::vector<Monomial>> families_;
};

}  // namespace

std::optional<Digits> by_digits(Question& question) { return Rewriting(question).run(); }

}  // namespace tilec::prove
