#include "prove/rules.h"

#include <algorithm>
#include <unordered_set>

namespace tilec::prove {

namespace {

constexpr size_t kMostEqualities = 12, kMostPairs = 12, kMostBounds = 12;

bool is_among(const std::vector<Linear>& sums, const Linear& sum) { return std::ranges::find(sums, sum) != sums.end(); }

// Each once.
std::vector<Linear> equalities(const std::vector<Linear>& inequalities) {
  std::vector<Linear> zeros;
  for (const Linear& f : inequalities)
    if (!f.parts.empty() && !f.is_lost && zeros.size() < kMostEqualities && is_among(inequalities, -f) && !is_among(zeros, -f) && !is_among(zeros, f)) zeros.push_back(f);
  return zeros;
}

std::vector<AtomId> factors_of(const Terms& terms, AtomId atom) {
  return terms[atom].kind == AtomKind::Product ? terms[atom].factors : std::vector{atom};
}
// Atoms of a kind that stand in sums and in products.
std::vector<AtomId> atoms_of(AtomKind kind, const Terms& terms, const std::vector<Linear>& inequalities) {
  std::vector<AtomId> found;
  for (const Linear& f : inequalities)
    for (const Linear::Part& part : f.parts)
      for (AtomId atom : factors_of(terms, part.atom))
        if (terms[atom].kind == kind && std::ranges::find(found, atom) == found.end()) found.push_back(atom);
  return found;
}

Linear product_of(Terms& terms, const std::vector<AtomId>& factors) {
  Linear product = 1;
  for (AtomId f : factors) product = terms.product(product, Linear(f));
  return product;
}

// Of atoms that all parts of a sum and a divisor have as factors: sum / common and divisor / common.
struct Reduced {
  Linear common, sum, divisor;
};
std::optional<Reduced> reduced(Terms& terms, const Linear& sum, const Linear& divisor) {
  if (divisor.parts.size() != 1 || divisor.constant != 0 || sum.constant != 0 || sum.parts.empty()) return std::nullopt;
  std::vector<AtomId> common = factors_of(terms, divisor.parts[0].atom);
  auto without = [](const std::vector<AtomId>& all, const std::vector<AtomId>& some) {
    std::vector<AtomId> left;
    std::ranges::set_difference(all, some, std::back_inserter(left));
    return left;
  };
  for (const Linear::Part& part : sum.parts) {
    std::vector<AtomId> both;
    std::ranges::set_intersection(common, factors_of(terms, part.atom), std::back_inserter(both));
    common = std::move(both);
  }
  if (common.empty()) return std::nullopt;
  auto divided = [&](const Linear::Part& part) { return product_of(terms, without(factors_of(terms, part.atom), common)) * part.factor; };
  Reduced result{product_of(terms, common), 0, divided(divisor.parts[0])};
  for (const Linear::Part& part : sum.parts) result.sum = result.sum + divided(part);
  return result;
}

struct Halves {
  Linear multiple, rest;  // of a step, or what the step is multiplied by; the rest is less than that
};

// What the quotient in this part is subtracted with where `zero` has its remainder: of 2 * n * (a / n) - a that is n, for there is
// -(a - n * (a / n)) and n * (a / n). 0: it has none.
int64_t factor_in_remainder(const Terms& terms, const Linear::Part& part, const Linear& zero) {
  for (AtomId id : factors_of(terms, part.atom)) {
    const Atom& q = terms[id];
    const Linear& product = q.times_divisor;
    if (q.kind != AtomKind::Quotient || q.a.parts.empty() || product.parts.size() != 1 || product.parts[0].atom != part.atom) continue;
    const Linear::Part& first = q.a.parts[0];
    int64_t times = zero.factor_of(first.atom) / first.factor, factor = 0;
    bool is_multiple = times != 0 && std::ranges::all_of(q.a.parts, [&](const Linear::Part& a) {
      int64_t product;
      return !__builtin_mul_overflow(times, a.factor, &product) && product == zero.factor_of(a.atom);
    });
    if (is_multiple && !__builtin_mul_overflow(-times, product.parts[0].factor, &factor)) return factor;
  }
  return 0;
}

// All that the step does not divide is the rest, and, where `has_remainders`, so is what makes remainders of it.
Halves halved(const Terms& terms, const Linear& zero, int64_t step, bool has_remainders) {
  Halves split;
  split.rest.constant = zero.constant % step == 0 ? 0 : zero.constant;
  split.multiple.constant = zero.constant - split.rest.constant;
  for (const Linear::Part& p : zero.parts) {
    int64_t factor = has_remainders ? factor_in_remainder(terms, p, zero) : 0, left = 0;
    if (factor == 0 || __builtin_sub_overflow(p.factor, factor, &left) || left % step != 0) {
      factor = p.factor % step == 0 ? 0 : p.factor;
      left = p.factor - factor;
    }
    if (factor != 0) split.rest = split.rest + Linear(p.atom) * factor;
    if (left != 0) split.multiple = split.multiple + Linear(p.atom) * left;
  }
  return split;
}

// Numbers that may divide a part of the sum: its factors, and what they are beside remainders.
std::vector<int64_t> steps_of(const Terms& terms, const Linear& zero) {
  std::vector<int64_t> steps;
  auto add = [&](int64_t factor) {
    if (factor == INT64_MIN) return;
    int64_t step = std::abs(factor);
    if (step > 1 && std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
  };
  for (const Linear::Part& part : zero.parts) {
    add(part.factor);
    int64_t left;
    if (int64_t factor = factor_in_remainder(terms, part, zero); factor && !__builtin_sub_overflow(part.factor, factor, &left)) add(left);
  }
  return steps;
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

// By a step that is itself unknown: n * x + y = 0 with y between 1 - n and n - 1. Products with the step that make remainders of y
// are of it.
std::optional<Halves> halves_by_atom(Terms& terms, const Linear& zero, const NeverNegative& is_never_negative) {
  for (AtomId atom : factors_in(terms, zero)) {
    const Linear all = times_of(terms, zero, atom).by, apart = all.is_lost ? Linear() : zero - terms.product(all, Linear(atom));
    if (all.is_lost || apart.is_lost || apart.parts.empty()) continue;
    Linear remainders;
    for (const Linear::Part& p : zero.parts)
      if (int64_t factor = apart.factor_of(p.atom) == 0 ? factor_in_remainder(terms, p, zero) : 0) remainders = remainders + Linear(p.atom) * factor;
    for (bool has_remainders : {false, true}) {
      const Linear more = has_remainders ? remainders : Linear();
      if (has_remainders && more.parts.empty()) continue;
      const Linear rest = apart + more, by = all - times_of(terms, more, atom).by;
      if (by.parts.empty() || rest.is_lost) continue;
      const Linear most = Linear(atom) - 1;
      if (is_never_negative(most - rest) && is_never_negative(most + rest)) return Halves{by, rest};
    }
  }
  return std::nullopt;
}

std::optional<Halves> halves(const Terms& terms, const Linear& zero, const NeverNegative& is_never_negative) {
  for (int64_t step : steps_of(terms, zero))
    for (bool has_remainders : {false, true}) {
      Halves split = halved(terms, zero, step, has_remainders);
      if (split.rest.parts.empty() || split.multiple.parts.empty()) continue;
      if (is_never_negative(split.rest + (step - 1)) && is_never_negative(Linear(step - 1) - split.rest)) return split;
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
  for (AtomId id : atoms_of(AtomKind::Quotient, terms, inequalities)) {
    const Atom q = terms[id];
    if (q.b.is_constant()) continue;
    for (const Linear& f : inequalities) {
      // a <= f + a, and that is common * sum + constant: common * divisor * q <= a < common * sum.
      Linear most = f + q.a;
      if (most.is_lost || most.constant >= 0 || bounds.size() == kMostBounds) continue;
      if (auto by = reduced(terms, most - most.constant, q.b))
        bounds.push_back({id, by->common, by->sum - 1 - terms.product(Linear(id), by->divisor)});
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

namespace {

template <class Fits> std::vector<OrderedPair> pairs_of(AtomKind kind, const Terms& terms, const std::vector<Linear>& inequalities, Fits&& fits) {
  std::vector<AtomId> all = atoms_of(kind, terms, inequalities);
  std::vector<OrderedPair> pairs;
  for (AtomId a : all)
    for (AtomId b : all)
      if (a != b && pairs.size() < kMostPairs && fits(terms[a], terms[b])) pairs.push_back({a, b});
  return pairs;
}

}  // namespace

std::vector<OrderedPair> quotient_pairs(const Terms& terms, const std::vector<Linear>& inequalities) {
  return pairs_of(AtomKind::Quotient, terms, inequalities, [](const Atom& a, const Atom& b) { return a.b == b.b; });
}

std::vector<OrderedPair> minimum_pairs(const Terms& terms, const std::vector<Linear>& inequalities) {
  return pairs_of(AtomKind::Least, terms, inequalities, [](const Atom& a, const Atom& b) {
    return a.a == b.a || a.b == b.b || a.a == b.b || a.b == b.a;
  });
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
