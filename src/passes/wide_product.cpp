// The product of two mantissas has 106 bits. It and c are placed in a window of 128, the greater one exactly; of the other one what
// falls out below is kept as a last bit that is set, two places below the product's last, so that no rounding mistakes it. The sum is
// rounded to 53 bits, or to fewer where it is subnormal. Shifts by 64 and more, or by negative numbers, move everything out: many
// cases are written as one by that.
#include "passes/wide_product.h"

#include <limits>

namespace tilec::passes {

using namespace ir;

namespace {

constexpr uint64_t kSign = uint64_t(1) << 63, kLeading = uint64_t(1) << 52, kInfinity = uint64_t(0x7ff) << 52;
constexpr int64_t kBias = 1023, kNothing = -5000;  // the exponent of a zero, below all others
constexpr int64_t kHighest = 73;                   // place of c's last bit in the window, at most

class Fused {
 public:
  explicit Fused(Builder& builder) : b_(builder) {}

  ValueId of(ValueId a, ValueId b, ValueId c) {
    Parts x = parts(a), y = parts(b), z = parts(c);
    ValueId sign = xor_(x.sign, y.sign), exponent = b_.sub(b_.add(x.exponent, y.exponent), signed_(kBias + 52 + 2));
    Window product = multiplied(shl(x.mantissa, word(2)), y.mantissa);
    // Place of c's last bit in the window; above the highest one the product goes down instead, and the window stands for more.
    ValueId place = b_.sub(z.exponent, exponent), over = at_least(b_.sub(place, signed_(kHighest)), 0);
    product = moved_down(product, as_word(over));
    Window added = placed(z.mantissa, b_.binary(BinaryFn::Min, place, signed_(kHighest)));
    Window sum = plus(product, negated(added, b_.compare(CompareFn::Ne, sign, z.sign)));
    ValueId is_negative = b_.compare(CompareFn::Ne, and_(sum.high, word(kSign)), word(0));
    Window magnitude = negated(sum, is_negative);
    ValueId is_zero = b_.compare(CompareFn::Eq, or_(magnitude.high, magnitude.low), word(0));
    ValueId pattern = or_(rounded(magnitude, b_.add(exponent, over)), b_.select(is_negative, xor_(sign, word(kSign)), sign));
    pattern = b_.select(is_zero, and_(sign, z.sign), pattern);
    ValueId finite = b_.convert(pattern, Scalar::F64, ConvertMode::Bits);
    return with_special(a, b, c, finite);
  }

 private:
  struct Parts {
    ValueId sign, exponent, mantissa;  // the number is mantissa * 2^(exponent - bias - 52), the mantissa 0 or of 53 bits
  };
  struct Window {
    ValueId high, low;
  };
  Builder& b_;

  ValueId word(uint64_t n) { return b_.constant(Scalar::U64, Number::integer(int64_t(n))); }
  ValueId signed_(int64_t n) { return b_.constant(Scalar::I64, Number::integer(n)); }
  ValueId as_word(ValueId x) { return b_.convert(x, Scalar::U64, ConvertMode::Wrap); }
  ValueId as_signed(ValueId x) { return b_.convert(x, Scalar::I64, ConvertMode::Wrap); }
  ValueId and_(ValueId x, ValueId y) { return b_.binary(BinaryFn::And, x, y); }
  ValueId or_(ValueId x, ValueId y) { return b_.binary(BinaryFn::Or, x, y); }
  ValueId xor_(ValueId x, ValueId y) { return b_.binary(BinaryFn::Xor, x, y); }
  ValueId not_(ValueId x) { return b_.unary(UnaryFn::Not, x); }
  ValueId shl(ValueId x, ValueId n) { return b_.binary(BinaryFn::Shl, x, n); }
  ValueId shr(ValueId x, ValueId n) { return b_.binary(BinaryFn::Shr, x, n); }
  ValueId at_least(ValueId x, int64_t n) { return b_.binary(BinaryFn::Max, x, signed_(n)); }
  ValueId number(ValueId condition) { return b_.select(condition, word(1), word(0)); }
  // x without its last n bits' places; its last bit is set where one of those was.
  ValueId moved_down(ValueId x, ValueId n) {
    ValueId kept = shr(x, n);
    return or_(kept, number(b_.compare(CompareFn::Ne, shl(kept, n), x)));
  }

  // A subnormal is first made normal.
  Parts parts(ValueId x) {
    ValueId magnitude = b_.unary(UnaryFn::Abs, x), is_small = b_.compare(CompareFn::Lt, magnitude, b_.real(Scalar::F64, 0x1p-1022));
    ValueId normal = b_.select(is_small, b_.mul(x, b_.real(Scalar::F64, 0x1p54)), x);
    ValueId pattern = b_.convert(normal, Scalar::U64, ConvertMode::Bits), is_zero = b_.compare(CompareFn::Eq, x, b_.real(Scalar::F64, 0));
    ValueId field = as_signed(and_(shr(pattern, word(52)), word(0x7ff)));
    ValueId exponent = b_.sub(field, b_.select(is_small, signed_(54), signed_(0)));
    ValueId mantissa = or_(and_(pattern, word(kLeading - 1)), word(kLeading));
    return {and_(pattern, word(kSign)), b_.select(is_zero, signed_(kNothing), exponent), b_.select(is_zero, word(0), mantissa)};
  }

  Window multiplied(ValueId x, ValueId y) {
    ValueId half = word(32), mask = word(0xffffffff);
    ValueId x_low = and_(x, mask), x_high = shr(x, half), y_low = and_(y, mask), y_high = shr(y, half);
    ValueId lowest = b_.mul(x_low, y_low), first = b_.add(b_.mul(x_high, y_low), shr(lowest, half));
    ValueId second = b_.add(b_.mul(x_low, y_high), and_(first, mask));
    ValueId high = b_.add(b_.add(b_.mul(x_high, y_high), shr(first, half)), shr(second, half));
    return {high, or_(and_(lowest, mask), shl(second, half))};
  }

  Window placed(ValueId mantissa, ValueId place) {
    ValueId x = moved_down(mantissa, as_word(at_least(b_.unary(UnaryFn::Neg, place), 0))), n = as_word(at_least(place, 0));
    return moved_up({word(0), x}, n);
  }
  Window moved_up(Window x, ValueId n) {
    ValueId from_low = or_(shr(x.low, b_.sub(word(64), n)), shl(x.low, b_.sub(n, word(64))));
    return {or_(shl(x.high, n), from_low), shl(x.low, n)};
  }
  Window moved_down(Window x, ValueId n) {
    ValueId above = b_.sub(b_.binary(BinaryFn::Max, n, word(64)), word(64)), none = word(~uint64_t(0));
    ValueId lost = or_(and_(x.low, not_(shl(none, n))), and_(x.high, not_(shl(none, above))));
    ValueId from_high = or_(shl(x.high, b_.sub(word(64), n)), shr(x.high, b_.sub(n, word(64))));
    ValueId low = or_(shr(x.low, n), from_high);
    return {shr(x.high, n), or_(low, number(b_.compare(CompareFn::Ne, lost, word(0))))};
  }
  Window negated(Window x, ValueId condition) {
    ValueId low = b_.sub(word(0), x.low), high = b_.add(not_(x.high), number(b_.compare(CompareFn::Eq, x.low, word(0))));
    return {b_.select(condition, high, x.high), b_.select(condition, low, x.low)};
  }
  Window plus(Window x, Window y) {
    ValueId low = b_.add(x.low, y.low), carry = number(b_.compare(CompareFn::Lt, low, x.low));
    return {b_.add(b_.add(x.high, y.high), carry), low};
  }

  // The bits of a positive number, `exponent` being that of the window's last bit.
  ValueId rounded(Window x, ValueId exponent) {
    ValueId in_low = b_.add(b_.unary(UnaryFn::LeadingZeros, x.low), word(64)), is_low = b_.compare(CompareFn::Eq, x.high, word(0));
    ValueId zeros = b_.select(is_low, in_low, b_.unary(UnaryFn::LeadingZeros, x.high));
    Window leading = moved_up(x, zeros);
    ValueId digits = or_(leading.high, number(b_.compare(CompareFn::Ne, leading.low, word(0))));
    // As an exponent of a float, biased: of the bit that now leads.
    ValueId biased = b_.sub(b_.add(exponent, signed_(127 - 52)), as_signed(zeros));
    ValueId below = b_.binary(BinaryFn::Min, at_least(b_.sub(signed_(1), biased), 0), signed_(63));
    digits = moved_down(digits, as_word(below));
    ValueId kept = shr(digits, word(11)), rest = b_.add(and_(digits, word(0x7ff)), and_(kept, word(1)));
    kept = b_.add(kept, number(b_.compare(CompareFn::Gt, rest, word(0x400))));
    ValueId base = b_.binary(BinaryFn::Min, b_.sub(at_least(biased, 1), signed_(1)), signed_(2046));
    return b_.binary(BinaryFn::Min, b_.add(shl(as_word(base), word(52)), kept), word(kInfinity));
  }

  // An infinite c stays, though the product alone would be infinite as well.
  ValueId with_special(ValueId a, ValueId b, ValueId c, ValueId finite) {
    auto is_finite = [&](ValueId x) {
      return b_.compare(CompareFn::Lt, b_.unary(UnaryFn::Abs, x), b_.real(Scalar::F64, std::numeric_limits<double>::infinity()));
    };
    ValueId has_product = b_.logical_and(is_finite(a), is_finite(b));
    ValueId special = b_.select(has_product, b_.add(c, c), b_.add(b_.mul(a, b), c));
    return b_.select(b_.logical_and(has_product, is_finite(c)), finite, special);
  }
};

}  // namespace

ValueId fused_in_integers(Builder& builder, ValueId a, ValueId b, ValueId c) { return Fused(builder).of(a, b, c); }

}  // namespace tilec::passes
