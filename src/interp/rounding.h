// Rounding and memory formats of the common floats, fast: the same meaning as base/scalar.h, which a unit test
// compares.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/scalar.h"

namespace tilec::interp {

// Rounds a double to a format of kMantissa mantissa bits whose least normal number is 2^kLeast, nearest even.
template <int kMantissa, int kLeast, int kGreatest>
inline double round_small(double x) {
  constexpr int kDrop = 52 - kMantissa;
  double magnitude = std::fabs(x);
  if (!(magnitude < std::numeric_limits<double>::infinity())) return x;
  if (magnitude < std::bit_cast<double>(uint64_t(1023 + kLeast) << 52)) {
    constexpr double kShift = std::bit_cast<double>((uint64_t(1023 + kLeast - kMantissa + 52) << 52) | (1ull << 51));
    volatile double up = magnitude + kShift;  // the sum's last bit weighs one subnormal step
    return std::copysign(up - kShift, x);
  }
  uint64_t bits = std::bit_cast<uint64_t>(x);
  bits += ((1ull << (kDrop - 1)) - 1) + (bits >> kDrop & 1);
  double rounded = std::bit_cast<double>(bits & ~((1ull << kDrop) - 1));
  if (std::fabs(rounded) >= std::bit_cast<double>(uint64_t(1023 + kGreatest + 1) << 52))
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  return rounded;
}

inline double round_f16(double x) { return round_small<10, -14, 15>(x); }
inline double round_bf16(double x) { return round_small<7, -126, 127>(x); }
inline double round_tf32(double x) { return round_small<10, -126, 127>(x); }

struct KeepF64 {
  static double apply(double x) { return x; }
};
struct RoundF32 {
  static double apply(double x) { return double(float(x)); }
};
struct RoundF16 {
  static double apply(double x) { return round_f16(x); }
};
struct RoundBF16 {
  static double apply(double x) { return round_bf16(x); }
};
struct RoundTF32 {
  static double apply(double x) { return round_tf32(x); }
};

inline double decode_f16(uint16_t bits) {
  uint64_t exponent = bits >> 10 & 31, mantissa = bits & 1023, sign = uint64_t(bits >> 15) << 63;
  if (exponent == 0) {
    double value = double(mantissa) * 0x1p-24;
    return sign ? -value : value;
  }
  uint64_t wide = exponent == 31 ? 2047 : exponent - 15 + 1023;
  return std::bit_cast<double>(sign | wide << 52 | mantissa << 42);
}

inline uint16_t encode_f16(double x) {
  x = round_f16(x);
  uint64_t bits = std::bit_cast<uint64_t>(x);
  uint16_t sign = uint16_t(bits >> 63 << 15);
  double magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | uint16_t(magnitude * 0x1p24);
  return sign | uint16_t(((bits >> 52 & 2047) - 1023 + 15) << 10) | uint16_t(bits >> 42 & 1023);
}

inline double decode_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
inline uint16_t encode_bf16(double x) {
  if (std::isnan(x)) return uint16_t(std::signbit(x) << 15 | 0x7fc0);
  return uint16_t(std::bit_cast<uint32_t>(float(round_bf16(x))) >> 16);
}

// The upper bits of an f32, whatever stands below them.
constexpr uint32_t kBitsOfTF32 = 0xffffe000;
inline double decode_tf32(uint32_t bits) { return std::bit_cast<float>(bits & kBitsOfTF32); }
inline uint32_t encode_tf32(double x) {
  if (std::isnan(x)) return uint32_t(std::signbit(x)) << 31 | 0x7fc00000;
  return std::bit_cast<uint32_t>(float(round_tf32(x)));
}

}  // namespace tilec::interp
