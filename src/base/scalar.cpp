#include "base/scalar.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tilec {

namespace {

constexpr std::string_view kNames[] = {
#define SCALAR(Kind, text, bits, kind) text,
#include "base/scalar.def"
};

}  // namespace

std::string_view name(Scalar s) { return kNames[int(s)]; }

std::optional<Scalar> scalar_named(std::string_view text) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == text) return Scalar(i);
  return std::nullopt;
}

bool is_supported(Scalar s) {
  switch (s) {
    case Scalar::I2: case Scalar::I4: case Scalar::U2: case Scalar::U4: case Scalar::F8E8M0: case Scalar::F8E4M3FNUZ:
    case Scalar::F8E5M2FNUZ: case Scalar::F6E2M3: case Scalar::F6E3M2: case Scalar::F4E2M1:
      return false;
    default: return true;
  }
}

FloatFormat float_format(Scalar s) {
  switch (s) {
    case Scalar::F16: return {5, 10, 15, true};
    case Scalar::BF16: return {8, 7, 127, true};
    case Scalar::TF32: return {8, 10, 127, true, 13};
    case Scalar::F32: return {8, 23, 127, true};
    case Scalar::F64: return {11, 52, 1023, true};
    case Scalar::F8E4M3: return {4, 3, 7, false};
    case Scalar::F8E5M2: return {5, 2, 15, true};
    default: UNREACHABLE("a float format is asked of a supported float type");
  }
}

double decode(Scalar s, uint64_t bits) {
  if (s == Scalar::F64) return std::bit_cast<double>(bits);
  if (s == Scalar::F32) return std::bit_cast<float>(uint32_t(bits));
  if (!is_float(s)) return scalar_class(s) == ScalarClass::Unsigned ? double(bits) : double(wrap(s, int64_t(bits)));
  FloatFormat f = float_format(s);
  bits >>= f.spare_bits;
  uint64_t mantissa = bits & ((1ull << f.mantissa_bits) - 1);
  int exponent = int(bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  double sign = bits >> (f.mantissa_bits + f.exponent_bits) & 1 ? -1.0 : 1.0;
  int top = (1 << f.exponent_bits) - 1;
  if (exponent == top && f.has_infinity)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == top && mantissa == (1ull << f.mantissa_bits) - 1) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(double(mantissa), 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(double(mantissa | 1ull << f.mantissa_bits), exponent - f.bias - f.mantissa_bits);
}

namespace {

// Without the spare bits.
uint64_t encode(const FloatFormat& f, double value) {
  uint64_t sign = uint64_t(std::signbit(value)) << (f.exponent_bits + f.mantissa_bits);
  uint64_t top = ((1ull << f.exponent_bits) - 1) << f.mantissa_bits, ones = (1ull << f.mantissa_bits) - 1;
  uint64_t greatest = f.has_infinity ? top - 1 : (top | ones) - 1;
  bool saturates = f.exponent_bits + f.mantissa_bits == 7;
  if (std::isnan(value)) return sign | top | (f.has_infinity ? 1ull << (f.mantissa_bits - 1) : ones);
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | (f.has_infinity ? top : greatest);
  if (magnitude == 0) return sign;
  int exponent;
  std::frexp(magnitude, &exponent);                        // magnitude = x * 2^exponent, x in [0.5, 1)
  int unit = std::max(exponent - 1, 1 - f.bias) - f.mantissa_bits;  // the weight of the last mantissa bit
  double scaled = std::nearbyint(std::ldexp(magnitude, -unit));     // to nearest even; a carry moves into the exponent
  uint64_t bits = uint64_t(scaled);
  if (exponent - 1 >= 1 - f.bias) bits += uint64_t(exponent - 1 + f.bias - 1) << f.mantissa_bits;
  if (bits > greatest) bits = saturates ? greatest : top;
  return sign | bits;
}

}  // namespace

uint64_t encode(Scalar s, double value) {
  if (s == Scalar::F64) return std::bit_cast<uint64_t>(value);
  if (s == Scalar::F32) return std::bit_cast<uint32_t>(float(value));
  FloatFormat f = float_format(s);
  return encode(f, value) << f.spare_bits;
}

double round_to(Scalar s, double value) {
  if (s == Scalar::F64) return value;
  if (s == Scalar::F32) return double(float(value));
  return decode(s, encode(s, value));
}

int64_t integer_min(Scalar s) {
  if (!is_signed(s)) return 0;
  return bit_width(s) == 64 ? std::numeric_limits<int64_t>::min() : -(1ll << (bit_width(s) - 1));
}

uint64_t integer_max(Scalar s) {
  if (s == Scalar::Bool) return 1;
  return ~0ull >> (64 - bit_width(s) + (is_signed(s) ? 1 : 0));
}

int64_t wrap(Scalar s, int64_t value) {
  if (s == Scalar::Bool) return value != 0;
  int shift = 64 - bit_width(s);
  if (shift == 0) return value;
  uint64_t up = uint64_t(value) << shift;
  return is_signed(s) ? int64_t(up) >> shift : int64_t(up >> shift);
}

int64_t saturate(Scalar s, int64_t value) {
  if (value < integer_min(s)) return integer_min(s);
  if (value > 0 && uint64_t(value) > integer_max(s)) return int64_t(integer_max(s));
  return value;
}

int64_t saturate(Scalar s, double value) {
  if (std::isnan(value)) return 0;
  if (value <= double(integer_min(s))) return integer_min(s);
  if (value >= double(integer_max(s))) return int64_t(integer_max(s));
  return is_signed(s) ? int64_t(value) : int64_t(uint64_t(value));
}

}  // namespace tilec
