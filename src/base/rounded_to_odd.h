// Numbers in f64 that round on to any narrower float as the exact ones would. Rounding to odd takes, of the two neighbours of a number
// that f64 has not, the one whose last bit is set: it says that something was cut off, and is no tie of a format of fewer digits.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace tilec {

inline double rounded_to_odd(uint64_t x) {
  int dropped = 11 - std::countl_zero(x);
  if (dropped <= 0) return double(x);
  uint64_t kept = x >> dropped << dropped;
  return double(kept == x ? x : kept | uint64_t(1) << dropped);
}
inline double rounded_to_odd(int64_t x) { return x < 0 ? -rounded_to_odd(0 - uint64_t(x)) : rounded_to_odd(uint64_t(x)); }

// a + b. What the sum has lost is a number of f64 itself, and finite sums of finite numbers that are not too great have it.
inline double sum_rounded_to_odd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  double of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
  if (lost == 0) return sum;
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits | 1 : (bits - 1) | 1);
}

}  // namespace tilec
