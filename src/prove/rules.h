// What equalities, products and quotients say beside their sums: rules for proofs by contradiction.
#pragma once
#include <functional>
#include <optional>

#include "prove/terms.h"

namespace tilec::prove {

// `distance` times `common` stands in a fact; the latter is zero or more. So their product is 0, or at least `common` away from it.
struct ProductPair {
  Linear distance;
  Linear common;
};

using NeverNegative = std::function<bool(const Linear&)>;

// A remainder that is less than the step between its neighbours is zero: of 16 * x + y = 0 with y between -15 and 15, y = 0 and x = 0,
// and so of n * x + y.
void split_equalities(Terms& terms, std::vector<Linear>& inequalities, const NeverNegative& is_never_negative);

// Of a < b * c: k * (a / (k * b)) < c, for the quotients by products and variables that stand in facts; their divisors and b, the
// atoms in common, are to be shown positive: each as what is never negative.
struct QuotientBound {
  AtomId quotient;
  Linear common;
  Linear bound;
};
std::vector<QuotientBound> quotient_bounds(Terms& terms, const std::vector<Linear>& inequalities);

// The atoms that products of an equality have in common, with what each is multiplied by; those that join most products first.
std::vector<std::pair<AtomId, Linear>> common_factors(Terms& terms, const std::vector<Linear>& inequalities);

// Quotients by one divisor, and minimums.
struct OrderedPair {
  AtomId lesser, greater;  // of which one would like to know that the first is no more than the second
};
std::vector<OrderedPair> quotient_pairs(const Terms& terms, const std::vector<Linear>& inequalities);
std::vector<OrderedPair> minimum_pairs(const Terms& terms, const std::vector<Linear>& inequalities);

// Is there no solution, of rational numbers even? Atoms are eliminated one by one, those first that leave the fewest sums; what becomes too
// much is left out. True is a proof, false says nothing.
bool have_no_solution(const Terms& terms, const std::vector<Linear>& inequalities);

}  // namespace tilec::prove
