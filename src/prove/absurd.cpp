// Proofs by contradiction: facts and the opposite of the goal rule each other out.
#include "prove/search.h"

namespace tilec::prove {

namespace {

constexpr size_t kMostProducts = 24, kMostPartsMultiplied = 4;

}  // namespace

// The definition of the atom after all replacements.
std::string Search::key_of_definition(AtomId id) {
  const Atom& atom = terms_[id];
  Linear a = atom.a, b = atom.b;
  Formula condition = atom.condition;
  for (auto& [replaced, by] : replacements_) {
    a = rewritten(a, replaced, by), b = rewritten(b, replaced, by);
    condition = rewritten(std::move(condition), replaced, by);
  }
  std::string first, second, key(1, char('a' + int(atom.kind)));
  append_key(first, a), append_key(second, b);
  if (atom.kind == AtomKind::Least && second < first) std::swap(first, second);
  append_key(key, condition);
  return a.is_lost || b.is_lost ? std::string() : key + first + second;
}

// Quotients, minimums and choices of equal numbers are one. Were there any?
bool Search::unite_definitions() {
  std::vector<bool> seen(terms_.size());
  std::map<std::string, AtomId> defined;
  std::vector<std::pair<AtomId, AtomId>> equal;
  auto visit = [&](AtomId id) {
    AtomKind kind = terms_[id].kind;
    if (seen[id.index] || (kind != AtomKind::Quotient && kind != AtomKind::Least && kind != AtomKind::Choice)) return;
    seen[id.index] = true;
    std::string key = key_of_definition(id);
    if (key.empty()) return;
    auto [at, is_new] = defined.try_emplace(std::move(key), id);
    if (!is_new) equal.push_back({id, at->second});
  };
  for (const Linear& f : inequalities_)
    for (const Linear::Part& part : f.parts) {
      visit(part.atom);
      for (AtomId factor : terms_[part.atom].factors) visit(factor);
    }
  for (auto [atom, other] : equal) replaced(truth(false), atom, Linear(other));
  return !equal.empty();
}

// Equalities are split before one is used, which takes remainders apart.
void Search::unite_equals() {
  for (int turn = 0; turn < 2; ++turn) {
    split_equalities(terms_, inequalities_, [&](const Linear& sum) { return is_at_least(sum, 0); });
    do use_equalities(truth(false), Replaced::Quotients);
    while (!replacements_.empty() && !is_impossible_ && unite_definitions());
  }
}

// Of numbers in order the minimums are in order.
void Search::order_minimums() {
  for (auto [lesser, greater] : minimum_pairs(terms_, inequalities_)) {
    const Atom &a = terms_[lesser], &b = terms_[greater];
    auto is_no_more = [&](const Linear& x, const Linear& y) { return x == y || is_at_least(y - x, 0); };
    if ((is_no_more(a.a, b.a) && is_no_more(a.b, b.b)) || (is_no_more(a.a, b.b) && is_no_more(a.b, b.a)))
      inequalities_.push_back(Linear(greater) - Linear(lesser));
  }
}

// Of numbers in order the quotients by a positive number are in order.
void Search::order_quotients() {
  for (auto [lesser, greater] : quotient_pairs(terms_, inequalities_)) {
    const Atom &a = terms_[lesser], &b = terms_[greater];
    if (is_positive(a.b) && is_at_least(b.a - a.a, 0)) inequalities_.push_back(Linear(greater) - Linear(lesser));
  }
}

// The quotient of what is less than a multiple of the divisor is less than that factor, and of what is never negative it is neither.
void Search::bound_quotients() {
  auto take = [&](AtomId quotient, const Linear& bound) {
    bool is_new = !bound.parts.empty() && !bound.is_lost && std::ranges::find(inequalities_, bound) == inequalities_.end();
    if (is_new && is_positive(terms_[quotient].b)) inequalities_.push_back(bound);
  };
  for (auto& [quotient, common, bound] : quotient_bounds(terms_, inequalities_)) {
    if (is_positive(common)) take(quotient, bound);
    if (terms_[quotient].range.low < 0 && is_at_least(terms_[quotient].a, 0)) take(quotient, Linear(quotient));
  }
}

bool Search::is_asked(const Linear& distance) const {
  return std::ranges::find(asked_, distance) != asked_.end() || std::ranges::find(asked_, -distance) != asked_.end();
}

// Of equalities as they were before one of their numbers was replaced by the others.
std::optional<ProductPair> Search::pair_of_equality(const std::vector<std::pair<AtomId, Linear>>& factors) {
  for (auto& [factor, times] : factors) {
    if (is_asked(times)) continue;
    if (is_at_least(Linear(factor), 0)) return ProductPair{times, Linear(factor)};
    if (is_at_least(-Linear(factor), 0)) return ProductPair{times, -Linear(factor)};
  }
  return std::nullopt;
}

std::vector<AtomId> Search::products() const {
  std::vector<AtomId> all;
  for (const Linear& f : inequalities_)
    for (const Linear::Part& part : f.parts)
      if (terms_[part.atom].kind == AtomKind::Product && std::ranges::find(all, part.atom) == all.end() && all.size() < kMostProducts) all.push_back(part.atom);
  return all;
}

// Of numbers that are each zero or more, or each zero or less.
std::optional<Linear> Search::product_without_sign(const std::vector<AtomId>& factors) {
  Linear product = 1;
  for (AtomId f : factors) {
    bool is_more = is_at_least(Linear(f), 0);
    if (!is_more && !is_at_least(-Linear(f), 0)) return std::nullopt;
    product = terms_.product(product, is_more ? Linear(f) : -Linear(f));
  }
  return product;
}

std::optional<ProductPair> Search::pair_of_products() {
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
      if (is_asked(distance)) continue;
      if (std::optional<Linear> shared = product_without_sign(common)) return ProductPair{distance, *shared};
    }
  return std::nullopt;
}

// Facts times factors of products that are never negative, where that makes no product that is not there yet.
void Search::multiply_facts() {
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

// One alternative, part by part.
bool Search::is_absurd_by_cases() {
  if (cases_ == 0 || alternatives_.empty()) return false;
  const Formula choice = alternatives_.front();
  return std::ranges::all_of(choice.parts, [&](const Formula& part) {
    Search other = *this;
    --other.cases_;
    other.alternatives_.erase(other.alternatives_.begin());
    other.assume(part);
    return other.is_absurd(0);
  });
}

// Do the facts rule each other out, once all that is equal is one? What products of one factor have between them is decided case
// by case: `u * f` and `v * f` are the same, or at least f apart. So digits and strides tell numbers apart: where quotients and
// remainders agree, the numbers do.
bool Search::is_absurd(int splits) {
  widens_ = false;
  bound_quotients();
  reduce_alternatives();
  using Factors = std::vector<std::pair<AtomId, Linear>>;
  const Factors factors = order_ == Order::EqualitiesFirst ? common_factors(terms_, inequalities_) : Factors();
  unite_equals();
  if (is_impossible_) return true;
  reduce_alternatives();
  unite_equals();
  order_quotients();
  order_minimums();
  bound_quotients();
  multiply_facts();
  if (is_impossible_ || have_no_solution(terms_, inequalities_) || contradicts(kStepsForAbsurdity)) return true;
  if (splits == 0) return is_absurd_by_cases();
  std::optional<ProductPair> pair = pair_of_equality(common_factors(terms_, inequalities_));
  if (!pair) pair = pair_of_equality(factors);
  if (!pair) pair = pair_of_products();
  if (!pair) return is_absurd_by_cases();
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

}  // namespace tilec::prove
