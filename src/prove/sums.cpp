// Sums of facts, with what products and quotients add.
#include <numeric>
#include <unordered_set>

#include "prove/search.h"

namespace tilec::prove {

namespace {

constexpr size_t kMostProducts = 24, kMostParts = 12;

// Sums that are left to try: by turns the oldest and the shortest. The first leaves none out; the second goes straight to the end
// where facts fit, whatever else is known.
class OpenSums {
 public:
  bool empty() const { return left_ == 0; }
  void push(Linear sum) {
    if (sum.parts.size() >= by_length_.size()) by_length_.resize(sum.parts.size() + 1);
    by_length_[sum.parts.size()].push_back(all_.size());
    all_.push_back(std::move(sum)), is_taken_.push_back(false), ++left_;
  }
  Linear pop() {
    is_turn_of_shortest_ = !is_turn_of_shortest_;
    --left_;
    if (is_turn_of_shortest_)
      for (std::vector<size_t>& places : by_length_)
        while (!places.empty()) {
          size_t place = places.back();
          places.pop_back();
          if (!is_taken_[place]) return take(place);
        }
    while (is_taken_[oldest_]) ++oldest_;
    return take(oldest_);
  }

 private:
  Linear take(size_t place) {
    is_taken_[place] = true;
    return std::move(all_[place]);
  }
  std::vector<Linear> all_;
  std::vector<bool> is_taken_;
  std::vector<std::vector<size_t>> by_length_;
  size_t oldest_ = 0, left_ = 0;
  bool is_turn_of_shortest_ = true;
};

}  // namespace

bool Search::proves_sum(const Linear& goal, int splits) {
  if (terms_.is_never_negative(goal)) return true;
  size_t known = inequalities_.size();
  add_products(goal);
  for (const Linear::Part& part : goal.parts)
    if (const Atom& atom = terms_[part.atom]; atom.kind == AtomKind::Quotient && !atom.b.is_constant()) add_products(terms_.product(goal, atom.b));
  if (cancels(goal)) return true;
  if (splits == 0) {
    inequalities_.resize(known);  // they are of no use for another goal
    return false;
  }
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

bool Search::case_holds(const Linear& goal, AtomId atom, const Linear& by, const Formula& condition, int splits) {
  Search other = *this;
  other.assume(condition);
  bool holds = other.proves(at_least_zero(substitute(goal, atom, by)), splits - 1);
  steps_ = other.steps_;
  return holds;
}

// A fact times a factor that is never negative is a fact; of use for the products that stand in the goal.
void Search::add_products(const Linear& goal) {
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

// c - floor(a / b) >= 0 follows from b * c + b - 1 - a >= 0, floor(a / b) - c >= 0 from a - b * c >= 0, where b >= 1.
template <class Push> void Search::reduce_quotient(const Linear& goal, const Linear::Part& part, Push&& push) {
  const Atom& atom = terms_[part.atom];
  if (atom.kind != AtomKind::Quotient || atom.b.is_constant() || std::abs(part.factor) != 1) return;
  Linear rest = goal - Linear(part.atom) * part.factor;
  if (is_inside_ ? terms_.range(atom.b).low < 1 && !is_known(at_least(atom.b, 1)) : !is_positive(atom.b)) return;
  Linear next = part.factor < 0 ? terms_.product(atom.b, rest) + atom.b - 1 - atom.a : atom.a + terms_.product(atom.b, rest);
  push(next);
  // The product with the divisor is new: facts times its other factor speak of it.
  for (const Linear::Part& p : next.parts) {
    const std::vector<AtomId> factors = terms_[p.atom].factors;
    for (size_t side = 0; factors.size() == 2 && side < 2; ++side)
      for (const Linear& f : inequalities_)
        if (int64_t factor = f.factor_of(factors[side]); factor == p.factor && terms_[factors[1 - side]].range.low >= 0)
          push(next - terms_.product(f, Linear(factors[1 - side])));
  }
}

// x - 1 >= 0 follows from x * y * ... - 1 >= 0 where y and the others are >= 0; a - x >= 0 from a - x * y >= 0 where x >= 0 and y >= 1.
// A factor may be a product itself. a + x * y >= 0 follows from a >= 0 where x and y are >= 0.
template <class Push> void Search::use_products(const Linear& goal, Products& known, Push&& push) {
  auto is_no_less_than_zero = [&](AtomId id) { return terms_[id].range.low >= 0; };
  auto found = [&](std::map<AtomId, bool>& answers, AtomId id, int64_t least) {
    auto [at, is_new] = answers.try_emplace(id, terms_[id].range.low >= least);
    if (is_new && !at->second) at->second = is_inside_ ? is_known(at_least(Linear(id), least)) : is_at_least(Linear(id), least);
    return at->second;
  };
  bool is_one = goal.parts.size() == 1 && goal.parts[0].factor == 1 && goal.constant == -1;
  for (const Linear::Part& part : goal.parts) {
    bool is_product = terms_[part.atom].kind == AtomKind::Product;
    if (part.factor > 0 && is_product && !is_inside_ && !is_no_less_than_zero(part.atom) &&
        std::ranges::all_of(terms_[part.atom].factors, [&](AtomId f) { return found(known.never_negative, f, 0); }))
      push(goal - Linear(part.atom) * part.factor);
    if (!is_one && (!widens_ || part.factor > 0 || !is_no_less_than_zero(part.atom))) continue;
    std::vector<AtomId> factors = is_product ? terms_[part.atom].factors : std::vector{part.atom};
    for (AtomId product : known.all) {
      std::vector<AtomId> more;
      const std::vector<AtomId>& all = terms_[product].factors;
      if (product == part.atom || !std::ranges::includes(all, factors)) continue;
      std::ranges::set_difference(all, factors, std::back_inserter(more));
      if (is_one && std::ranges::all_of(more, is_no_less_than_zero)) push(Linear(product) - 1);
      if (!is_one && std::ranges::all_of(more, [&](AtomId f) { return found(known.positive, f, 1); })) push(substitute(goal, part.atom, Linear(product)));
    }
  }
}

bool Search::cancels(const Linear& start) {
  OpenSums open;
  open.push(tightened(start));
  Products known{products(), {}, {}};
  std::unordered_set<uint64_t> seen;  // two sums of one hash lose a way to a proof, nothing else
  bool is_found = terms_.is_never_negative(start);
  auto push = [&](Linear next) {
    if (is_found || next.is_lost || next.parts.size() > kMostParts) return;
    next = tightened(std::move(next));
    is_found = terms_.is_never_negative(next);
    if (!is_found && seen.insert(hash_of(next)).second) open.push(std::move(next));
  };
  while (!is_found && !open.empty() && steps_ > 0) {
    --steps_;
    const Linear goal = open.pop();
    for (const Linear::Part& part : goal.parts) {
      for (const Linear& f : inequalities_) {
        int64_t factor = f.factor_of(part.atom);
        if (factor == 0 || (factor > 0) != (part.factor > 0)) continue;
        int64_t common = std::gcd(factor, part.factor);
        // n * x is no integer between -n and 0: from n * x + n - 1 >= 0 follows x >= 0.
        int64_t scale = std::abs(factor) / common;
        push(combined(goal, scale, f, -std::abs(part.factor) / common) + (scale - 1));
      }
      reduce_quotient(goal, part, push);
    }
    use_products(goal, known, push);
  }
  return is_found;
}

bool Search::is_positive(const Linear& x) {
  if (terms_.range(x).low >= 1) return true;
  for (auto& [known, holds] : signs_)
    if (known == x) return holds;
  bool holds = is_at_least(x, 1);
  signs_.push_back({x, holds});
  return holds;
}

bool Search::is_at_least(const Linear& x, int64_t least) {
  if (terms_.range(x).low >= least) return true;
  Search other = *this;
  other.is_inside_ = true;
  int given = other.steps_ = std::min(steps_, kStepsForSign);
  bool holds = other.proves(at_least(x, least), 0);
  steps_ -= given - other.steps_;
  return holds;
}

}  // namespace tilec::prove
