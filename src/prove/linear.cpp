#include "prove/linear.h"

#include <numeric>

namespace tilec::prove {

namespace {

using Wide = __int128;

constexpr size_t kMostParts = 1024;  // of a sum; programs that are written by programs have longer ones

bool is_infinite(int64_t x) { return x == kMinusInfinity || x == kPlusInfinity; }
int64_t clamped(Wide x) {
  return x <= Wide(kMinusInfinity) ? kMinusInfinity : x >= Wide(kPlusInfinity) ? kPlusInfinity : int64_t(x);
}

// Ends of intervals: infinity absorbs, and 0 times infinity is 0.
int64_t end_sum(int64_t a, int64_t b) {
  if (is_infinite(a)) return a;
  return is_infinite(b) ? b : clamped(Wide(a) + b);
}
int64_t end_product(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) return (a < 0) == (b < 0) ? kPlusInfinity : kMinusInfinity;
  return clamped(Wide(a) * b);
}

// x * of_x + y * of_y, where that fits and is no infinity.
bool sum_of_products(int64_t x, int64_t of_x, int64_t y, int64_t of_y, int64_t& sum) {
  int64_t a, b;
  bool is_too_large = __builtin_mul_overflow(x, of_x, &a) || __builtin_mul_overflow(y, of_y, &b) || __builtin_add_overflow(a, b, &sum);
  return !is_too_large && !is_infinite(sum);
}

Linear lost() {
  Linear sum;
  sum.is_lost = true;
  return sum;
}

}  // namespace

Linear combined(const Linear& a, int64_t of_a, const Linear& b, int64_t of_b) {
  int64_t constant;
  if (a.is_lost || b.is_lost || !sum_of_products(a.constant, of_a, b.constant, of_b, constant)) return lost();
  Linear sum;
  if (of_a == 1 && b.parts.empty()) {  // most often one of them is a number
    sum.parts = a.parts, sum.constant = constant;
    return sum;
  }
  sum.constant = constant;
  bool fits = true;
  auto put = [&](AtomId atom, int64_t x, int64_t y) {
    int64_t factor;
    fits &= sum_of_products(x, of_a, y, of_b, factor);
    if (fits && factor != 0) sum.parts.push_back({atom, factor});
  };
  const Linear::Part *x = a.parts.begin(), *x_end = a.parts.end(), *y = b.parts.begin(), *y_end = b.parts.end();
  while (x != x_end && y != y_end) {
    if (x->atom < y->atom) put(x->atom, x->factor, 0), ++x;
    else if (y->atom < x->atom) put(y->atom, 0, y->factor), ++y;
    else put(x->atom, x->factor, y->factor), ++x, ++y;
  }
  for (; x != x_end; ++x) put(x->atom, x->factor, 0);
  for (; y != y_end; ++y) put(y->atom, 0, y->factor);
  return fits && sum.parts.size() <= kMostParts ? sum : lost();
}

Interval operator+(Interval a, Interval b) { return {end_sum(a.low, b.low), end_sum(a.high, b.high)}; }

Interval operator*(Interval a, Interval b) {
  if (b.is_point()) {  // a factor, most often
    const int64_t x = end_product(a.low, b.low), y = end_product(a.high, b.low);
    return {std::min(x, y), std::max(x, y)};
  }
  int64_t ends[] = {end_product(a.low, b.low), end_product(a.low, b.high), end_product(a.high, b.low),
                    end_product(a.high, b.high)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

int64_t floor_divide(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Interval floor_divide(Interval a, int64_t divisor) {
  return {is_infinite(a.low) ? a.low : floor_divide(a.low, divisor),
          is_infinite(a.high) ? a.high : floor_divide(a.high, divisor)};
}

Interval shifted_left(Interval a, Interval b) {
  constexpr int64_t kMostPlaces = 62;  // of a factor that fits
  if (b.low < 0 || b.high > kMostPlaces) return {};
  int64_t least = int64_t(1) << b.low, most = int64_t(1) << b.high;
  return hull(a * Interval{least, least}, a * Interval{most, most});
}

Interval shifted_right(Interval a, Interval b) {
  if (b.low < 0) return {};
  int64_t least = std::min<int64_t>(b.low, 63), most = std::min<int64_t>(b.high, 63);
  return {a.low == kMinusInfinity ? a.low : a.low >> (a.low < 0 ? least : most),
          a.high == kPlusInfinity ? a.high : a.high >> (a.high < 0 ? most : least)};
}

Interval intersection(Interval a, Interval b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

int64_t Linear::factor_of(AtomId atom) const {
  for (const Part& part : parts)  // few of them
    if (part.atom >= atom) return part.atom == atom ? part.factor : 0;
  return 0;
}

Linear operator+(const Linear& a, const Linear& b) { return combined(a, 1, b, 1); }
Linear operator-(const Linear& a, const Linear& b) { return combined(a, 1, b, -1); }
Linear operator*(const Linear& a, int64_t factor) { return combined(a, factor, Linear(0), 1); }

Linear substitute(const Linear& sum, AtomId atom, const Linear& by) {
  int64_t factor = sum.factor_of(atom);
  return factor == 0 ? sum : sum - Linear(atom) * factor + by * factor;
}

Linear tightened(Linear sum) {
  int64_t divisor = 0;
  for (const Linear::Part& part : sum.parts) divisor = std::gcd(divisor, part.factor);
  if (divisor <= 1) return sum;
  for (Linear::Part& part : sum.parts) part.factor /= divisor;
  sum.constant = floor_divide(sum.constant, divisor);
  return sum;
}

uint64_t hash_of(const Linear& sum) {
  uint64_t hash = uint64_t(sum.constant) * 2 + sum.is_lost;
  auto mix = [&](uint64_t x) { hash = (hash ^ (hash >> 29) ^ x) * 0x9E3779B97F4A7C15u; };
  for (const Linear::Part& part : sum.parts) mix(part.atom.index), mix(uint64_t(part.factor));
  return hash;
}

void append_key(std::string& key, const Linear& sum) {
  auto put = [&](int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(int64_t(sum.parts.size()) * 2 + sum.is_lost);
  put(sum.constant);
  for (const Linear::Part& part : sum.parts) put(part.atom.index), put(part.factor);
}

}  // namespace tilec::prove
