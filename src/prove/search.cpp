// Proofs by sums: goal >= 0 follows when goal = sum of facts times positive factors + something that is never negative. Looked
// for backwards: a fact that cancels one atom of the goal leaves a smaller goal. Equalities are put in first, disjunctive facts
// are reduced to what is left of them, minimums and choices are split into their cases.
#include "prove/search.h"

namespace tilec::prove {

namespace {

constexpr int kMostSplits = 3, kMostProductSplits = 2;

}  // namespace

void Search::assume(const Formula& f) {
  signs_.clear();
  if (f.kind == Kind::All)
    for (const Formula& part : f.parts) assume(part);
  if (f.kind == Kind::AtLeastZero) inequalities_.push_back(f.linear);
  if (f.kind == Kind::Flag) flags_.push_back(f);
  if (f.kind == Kind::Any) alternatives_.push_back(f);
  if (f.kind == Kind::False) is_impossible_ = true;
}

bool Search::proves(const Formula& goal, int splits) {
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

bool Search::proves_any(const Formula& goal, int splits) {
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

// Of nothing but a minimum, a maximum or a choice: its cases tell more than a sum does.
bool Search::is_of_choice(const Formula& f) const {
  if (f.kind != Kind::AtLeastZero || f.linear.parts.size() != 1) return false;
  AtomKind kind = terms_[f.linear.parts[0].atom].kind;
  return kind == AtomKind::Least || kind == AtomKind::Choice;
}

// A disjunction of which all parts but one are impossible is that part.
void Search::reduce_alternatives() {
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
      if (!proves(negation(part), is_of_choice(part) ? 1 : 0)) left.push_back(part);
      steps_ = steps;
    }
    if (left.empty()) is_impossible_ = true;
    else if (left.size() == 1) assume(left[0]);
    else alternatives_.push_back(f);
  }
}

// Uses every equality to replace one of its atoms, a variable or, where none will do, a quotient.
Formula Search::use_equalities(Formula goal, Replaced kinds) {
  for (size_t i = 0; i < inequalities_.size(); ++i) {
    const Linear zero = inequalities_[i];
    if (zero.parts.empty() || std::find(inequalities_.begin(), inequalities_.end(), -zero) == inequalities_.end()) continue;
    AtomId atom = replaceable(zero, AtomKind::Variable);
    if (!atom.valid() && kinds == Replaced::Quotients) atom = replaceable(zero, AtomKind::Quotient);
    if (!atom.valid()) continue;
    goal = replaced(std::move(goal), atom, Linear(atom) - zero * zero.factor_of(atom));
    i = size_t(-1);
  }
  return goal;
}

// Puts `by` for an atom that is equal to it.
Formula Search::replaced(Formula goal, AtomId atom, const Linear& by) {
  // The range of the atom is not to be lost with it.
  Interval range = terms_[atom].range;
  for (Linear& f : inequalities_) f = tightened(rewritten(f, atom, by));
  if (range.low != kMinusInfinity) inequalities_.push_back(tightened(by - range.low));
  if (range.high != kPlusInfinity) inequalities_.push_back(tightened(Linear(range.high) - by));
  for (Formula& f : alternatives_) f = rewritten(f, atom, by);
  for (const Linear& f : inequalities_) is_impossible_ |= f.parts.empty() && !f.is_lost && f.constant < 0;
  std::erase_if(inequalities_, [](const Linear& f) { return f.parts.empty() || f.is_lost; });
  replacements_.push_back({atom, by});
  return rewritten(std::move(goal), atom, by);
}

// An atom of the equality `zero` that can be put as the rest of it.
AtomId Search::replaceable(const Linear& zero, AtomKind kind) {
  for (const Linear::Part& p : zero.parts) {
    if ((p.factor != 1 && p.factor != -1) || terms_[p.atom].kind != kind) continue;
    Linear by = Linear(p.atom) - zero * p.factor;
    // It must not stand in a product on the other side as well.
    if (rewritten(by, p.atom, 0) == by) return p.atom;
  }
  return {};
}

// A fact says so in as many words.
bool Search::is_known(const Formula& goal) const {
  if (goal.kind != Kind::AtLeastZero || goal.linear.is_lost) return false;
  return std::any_of(inequalities_.begin(), inequalities_.end(), [&](const Linear& f) {
    return f.constant <= goal.linear.constant && !f.is_lost && f.parts == goal.linear.parts;
  });
}

Linear Search::rewritten(const Linear& sum, AtomId atom, const Linear& by) { return terms_.rewritten(sum, atom, by); }

Formula Search::rewritten(Formula f, AtomId atom, const Linear& by) {
  if (f.kind == Kind::AtLeastZero) return at_least_zero(rewritten(f.linear, atom, by));
  for (Formula& part : f.parts) part = rewritten(part, atom, by);
  return f.kind == Kind::All ? all_of(std::move(f.parts)) : f.kind == Kind::Any ? any_of(std::move(f.parts)) : f;
}

// Do the facts rule each other out: one of them, or a flag, holds and does not?
bool Search::contradicts(int most_steps) {
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
  if (problem.goal.kind == Formula::Kind::All)
    return std::ranges::all_of(problem.goal.parts, [&](const Formula& part) { return is_never_broken(terms, {problem.facts, part, problem.atoms, {}}, steps); });
  return std::ranges::any_of(std::array{Order::LeftFirst, Order::EqualitiesFirst}, [&](Order order) {
    Search search(terms, steps, order);
    for (const Formula& fact : problem.facts) search.assume(fact);
    // Once with what is equal already made one before remainders of the goal are looked at, once with the facts as they stand.
    search.assume(negation(order == Order::EqualitiesFirst ? search.use_equalities(problem.goal) : problem.goal));
    return search.is_absurd(kMostProductSplits);
  });
}

}  // namespace tilec::prove
