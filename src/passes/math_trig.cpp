// sin and cos: the angle less a whole number of right angles, then a polynomial for each.
//
// Both are within 2 ulp (f32), and within 2 ulp (f64) where the rest is not almost zero, up to |x| = 2^22 (f32) and
// 2^20 (f64). Beyond, where an argument says little about the angle, the answer is NaN rather than a wrong number.
#include <limits>

#include "passes/math.h"

namespace tilec::passes {

using ir::BinaryFn;
using ir::CompareFn;
using ir::UnaryFn;
using ir::ValueId;

namespace {

// sin x = x + x z P(z), cos x = 1 - z / 2 + z^2 P(z), z = x^2, |x| <= pi / 4.
constexpr double kSinF32[] = {-0.166666538, 0.00833210163, -0.000195068467};
constexpr double kCosF32[] = {0.0416666456, -0.00138873013, 2.44306702e-5};
constexpr double kSinF64[] = {-0.16666666666666627,  0.0083333333333210791,  -0.0001984126982870106,
                              2.7557313296339277e-6, -2.5050694580492251e-8, 1.5893031162500174e-10};
constexpr double kCosF64[] = {0.041666666666666588,  -0.0013888888888872056, 2.4801587288144709e-5,
                              -2.755731395428104e-7, 2.0875667768350227e-9,  -1.1356709904749173e-11};

constexpr double kTwoOverPi = 0.63661977236758134;
// pi / 2 in f64 parts; a whole number of up to 24 (f64: 20) bits times any but the last is exact.
constexpr double kRightAngleForF32[] = {1.5707963258028030396, 9.9209357968054042519e-10};
constexpr double kRightAngleForF64[] = {1.5707963267341256142, 6.0771005063039659766e-11, 2.0222662487959506315e-21};

}  // namespace

Math::Angle Math::reduce(ValueId magnitude) {
  double limit = is_double() ? 0x1p20 : 0x1p22;
  ValueId is_far = b_.compare(CompareFn::Gt, magnitude, real(limit));
  ValueId near = b_.select(is_far, real(std::numeric_limits<double>::quiet_NaN()), magnitude);
  // An f32 is reduced in f64, where two parts of pi / 2 suffice.
  Math wide(b_, machine_, Scalar::F64);
  ValueId rest = b_.convert(near, Scalar::F64);
  ValueId n = b_.unary(UnaryFn::Round, b_.mul(rest, wide.real(kTwoOverPi)));
  for (double part : is_double() ? std::span<const double>(kRightAngleForF64) : kRightAngleForF32)
    rest = wide.fma(n, wide.real(-part), rest);
  rest = b_.convert(rest, type_);
  n = b_.convert(n, type_);
  return {rest, bits(b_.add(n, real(double(3ull << (mantissa() - 1)))))};
}

ValueId Math::sine(ValueId x, bool is_cosine) {
  auto [r, q] = reduce(abs(x));
  ValueId z = b_.mul(r, r);
  ValueId s = fma(b_.mul(r, z), polynomial(z, is_double() ? std::span<const double>(kSinF64) : kSinF32), r);
  ValueId c = polynomial(z, is_double() ? std::span<const double>(kCosF64) : kCosF32);
  c = fma(b_.mul(z, z), c, fma(z, real(-0.5), real(1)));
  if (is_cosine) q = b_.add(q, word(1));
  ValueId is_odd = b_.compare(CompareFn::Ne, b_.binary(BinaryFn::And, q, word(1)), word(0));
  ValueId value = b_.select(is_odd, c, s);
  ValueId flip = b_.binary(BinaryFn::Shl, b_.binary(BinaryFn::And, q, word(2)), word(bit_width(type_) - 2));
  if (!is_cosine) flip = b_.binary(BinaryFn::Xor, flip, sign(x));
  return from_bits(b_.binary(BinaryFn::Xor, bits(value), flip));
}

}  // namespace tilec::passes
