// log, log2 and pow: x = 2^e (1 + f) with f near zero, the exponent beside a series in f.
#include <limits>

#include "passes/math.h"

namespace tilec::passes {

using ir::BinaryFn;
using ir::CompareFn;
using ir::UnaryFn;
using ir::ValueId;

namespace {

// log2(1 + x) = x P(x) and log(1 + x) = x - x^2 / 2 + x^3 P(x), 1 + x in [sqrt(1/2), sqrt(2)].
constexpr double kLog2F32[] = {1.44269502,   -0.721347272, 0.480904639,  -0.360707253, 0.288235843,
                               -0.239109054, 0.210148975,  -0.200548142, 0.156761795,  -0.0527355};
constexpr double kLogF32[] = {0.333333313, -0.250008225, 0.200012609, -0.166233346,
                              0.142009467, -0.131595001, 0.127669275, -0.0764307752};
// 2 atanh(s) = 2 s + s z P(z) with z = s^2.
constexpr double kAtanhF64[] = {0.66666666666666663, 0.40000000000004926, 0.28571428569409774, 0.22222222607239445,
                                0.18181778329865078, 0.15386990083301025, 0.13252118521149867, 0.13235056930902048};
constexpr double kLn2HighF32 = 0.693145751953125, kLn2LowF32 = 1.4286068203094172e-6;
constexpr double kLn2HighF64 = 0.6931471803691238, kLn2LowF64 = 1.9082149292705878e-10;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Math::Logarithm Math::split(ValueId x) {
  // A subnormal is first made normal.
  double least = is_double() ? 0x1p-1022 : 0x1p-126;
  ValueId is_small = b_.compare(CompareFn::Lt, x, real(least));
  ValueId normal = b_.select(is_small, b_.mul(x, real(is_double() ? 0x1p54 : 0x1p24)), x);
  double offset = is_double() ? 54 : 24;
  // Counted from the bits of sqrt(1/2), the exponent steps where the fraction must; it is read through a float whose
  // last place is 1.
  uint64_t root = ir::to_bits(type_, ir::Number::real(0.70710678118654752));
  uint64_t one = uint64_t(bias()) << mantissa();
  ValueId shifted = b_.add(bits(normal), word(one - root));
  double magic = double(1ull << mantissa());
  ValueId whole = b_.binary(BinaryFn::Or, b_.binary(BinaryFn::Shr, shifted, word(mantissa())), word_of(magic));
  ValueId excess = b_.select(is_small, real(magic + bias() + offset), real(magic + bias()));
  ValueId fraction = b_.binary(BinaryFn::And, shifted, word((1ull << mantissa()) - 1));
  return {b_.sub(from_bits(whole), excess), b_.sub(from_bits(b_.add(fraction, word(root))), real(1))};
}

ValueId Math::with_log_edges(ValueId x, ValueId result) {
  ValueId above = b_.select(b_.compare(CompareFn::Lt, x, real(kInfinity)), result, x);
  ValueId is_zero = b_.compare(CompareFn::Eq, x, real(0));
  ValueId below = b_.select(is_zero, real(-kInfinity), real(std::numeric_limits<double>::quiet_NaN()));
  return b_.select(b_.compare(CompareFn::Gt, x, real(0)), above, below);
}

// log(1 + f) - f, which the caller adds with what else it has.
ValueId Math::log_of_fraction(ValueId f) {
  if (!is_double()) {
    ValueId square = b_.mul(f, f);
    ValueId cubic = b_.mul(b_.mul(square, f), polynomial(f, kLogF32));
    return fma(square, real(-0.5), cubic);
  }
  // With s = f / (2 + f): 2 s = f - s f, and log(1 + f) = f - s (f - z P(z)).
  ValueId s = b_.binary(BinaryFn::Div, f, b_.add(f, real(2)));
  ValueId z = b_.mul(s, s);
  ValueId inner = b_.sub(f, b_.mul(z, polynomial(z, kAtanhF64)));
  return b_.unary(UnaryFn::Neg, b_.mul(s, inner));
}

// At most 2 ulp (f32 and f64).
ValueId Math::log(ValueId x) {
  auto [e, f] = split(x);
  ValueId tail = fma(e, real(is_double() ? kLn2LowF64 : kLn2LowF32), log_of_fraction(f));
  ValueId result = fma(e, real(is_double() ? kLn2HighF64 : kLn2HighF32), b_.add(f, tail));
  return with_log_edges(x, result);
}

// At most 2 ulp (f32), 3 ulp (f64).
ValueId Math::log2(ValueId x) {
  auto [e, f] = split(x);
  if (!is_double()) return with_log_edges(x, fma(f, polynomial(f, kLog2F32), e));
  return with_log_edges(x, fma(b_.add(f, log_of_fraction(f)), real(kLog2E), e));
}

// 2^(y log2 |x|) in f64, and the cases of C's pow. An f32 is at most 1 ulp off; an f64 has the relative error of the
// logarithm times |y log2 x|: below 2^-51 (1 + |y log2 x|), and is subnormal where the power is.
ValueId Math::pow(ValueId x, ValueId y) {
  ValueId magnitude = abs(x);
  ValueId power = exp2_of_any(b_.mul(y, log2(magnitude)));
  ValueId is_one = b_.compare(CompareFn::Eq, magnitude, real(1)), is_zeroth = b_.compare(CompareFn::Eq, y, real(0));
  power = b_.select(b_.logical_or(is_one, is_zeroth), real(1), power);
  ValueId is_whole = b_.compare(CompareFn::Eq, b_.unary(UnaryFn::Floor, y), y);
  ValueId half = b_.mul(y, real(0.5));
  ValueId is_odd = b_.logical_and(is_whole, b_.compare(CompareFn::Ne, b_.unary(UnaryFn::Floor, half), half));
  ValueId signed_power = b_.select(is_odd, with_sign(power, sign(x)), power);
  ValueId is_negative =
      b_.logical_and(b_.compare(CompareFn::Lt, x, real(0)), b_.compare(CompareFn::Gt, x, real(-kInfinity)));
  ValueId has_no_value = b_.logical_and(is_negative, b_.logical_not(b_.logical_or(is_whole, is_zeroth)));
  return b_.select(has_no_value, real(std::numeric_limits<double>::quiet_NaN()), signed_power);
}

}  // namespace tilec::passes
