#include "prove/linear.h"

#include <numeric>

namespace tilec::prove {

namespace {

using Wide = __int128;

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

bool put(Linear& sum, AtomId atom, Wide factor) {
  if (factor == 0) return true;
  if (clamped(factor) != factor || is_infinite(int64_t(factor))) return false;
  sum.parts.push_back({atom, int64_t(factor)});
  return true;
}

Linear lost() {
  Linear sum;
  sum.is_lost = true;
  return sum;
}

}  // namespace

Linear combined(const Linear& a, int64_t of_a, const Linear& b, int64_t of_b) {
  if (a.is_lost || b.is_lost) return lost();
  Linear sum;
  sum.parts.reserve(a.parts.size() + b.parts.size());
  Wide constant = Wide(a.constant) * of_a + Wide(b.constant) * of_b;
  if (clamped(constant) != constant || is_infinite(int64_t(constant))) return lost();
  sum.constant = int64_t(constant);
  size_t i = 0, j = 0;
  bool fits = true;
  while (fits && (i < a.parts.size() || j < b.parts.size())) {
    if (j == b.parts.size() || (i < a.parts.size() && a.parts[i].atom < b.parts[j].atom)) {
      fits = put(sum, a.parts[i].atom, Wide(a.parts[i].factor) * of_a);
      ++i;
    } else if (i == a.parts.size() || b.parts[j].atom < a.parts[i].atom) {
      fits = put(sum, b.parts[j].atom, Wide(b.parts[j].factor) * of_b);
      ++j;
    } else {
      fits = put(sum, a.parts[i].atom, Wide(a.parts[i].factor) * of_a + Wide(b.parts[j].factor) * of_b);
      ++i, ++j;
    }
  }
  return fits ? sum : lost();
}

Interval operator+(Interval a, Interval b) { return {end_sum(a.low, b.low), end_sum(a.high, b.high)}; }

Interval operator*(Interval a, Interval b) {
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

Interval intersection(Interval a, Interval b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

int64_t Linear::factor_of(AtomId atom) const {
  auto at = std::lower_bound(parts.begin(), parts.end(), atom, [](const Part& p, AtomId id) { return p.atom < id; });
  return at != parts.end() && at->atom == atom ? at->factor : 0;
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

void append_key(std::string& key, const Linear& sum) {
  auto put = [&](int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(int64_t(sum.parts.size()) * 2 + sum.is_lost);
  put(sum.constant);
  for (const Linear::Part& part : sum.parts) put(part.atom.index), put(part.factor);
}

}  // namespace tilec::prove
