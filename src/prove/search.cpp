// Proofs by sums: goal >= 0 follows when goal = sum of facts times positive factors + something that is never negative. Looked
// for backwards: a fact that cancels one atom of the goal leaves a smaller goal. Equalities are put in first, disjunctive facts
// are reduced to what is left of them, minimums and choices are split into their cases.
#include <numeric>
#include <unordered_set>

#include "prove/problem.h"

namespace tilec::prove {

namespace {

using Kind = Formula::Kind;
constexpr int kMostSplits = 3, kStepsForAlternative = 15, kMostProductSplits = 2, kStepsForAbsurdity = 40;
constexpr size_t kMostProducts = 24, kMostParts = 12, kMostPartsMultiplied = 4;

enum class Replaced : uint8_t { Variables, Quotients };

class Search {
 public:
  Search(Terms& terms, int steps) : terms_(terms), steps_(steps) {}

  void assume(const Formula& f) {
    if (f.kind == Kind::All)
      for (const Formula& part : f.parts) assume(part);
    if (f.kind == Kind::AtLeastZero) inequalities_.push_back(f.linear);
    if (f.kind == Kind::Flag) flags_.push_back(f);
    if (f.kind == Kind::Any) alternatives_.push_back(f);
    if (f.kind == Kind::False) is_impossible_ = true;
  }

  bool proves(const Formula& goal, int splits) {
    if (is_impossible_) return true;
    switch (goal.kind) {
      case Kind::True: return true;
      case Kind::False: return contradicts();
      case Kind::Flag:
        return std::any_of(flags_.begin(), flags_.end(), [&](const Formula& f) {
          return f.flag == goal.flag && f.is_negated == goal.is_negated;
        });
      case Kind::AtLeastZero: return !goal.linear.is_lost && proves_sum(goal.linear, splits);
      case Kind::All:
        return std::all_of(goal.parts.begin(), goal.parts.end(), [&](const Formula& f) { return proves(f, splits); });
      case Kind::Any: break;
    }
    return proves_any(goal, splits);
  }

  bool proves_any(const Formula& goal, int splits) {
    if (std::any_of(goal.parts.begin(), goal.parts.end(), [&](const Formula& f) { return is_known(f); })) return true;
    // A part that leads nowhere leaves steps for the others.
    int share = std::max(kStepsForAlternative, steps_ / int(goal.parts.size()));
    for (const Formula& part : goal.parts) {
      int before = std::exchange(steps_, std::min(steps_, share));
      int given = steps_;
      bool holds = proves(part, splits);
      steps_ = before - (given - steps_);
      if (holds) return true;
    }
    if (splits == 0) return false;
    // One part holds where the others do not.
    for (size_t i = 0; i < goal.parts.size(); ++i) {
      Search other = *this;
      for (size_t j = 0; j < goal.parts.size(); ++j)
        if (j != i) other.assume(negation(goal.parts[j]));
      if (other.proves(goal.parts[i], 0)) return true;
      steps_ = other.steps_;
    }
    return false;
  }

  // A disjunction of which all parts but one are impossible is that part.
  void reduce_alternatives() {
    std::vector<Formula> open = std::move(alternatives_);
    alternatives_.clear();
    for (const Formula& f : open) {
      if (f.kind != Kind::Any) {  // an equality has decided it
        assume(f);
        continue;
      }
      std::vector<Formula> left;
      for (const Formula& part : f.parts) {
        int steps = std::exchange(steps_, kStepsForAlternative);
        if (!proves(negation(part), 0)) left.push_back(part);
        steps_ = steps;
      }
      if (left.empty()) is_impossible_ = true;
      else if (left.size() == 1) assume(left[0]);
      else alternatives_.push_back(f);
    }
  }

  // Uses every equality to replace one of its atoms, a variable or, where none will do, a quotient.
  Formula use_equalities(Formula goal, Replaced kinds = Replaced::Variables) {
    for (size_t i = 0; i < inequalities_.size(); ++i) {
      const Linear zero = inequalities_[i];
      if (zero.parts.empty() || std::find(inequalities_.begin(), inequalities_.end(), -zero) == inequalities_.end()) continue;
      AtomId atom = replaceable(zero, AtomKind::Variable);
      if (!atom.valid() && kinds == Replaced::Quotients) atom = replaceable(zero, AtomKind::Quotient);
      if (!atom.valid()) continue;
      Linear by = Linear(atom) - zero * zero.factor_of(atom);
      // The range of the atom is not to be lost with it.
      Interval range = terms_[atom].range;
      for (Linear& f : inequalities_) f = tightened(rewritten(f, atom, by));
      if (range.low != kMinusInfinity) inequalities_.push_back(tightened(by - range.low));
      if (range.high != kPlusInfinity) inequalities_.push_back(tightened(Linear(range.high) - by));
      for (Formula& f : alternatives_) f = rewritten(f, atom, by);
      goal = rewritten(goal, atom, by);
      for (const Linear& f : inequalities_) is_impossible_ |= f.parts.empty() && !f.is_lost && f.constant < 0;
      std::erase_if(inequalities_, [](const Linear& f) { return f.parts.empty() || f.is_lost; });
      i = size_t(-1);
    }
    return goal;
  }

  // Do the facts rule each other out, once all that is equal is one? What products of one factor have between them is decided case
  // by case: `u * f` and `v * f` are the same, or at least f apart. So digits and strides tell numbers apart: where quotients and
  // remainders agree, the numbers do.
  bool is_absurd(int splits) {
    use_equalities(truth(false), Replaced::Quotients);
    if (is_impossible_) return true;
    reduce_alternatives();
    use_equalities(truth(false), Replaced::Quotients);
    multiply_facts();
    if (is_impossible_ || contradicts(kStepsForAbsurdity)) return true;
    if (splits == 0) return false;
    std::optional<ProductPair> pair = pair_of_products();
    if (!pair) return false;
    asked_.push_back(pair->distance);
    auto is_case_absurd = [&](const Linear& distance) {
      Search other = *this;
      other.assume(at_least_zero(distance));
      other.assume(at_least_zero(terms_.product(distance, pair->common)));
      return other.is_absurd(splits - 1);
    };
    Search same = *this;
    same.assume(equal(pair->distance, 0));
    return is_case_absurd(pair->distance - 1) && is_case_absurd(-pair->distance - 1) && same.is_absurd(splits - 1);
  }

 private:
  // An atom of the equality `zero` that can be put as the rest of it.
  AtomId replaceable(const Linear& zero, AtomKind kind) {
    for (const Linear::Part& p : zero.parts) {
      if ((p.factor != 1 && p.factor != -1) || terms_[p.atom].kind != kind) continue;
      Linear by = Linear(p.atom) - zero * p.factor;
      // It must not stand in a product on the other side as well.
      if (rewritten(by, p.atom, 0) == by) return p.atom;
    }
    return {};
  }

  struct ProductPair {
    Linear distance;  // of the factors that differ
    Linear common;    // the product of the others, never negative
  };
  std::vector<AtomId> products() const {
    std::vector<AtomId> all;
    for (const Linear& f : inequalities_)
      for (const Linear::Part& part : f.parts)
        if (terms_[part.atom].kind == AtomKind::Product && std::ranges::find(all, part.atom) == all.end() && all.size() < kMostProducts) all.push_back(part.atom);
    return all;
  }
  std::optional<ProductPair> pair_of_products() {
    std::vector<AtomId> all = products();
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i + 1; j < all.size(); ++j) {
        std::vector<AtomId> a = terms_[all[i]].factors, b = terms_[all[j]].factors;
        std::vector<AtomId> common, only_a, only_b;
        std::ranges::set_intersection(a, b, std::back_inserter(common));
        std::ranges::set_difference(a, b, std::back_inserter(only_a));
        std::ranges::set_difference(b, a, std::back_inserter(only_b));
        if (common.empty() || only_a.size() != 1 || only_b.size() != 1) continue;
        Linear distance = Linear(only_b[0]) - Linear(only_a[0]);
        bool is_asked = std::ranges::find(asked_, distance) != asked_.end() || std::ranges::find(asked_, -distance) != asked_.end();
        if (is_asked || !std::ranges::all_of(common, [&](AtomId f) { return is_at_least(Linear(f), 0); })) continue;
        Linear shared = 1;
        for (AtomId f : common) shared = terms_.product(shared, Linear(f));
        return ProductPair{distance, shared};
      }
    return std::nullopt;
  }

  // Facts times factors of products that are never negative, where that makes no product that is not there yet.
  void multiply_facts() {
    const std::vector<AtomId> all = products();
    const std::vector<Linear> facts = inequalities_;
    std::vector<AtomId> factors;
    for (AtomId product : all)
      for (AtomId f : terms_[product].factors)
        if (std::ranges::find(factors, f) == factors.end() && is_at_least(Linear(f), 0)) factors.push_back(f);
    size_t added = 0;
    for (AtomId factor : factors)
      for (const Linear& f : facts) {
        if (added == kMostProducts || f.parts.size() > kMostPartsMultiplied) continue;
        Linear times = terms_.product(f, Linear(factor));
        auto is_there = [&](const Linear::Part& p) { return terms_[p.atom].kind != AtomKind::Product || std::ranges::find(all, p.atom) != all.end(); };
        if (times.is_lost || !std::ranges::all_of(times.parts, is_there) || std::ranges::find(inequalities_, times) != inequalities_.end()) continue;
        inequalities_.push_back(std::move(times)), ++added;
      }
  }

  // Do the facts rule each other out: one of them, or a flag, holds and does not?
  bool contradicts(int most_steps = kStepsForAlternative) {
    for (const Formula& a : flags_)
      for (const Formula& b : flags_)
        if (a.flag == b.flag && a.is_negated != b.is_negated) return true;
    const std::vector<Linear> facts = inequalities_;
    return std::any_of(facts.begin(), facts.end(), [&](const Linear& f) {
      int before = std::exchange(steps_, std::min(steps_, most_steps)), given = steps_;
      bool holds = !f.is_lost && cancels(-f - 1);
      steps_ = before - (given - steps_);
      return holds;
    });
  }

  // A fact says so in as many words.
  bool is_known(const Formula& goal) const {
    if (goal.kind != Kind::AtLeastZero || goal.linear.is_lost) return false;
    return std::any_of(inequalities_.begin(), inequalities_.end(), [&](const Linear& f) {
      return f.constant <= goal.linear.constant && !f.is_lost && f.parts == goal.linear.parts;
    });
  }

  Linear rewritten(const Linear& sum, AtomId atom, const Linear& by) { return terms_.rewritten(sum, atom, by); }
  Formula rewritten(Formula f, AtomId atom, const Linear& by) {
    if (f.kind == Kind::AtLeastZero) return at_least_zero(rewritten(f.linear, atom, by));
    for (Formula& part : f.parts) part = rewritten(part, atom, by);
    return f.kind == Kind::All ? all_of(std::move(f.parts)) : f.kind == Kind::Any ? any_of(std::move(f.parts)) : f;
  }

  bool proves_sum(const Linear& goal, int splits) {
    if (terms_.is_never_negative(goal)) return true;
    add_products(goal);
    if (cancels(goal)) return true;
    if (splits == 0) return false;
    for (const Linear::Part& part : goal.parts) {
      const Atom& atom = terms_[part.atom];
      if (atom.kind == AtomKind::Least && part.factor > 0)
        return case_holds(goal, part.atom, atom.a, at_least(atom.b, atom.a), splits) &&
               case_holds(goal, part.atom, atom.b, at_least(atom.a, atom.b), splits);
      if (atom.kind == AtomKind::Choice)
        return case_holds(goal, part.atom, atom.a, atom.condition, splits) &&
               case_holds(goal, part.atom, atom.b, negation(atom.condition), splits);
    }
    return false;
  }

  bool case_holds(const Linear& goal, AtomId atom, const Linear& by, const Formula& condition, int splits) {
    Search other = *this;
    other.assume(condition);
    bool holds = other.proves(at_least_zero(substitute(goal, atom, by)), splits - 1);
    steps_ = other.steps_;
    return holds;
  }

  // A fact times a factor that is never negative is a fact; of use for the products that stand in the goal.
  void add_products(const Linear& goal) {
    std::vector<Linear> sums = inequalities_;
    size_t added = 0;
    for (const Linear::Part& part : goal.parts) {
      const std::vector<AtomId> factors = terms_[part.atom].factors;
      if (factors.size() != 2) continue;
      for (int side : {0, 1})
        for (const Linear& f : sums) {
          if (terms_[factors[1 - side]].range.low < 0 || f.factor_of(factors[side]) == 0 || added == kMostProducts) continue;
          Linear product = terms_.product(f, Linear(factors[1 - side]));
          if (!product.is_lost) inequalities_.push_back(std::move(product)), ++added;
        }
    }
  }

  bool cancels(const Linear& start) {
    std::vector<Linear> open{tightened(start)};
    size_t at = 0;
    std::unordered_set<uint64_t> seen;  // two sums of one hash lose a way to a proof, nothing else
    bool is_found = terms_.is_never_negative(start);
    auto push = [&](Linear next) {
      if (is_found || next.is_lost || next.parts.size() > kMostParts) return;
      next = tightened(std::move(next));
      is_found = terms_.is_never_negative(next);
      if (!is_found && seen.insert(hash_of(next)).second) open.push_back(std::move(next));
    };
    while (!is_found && at < open.size() && steps_ > 0) {
      --steps_;
      const Linear goal = std::move(open[at++]);
      for (const Linear::Part& part : goal.parts) {
        for (const Linear& f : inequalities_) {
          int64_t factor = f.factor_of(part.atom);
          if (factor == 0 || (factor > 0) != (part.factor > 0)) continue;
          int64_t common = std::gcd(factor, part.factor);
          push(combined(goal, std::abs(factor) / common, f, -std::abs(part.factor) / common));
        }
        reduce_quotient(goal, part, push);
      }
      multiply_positive(goal, push);
    }
    return is_found;
  }

  // c - floor(a / b) >= 0 follows from b * c + b - 1 - a >= 0, floor(a / b) - c >= 0 from a - b * c >= 0, where b >= 1.
  template <class Push> void reduce_quotient(const Linear& goal, const Linear::Part& part, Push&& push) {
    const Atom& atom = terms_[part.atom];
    if (atom.kind != AtomKind::Quotient || atom.b.is_constant() || std::abs(part.factor) != 1) return;
    Linear rest = goal - Linear(part.atom) * part.factor;
    if (is_inside_ || !is_positive(atom.b)) return;
    if (part.factor < 0) push(terms_.product(atom.b, rest) + atom.b - 1 - atom.a);
    else push(atom.a + terms_.product(atom.b, rest));
  }

  // x - 1 >= 0 follows from x * y - 1 >= 0 where y >= 0.
  template <class Push> void multiply_positive(const Linear& goal, Push&& push) {
    if (goal.parts.size() != 1 || goal.parts[0].factor != 1 || goal.constant != -1) return;
    for (const Linear& f : inequalities_)
      for (const Linear::Part& part : f.parts) {
        const std::vector<AtomId>& factors = terms_[part.atom].factors;
        for (size_t side : {0, 1})
          if (factors.size() == 2 && factors[side] == goal.parts[0].atom && terms_[factors[1 - side]].range.low >= 0)
            push(Linear(part.atom) - 1);
      }
  }

  bool is_positive(const Linear& x) { return is_at_least(x, 1); }
  bool is_at_least(const Linear& x, int64_t least) {
    if (terms_.range(x).low >= least) return true;
    Search other = *this;
    other.is_inside_ = true;
    bool holds = other.proves(at_least(x, least), 0);
    steps_ = other.steps_;
    return holds;
  }

  Terms& terms_;
  int steps_;
  bool is_inside_ = false;      // a proof for another proof: it starts no further ones
  bool is_impossible_ = false;  // facts that rule each other out were met
  std::vector<Linear> inequalities_;
  std::vector<Formula> flags_, alternatives_;
  std::vector<Linear> asked_;   // distances of factors that were split into cases
};

}  // namespace

bool follows(Terms& terms, const Problem& problem, int steps, Cases cases) {
  if (problem.goal.is_true()) return true;
  Search search(terms, steps);
  for (const Formula& fact : problem.facts) {
    if (fact.is_false()) return true;  // the place is never reached
    search.assume(fact);
  }
  Formula goal = search.use_equalities(problem.goal);
  if (cases == Cases::Whole) return search.proves(goal, 0);
  Search first = search;
  if (first.proves(goal, 0)) return true;
  search.reduce_alternatives();
  return search.proves(goal, kMostSplits);
}

bool is_never_broken(Terms& terms, const Problem& problem, int steps) {
  Search search(terms, steps);
  for (const Formula& fact : problem.facts) search.assume(fact);
  search.assume(negation(problem.goal));
  return search.is_absurd(kMostProductSplits);
}

}  // namespace tilec::prove
