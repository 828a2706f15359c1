// exp2, exp and tanh: a whole power of two times a polynomial.
//
// Rounding the exponent down, not to the nearest, keeps 2^n in range whenever the result is: n = 128 is infinity, n =
// -127 is zero, and no case is told apart. A NaN passes through the polynomial.
#include "passes/math.h"

#include <numbers>

namespace tilec::passes {

using ir::BinaryFn;
using ir::UnaryFn;
using ir::ValueId;

namespace {

// 2^x = 1 + x P(x) on [0, 1]; exact at both ends.
constexpr double kExp2F32[] = {0.693147004, 0.240229905, 0.0554824471, 0.00968126766, 0.0012413864, 0.000217987777};
constexpr double kExp2F64[] = {0.69314718055994617,     0.24022650695905098,    0.055504108665815149,
                               0.0096181290977338397,   0.0013333558718463636,  0.00015403509624710191,
                               1.5253226807283383e-5,   1.3207729277964857e-6,  1.0258080994783175e-7,
                               6.5385855487278269e-9,   6.3022980993906138e-10};
// e^x = 1 + x (1 + x P(x)) on [0, ln 2].
constexpr double kExpF32[] = {0.500002742, 0.166627064, 0.0418726057, 0.0078418171, 0.0019267936};
constexpr double kExpF64[] = {
    0.49999999999996653,    0.16666666666818791,   0.041666666639555053,  0.0083333335907340104, 0.0013888874169478921,
    0.00019841807292199536, 2.4788769934474334e-5, 2.7755681543085733e-6, 2.5648778791969674e-7, 3.5236691095988921e-8};
// e^x - 1 = x + x^2 P(x) for |x| <= ln 2 / 2.
constexpr double kExpm1F32[] = {0.49999997, 0.166665778, 0.0416683331, 0.00836478639, 0.00137937337};
constexpr double kExpm1F64[] = {0.5,
                                0.16666666666666671,
                                0.04166666666666699,
                                0.0083333333333270292,
                                0.0013888888888611524,
                                0.00019841269870918393,
                                2.4801588025513795e-5,
                                2.7557258923305009e-6,
                                2.7556538288873969e-7,
                                2.5104905551151456e-8,
                                2.1195554414385912e-9};

constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts; the first has so few bits that its product with any exponent is exact.
struct Parts {
  double high, low;
};
constexpr Parts kLn2F32 = {0.693145751953125, 1.4286068203094172e-6};
constexpr Parts kLn2F64 = {0.6931471803691238, 1.9082149292705878e-10};

}  // namespace

ValueId Math::power_of_two(ValueId n) {
  // Added to 1.5 * 2^mantissa, a small whole number stands in the low bits; the bias makes it an exponent.
  ValueId placed = b_.add(n, real(double(3ull << (mantissa() - 1)) + bias()));
  return from_bits(b_.binary(BinaryFn::Shl, bits(placed), word(mantissa())));
}

// At most 1.2 ulp (f32 and f64), 1.6 without fused multiply-add.
ValueId Math::exp2(ValueId x) {
  ValueId y = at_least(at_most(x, bias() + 1), -bias());
  ValueId n = b_.unary(UnaryFn::Floor, y);
  ValueId f = b_.sub(y, n);
  ValueId p = fma(polynomial(f, is_double() ? std::span<const double>(kExp2F64) : kExp2F32), f, real(1));
  return b_.mul(p, power_of_two(n));
}

// Multiplied by the power in two steps, of which the first is exact.
ValueId Math::exp2_of_any(ValueId x) {
  ValueId y = at_least(at_most(x, bias() + 1), -bias() - mantissa() - 1);
  ValueId n = b_.unary(UnaryFn::Floor, y);
  ValueId f = b_.sub(y, n), normal = at_least(n, 1 - bias());
  ValueId p = fma(polynomial(f, is_double() ? std::span<const double>(kExp2F64) : kExp2F32), f, real(1));
  return b_.mul(b_.mul(p, power_of_two(normal)), power_of_two(b_.sub(n, normal)));
}

// What the product with log2 e has lost, by rounding and by the constant's own, is made up for to first order. At most 1.3 ulp beside
// what the instruction errs by. The upper bound is the least argument whose power is infinite: what it has lost is above 0, so that
// the last sum is infinite, too.
ValueId Math::exp_of_exp2(ValueId x) {
  constexpr double kLeastInfinite = 88.722839355, kGreatestZero = -110, kFactor = float(kLog2E), kLost = kLog2E - kFactor;
  ValueId y = at_least(at_most(x, kLeastInfinite), kGreatestZero);
  ValueId high = b_.mul(y, real(kFactor)), low = fma(y, real(kFactor), b_.unary(UnaryFn::Neg, high));
  ValueId correction = fma(low, real(std::numbers::ln2), b_.mul(y, real(std::numbers::ln2 * kLost)));
  ValueId power = b_.unary(UnaryFn::Exp2, high);
  return fma(power, correction, power);
}

// At most 2 ulp (f32 and f64).
ValueId Math::exp(ValueId x) {
  if (!is_double() && machine_.has(Cap::NativeExp2) && machine_.has(Cap::FusedMultiplyAdd)) return exp_of_exp2(x);
  ValueId y = is_double() ? at_least(at_most(x, 710), -709) : at_least(at_most(x, 89), -88);
  ValueId n = b_.unary(UnaryFn::Floor, b_.mul(y, real(kLog2E)));
  const Parts& ln2 = is_double() ? kLn2F64 : kLn2F32;
  ValueId r = fma(n, real(-ln2.low), fma(n, real(-ln2.high), y));
  ValueId p = polynomial(r, is_double() ? std::span<const double>(kExpF64) : kExpF32);
  p = fma(fma(p, r, real(1)), r, real(1));
  return b_.mul(p, power_of_two(n));
}

// tanh |x| = e / (e + 2) with e = exp(2 |x|) - 1, which keeps its precision near zero. At most 4 ulp (f32), 4 ulp
// (f64).
ValueId Math::tanh(ValueId x) {
  ValueId y = at_most(abs(x), is_double() ? 20 : 10);
  y = b_.add(y, y);
  ValueId n = b_.unary(UnaryFn::Round, b_.mul(y, real(kLog2E)));
  const Parts& ln2 = is_double() ? kLn2F64 : kLn2F32;
  ValueId r = fma(n, real(-ln2.low), fma(n, real(-ln2.high), y));
  ValueId p = polynomial(r, is_double() ? std::span<const double>(kExpm1F64) : kExpm1F32);
  p = fma(b_.mul(r, r), p, r);
  ValueId scale = power_of_two(n);
  ValueId e = fma(scale, p, b_.sub(scale, real(1)));
  return with_sign(b_.binary(BinaryFn::Div, e, b_.add(e, real(2))), sign(x));
}

}  // namespace tilec::passes
