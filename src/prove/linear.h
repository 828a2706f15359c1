// Sums of atoms times integers, in normal form: equal sums are equal structs. And intervals of integers.
#pragma once
#include <compare>
#include <cstdint>
#include <string>

#include "base/id.h"
#include "base/small_vector.h"

namespace tilec::prove {

using AtomId = Id<struct AtomTag>;

// The ends stand for minus and plus infinity where they are the least and greatest int64_t.
constexpr int64_t kMinusInfinity = INT64_MIN, kPlusInfinity = INT64_MAX;
struct Interval {
  int64_t low = kMinusInfinity, high = kPlusInfinity;
  bool holds(int64_t x) const { return low <= x && x <= high; }
  bool is_bounded() const { return low != kMinusInfinity && high != kPlusInfinity; }
  bool is_point() const { return low == high; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
Interval operator+(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
Interval floor_divide(Interval a, int64_t divisor);  // divisor > 0
// By a number of places of the range `b`.
Interval shifted_left(Interval a, Interval b);
Interval shifted_right(Interval a, Interval b);
Interval intersection(Interval a, Interval b);
Interval hull(Interval a, Interval b);

int64_t floor_divide(int64_t a, int64_t b);  // b != 0

struct Linear {
  struct Part {
    AtomId atom;
    int64_t factor = 0;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  SmallVector<Part, 3> parts;  // in the order of their atoms, no factor 0
  int64_t constant = 0;
  bool is_lost = false;     // a number left 64 bits: nothing is known about the sum

  Linear() = default;
  Linear(int64_t number) : constant(number) {}
  Linear(AtomId atom) : parts{{atom, 1}} {}
  bool is_constant() const { return parts.empty() && !is_lost; }
  int64_t factor_of(AtomId atom) const;
  friend bool operator==(const Linear&, const Linear&) = default;
};

Linear combined(const Linear& a, int64_t of_a, const Linear& b, int64_t of_b);  // a * of_a + b * of_b
Linear operator+(const Linear& a, const Linear& b);
Linear operator-(const Linear& a, const Linear& b);
Linear operator*(const Linear& a, int64_t factor);
inline Linear operator*(int64_t factor, const Linear& a) { return a * factor; }
inline Linear operator-(const Linear& a) { return a * -1; }
// `sum` with `atom` replaced.
Linear substitute(const Linear& sum, AtomId atom, const Linear& by);
// For the inequality `sum >= 0`: divided by the greatest common divisor of its factors, the constant rounded down.
Linear tightened(Linear sum);
uint64_t hash_of(const Linear& sum);
// The bytes of the sum, for keys of maps.
void append_key(std::string& key, const Linear& sum);

}  // namespace tilec::prove
