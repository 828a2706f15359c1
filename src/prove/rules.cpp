#include "prove/rules.h"

#include <algorithm>
#include <unordered_set>

namespace tilec::prove {

namespace {

constexpr size_t kMostEqualities = 12, kMostQuotientPairs = 12;

bool is_among(const std::vector<Linear>& sums, const Linear& sum) { return std::ranges::find(sums, sum) != sums.end(); }

// Each once.
std::vector<Linear> equalities(const std::vector<Linear>& inequalities) {
  std::vector<Linear> zeros;
  for (const Linear& f : inequalities)
    if (!f.parts.empty() && !f.is_lost && zeros.size() < kMostEqualities && is_among(inequalities, -f) && !is_among(zeros, -f) && !is_among(zeros, f)) zeros.push_back(f);
  return zeros;
}

struct Halves {
  Linear multiple, rest;  // of a step; the rest is less than that
};

std::optional<Halves> halves(const Terms& terms, const Linear& zero) {
  for (const Linear::Part& part : zero.parts) {
    int64_t step = std::abs(part.factor);
    if (step < 2) continue;
    Halves split;
    for (const Linear::Part& p : zero.parts) {
      Linear& half = p.factor % step == 0 ? split.multiple : split.rest;
      half = half + Linear(p.atom) * p.factor;
    }
    (zero.constant % step == 0 ? split.multiple : split.rest).constant += zero.constant;
    Interval range = terms.range(split.rest);
    if (!split.rest.parts.empty() && range.low > -step && range.high < step) return split;
  }
  return std::nullopt;
}

}  // namespace

void split_equalities(const Terms& terms, std::vector<Linear>& inequalities) {
  std::vector<Linear> open = equalities(inequalities);
  while (!open.empty()) {
    Linear zero = std::move(open.back());
    open.pop_back();
    auto split = halves(terms, zero);
    if (!split) continue;
    for (Linear half : {split->multiple, split->rest})
      for (Linear sum : {tightened(half), tightened(-half)})
        if (!is_among(inequalities, sum)) inequalities.push_back(sum);
    open.push_back(tightened(split->multiple));
    open.push_back(tightened(split->rest));
  }
}

std::vector<std::pair<AtomId, Linear>> common_factors(Terms& terms, const std::vector<Linear>& inequalities) {
  struct Factor {
    AtomId atom;
    Linear times;
    size_t count;
  };
  std::vector<Factor> all;
  for (const Linear& zero : equalities(inequalities)) {
    std::vector<AtomId> seen;
    for (const Linear::Part& part : zero.parts)
      for (AtomId atom : terms[part.atom].factors)
        if (std::ranges::find(seen, atom) == seen.end()) seen.push_back(atom);
    for (AtomId atom : seen) {
      Factor factor{atom, {}, 0};
      for (const Linear::Part& part : zero.parts) {
        std::vector<AtomId> factors = terms[part.atom].factors;
        auto at = std::ranges::find(factors, atom);
        if (part.atom != atom && at == factors.end()) continue;
        Linear others = part.factor;
        if (part.atom != atom) factors.erase(at);
        for (AtomId f : part.atom == atom ? std::vector<AtomId>() : factors) others = terms.product(others, Linear(f));
        factor.times = factor.times + others;
        ++factor.count;
      }
      if (factor.count > 1 && !factor.times.is_constant() && !factor.times.is_lost) all.push_back(std::move(factor));
    }
  }
  std::ranges::stable_sort(all, std::greater<>(), &Factor::count);
  std::vector<std::pair<AtomId, Linear>> result;
  for (Factor& f : all) result.push_back({f.atom, std::move(f.times)});
  return result;
}

std::vector<QuotientPair> quotient_pairs(const Terms& terms, const std::vector<Linear>& inequalities) {
  std::vector<AtomId> quotients;
  for (const Linear& f : inequalities)
    for (const Linear::Part& part : f.parts)
      if (terms[part.atom].kind == AtomKind::Quotient && std::ranges::find(quotients, part.atom) == quotients.end()) quotients.push_back(part.atom);
  std::vector<QuotientPair> pairs;
  for (AtomId a : quotients)
    for (AtomId b : quotients)
      if (a != b && terms[a].b == terms[b].b && pairs.size() < kMostQuotientPairs) pairs.push_back({a, b});
  return pairs;
}

namespace {

// Inequalities of which atoms are taken away.
class Elimination {
 public:
  Elimination(const Terms& terms, const std::vector<Linear>& inequalities) {
    for (const Linear& f : inequalities) take(f);
    std::vector<Linear> given = rows_;
    for (const Linear& f : given)
      for (const Linear::Part& part : f.parts) take_range(part.atom, terms[part.atom].range);
  }

  bool is_impossible() {
    while (!is_impossible_ && !rows_.empty())
      if (!eliminate_one()) return false;
    return is_impossible_;
  }

 private:
  static constexpr size_t kMostRows = 160, kMostTerms = 16, kMostGrowth = 40;

  void take(Linear f) {
    if (f.is_lost) return;
    f = tightened(std::move(f));
    if (f.parts.empty()) is_impossible_ |= f.constant < 0;
    else if (f.parts.size() <= kMostTerms && rows_.size() < kMostRows && seen_.insert(hash_of(f)).second) rows_.push_back(std::move(f));
  }
  void take_range(AtomId atom, Interval range) {
    if (std::ranges::find(ranged_, atom) != ranged_.end()) return;
    ranged_.push_back(atom);
    if (range.low != kMinusInfinity) take(Linear(atom) - range.low);
    if (range.high != kPlusInfinity) take(Linear(range.high) - Linear(atom));
  }

  bool eliminate_one() {
    std::map<AtomId, std::pair<int64_t, int64_t>> counts;  // of rows that bound it from below and from above
    for (const Linear& f : rows_)
      for (const Linear::Part& part : f.parts) ++(part.factor > 0 ? counts[part.atom].first : counts[part.atom].second);
    auto growth = [](const auto& count) { return count.second.first * count.second.second - count.second.first - count.second.second; };
    auto best = std::ranges::min_element(counts, {}, growth);
    if (growth(*best) > int64_t(kMostGrowth)) return false;
    AtomId atom = best->first;
    std::vector<Linear> below, above, others;
    for (Linear& f : rows_) {
      int64_t factor = f.factor_of(atom);
      (factor > 0 ? below : factor < 0 ? above : others).push_back(std::move(f));
    }
    rows_ = std::move(others);
    for (const Linear& a : below)
      for (const Linear& b : above) take(combined(a, -b.factor_of(atom), b, a.factor_of(atom)));
    return true;
  }

  std::vector<Linear> rows_;
  std::vector<AtomId> ranged_;
  std::unordered_set<uint64_t> seen_;  // two rows of one hash lose a proof, nothing else
  bool is_impossible_ = false;
};

}  // namespace

bool have_no_solution(const Terms& terms, const std::vector<Linear>& inequalities) { return Elimination(terms, inequalities).is_impossible(); }

}  // namespace tilec::prove
