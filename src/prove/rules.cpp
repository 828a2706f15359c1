#include "prove/rules.h"

#include <algorithm>
#include <unordered_set>

namespace tilec::prove {

namespace {

constexpr size_t kMostEqualities = 12, kMostQuotientPairs = 12, kMostBounds = 12;

bool is_among(const std::vector<Linear>& sums, const Linear& sum) { return std::ranges::find(sums, sum) != sums.end(); }

// Each once.
std::vector<Linear> equalities(const std::vector<Linear>& inequalities) {
  std::vector<Linear> zeros;
  for (const Linear& f : inequalities)
    if (!f.parts.empty() && !f.is_lost && zeros.size() < kMostEqualities && is_among(inequalities, -f) && !is_among(zeros, -f) && !is_among(zeros, f)) zeros.push_back(f);
  return zeros;
}

std::vector<AtomId> quotients(const Terms& terms, const std::vector<Linear>& inequalities) {
  std::vector<AtomId> found;
  for (const Linear& f : inequalities)
    for (const Linear::Part& part : f.parts)
      if (terms[part.atom].kind == AtomKind::Quotient && std::ranges::find(found, part.atom) == found.end()) found.push_back(part.atom);
  return found;
}

// sum / divisor, but for the divisor's number, where each part of the sum has its atoms as factors.
std::optional<Linear> ratio_of_atoms(Terms& terms, const Linear& sum, const Linear& divisor) {
  if (divisor.parts.size() != 1 || divisor.constant != 0) return std::nullopt;
  auto factors_of = [&](AtomId atom) { return terms[atom].kind == AtomKind::Product ? terms[atom].factors : std::vector{atom}; };
  const std::vector<AtomId> below = factors_of(divisor.parts[0].atom);
  Linear ratio;
  for (const Linear::Part& part : sum.parts) {
    std::vector<AtomId> above = factors_of(part.atom), left;
    if (!std::ranges::includes(above, below)) return std::nullopt;
    std::ranges::set_difference(above, below, std::back_inserter(left));
    Linear product = part.factor;
    for (AtomId f : left) product = terms.product(product, Linear(f));
    ratio = ratio + product;
  }
  return ratio;
}

struct Halves {
  Linear multiple, rest;  // of a step, or what the step is multiplied by; the rest is less than that
};

// Is this part what `rest` and a quotient make a remainder of: -8 * n * (a / (8 * n)), where `a` stands in the rest?
bool completes_remainder(const Terms& terms, const Linear::Part& part, const Linear& rest) {
  const Atom& atom = terms[part.atom];
  std::vector<AtomId> parts = atom.kind == AtomKind::Product ? atom.factors : std::vector{part.atom};
  return std::ranges::any_of(parts, [&](AtomId id) {
    const Atom& q = terms[id];
    if (q.kind != AtomKind::Quotient || q.a.parts.empty() || q.times_divisor != Linear(part.atom) * std::abs(part.factor)) return false;
    return std::ranges::all_of(q.a.parts, [&](const Linear::Part& a) { return rest.factor_of(a.atom) != 0; });
  });
}

// All that the step does not divide is the rest, and, where `has_remainders`, so are multiples that make remainders of it.
Halves halved(const Terms& terms, const Linear& zero, int64_t step, bool has_remainders) {
  Halves split;
  split.rest.constant = zero.constant % step == 0 ? 0 : zero.constant;
  split.multiple.constant = zero.constant - split.rest.constant;
  for (const Linear::Part& p : zero.parts)
    if (p.factor % step != 0) split.rest = split.rest + Linear(p.atom) * p.factor;
  const Linear undivided = split.rest;
  for (const Linear::Part& p : zero.parts) {
    if (p.factor % step != 0) continue;
    Linear& half = has_remainders && completes_remainder(terms, p, undivided) ? split.rest : split.multiple;
    half = half + Linear(p.atom) * p.factor;
  }
  return split;
}

// The atoms that are factors of products in the sum, each once.
std::vector<AtomId> factors_in(const Terms& terms, const Linear& sum) {
  std::vector<AtomId> seen;
  for (const Linear::Part& part : sum.parts)
    for (AtomId atom : terms[part.atom].factors)
      if (std::ranges::find(seen, atom) == seen.end()) seen.push_back(atom);
  return seen;
}

// What the atom is multiplied by in the sum, and in how many parts.
struct Times {
  Linear by;
  size_t count = 0;
};
Times times_of(Terms& terms, const Linear& sum, AtomId atom) {
  Times times;
  for (const Linear::Part& part : sum.parts) {
    std::vector<AtomId> factors = terms[part.atom].factors;
    auto at = std::ranges::find(factors, atom);
    if (part.atom != atom && at == factors.end()) continue;
    Linear others = part.factor;
    if (part.atom != atom) factors.erase(at);
    for (AtomId f : part.atom == atom ? std::vector<AtomId>() : factors) others = terms.product(others, Linear(f));
    times.by = times.by + others;
    ++times.count;
  }
  return times;
}

// By a step that is itself unknown: n * x + y = 0 with y between 1 - n and n - 1.
std::optional<Halves> halves_by_atom(Terms& terms, const Linear& zero, const NeverNegative& is_never_negative) {
  for (AtomId atom : factors_in(terms, zero)) {
    const Linear by = times_of(terms, zero, atom).by, rest = by.is_lost ? Linear() : zero - terms.product(by, Linear(atom));
    if (by.is_lost || by.parts.empty() || rest.is_lost || rest.parts.empty()) continue;
    const Linear most = Linear(atom) - 1;
    if (is_never_negative(most - rest) && is_never_negative(most + rest)) return Halves{by, rest};
  }
  return std::nullopt;
}

std::optional<Halves> halves(const Terms& terms, const Linear& zero, const NeverNegative& is_never_negative) {
  for (const Linear::Part& part : zero.parts) {
    int64_t step = std::abs(part.factor);
    if (step < 2) continue;
    for (bool has_remainders : {false, true}) {
      Halves split = halved(terms, zero, step, has_remainders);
      if (split.rest.parts.empty() || split.multiple.parts.empty()) continue;
      if (is_never_negative(split.rest + (step - 1)) && is_never_negative(Linear(step - 1) - split.rest)) return split;
    }
  }
  return std::nullopt;
}

}  // namespace

void split_equalities(Terms& terms, std::vector<Linear>& inequalities, const NeverNegative& is_never_negative) {
  std::vector<Linear> open = equalities(inequalities);
  while (!open.empty()) {
    Linear zero = std::move(open.back());
    open.pop_back();
    auto split = halves(terms, zero, is_never_negative);
    if (!split) split = halves_by_atom(terms, zero, is_never_negative);
    if (!split) continue;
    for (Linear half : {split->multiple, split->rest})
      for (Linear sum : {tightened(half), tightened(-half)})
        if (!is_among(inequalities, sum)) inequalities.push_back(sum);
    open.push_back(tightened(split->multiple));
    open.push_back(tightened(split->rest));
  }
}

std::vector<QuotientBound> quotient_bounds(Terms& terms, const std::vector<Linear>& inequalities) {
  std::vector<QuotientBound> bounds;
  for (AtomId id : quotients(terms, inequalities)) {
    const Atom q = terms[id];
    if (q.b.is_constant()) continue;
    for (const Linear& f : inequalities) {
      // a <= f + a, and that is atoms * times + constant: number * atoms * q <= a < atoms * times.
      Linear most = f + q.a;
      std::optional<Linear> times = most.is_lost || most.constant >= 0 ? std::nullopt : ratio_of_atoms(terms, most - most.constant, q.b);
      if (times && bounds.size() < kMostBounds) bounds.push_back({id, *times - 1 - Linear(id) * q.b.parts[0].factor});
    }
  }
  return bounds;
}

std::vector<std::pair<AtomId, Linear>> common_factors(Terms& terms, const std::vector<Linear>& inequalities) {
  struct Factor {
    AtomId atom;
    Linear times;
    size_t count;
  };
  std::vector<Factor> all;
  for (const Linear& zero : equalities(inequalities))
    for (AtomId atom : factors_in(terms, zero)) {
      auto [times, count] = times_of(terms, zero, atom);
      if (count > 1 && !times.is_constant() && !times.is_lost) all.push_back({atom, std::move(times), count});
    }
  std::ranges::stable_sort(all, std::greater<>(), &Factor::count);
  std::vector<std::pair<AtomId, Linear>> result;
  for (Factor& f : all) result.push_back({f.atom, std::move(f.times)});
  return result;
}

std::vector<QuotientPair> quotient_pairs(const Terms& terms, const std::vector<Linear>& inequalities) {
  std::vector<AtomId> all = quotients(terms, inequalities);
  std::vector<QuotientPair> pairs;
  for (AtomId a : all)
    for (AtomId b : all)
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
