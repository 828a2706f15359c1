// Scalar types and the bits of their values. Rounding is to nearest, ties to even; conversions to f8e4m3 and to
// narrower integers saturate, as the language says of `as`.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilec {

enum class Scalar : uint8_t {
#define SCALAR(Kind, ...) Kind,
#include "base/scalar.def"
};

enum class ScalarClass : uint8_t { Bool, Signed, Unsigned, Float };

// Asked for every element that is interpreted, so they are answered where they are asked.
constexpr int bit_width(Scalar scalar) {
  constexpr int kWidths[] = {
#define SCALAR(Kind, text, bits, kind) bits,
#include "base/scalar.def"
  };
  return kWidths[int(scalar)];
}
constexpr ScalarClass scalar_class(Scalar scalar) {
  constexpr ScalarClass kClasses[] = {
#define SCALAR(Kind, text, bits, kind) ScalarClass::kind,
#include "base/scalar.def"
  };
  return kClasses[int(scalar)];
}
std::string_view name(Scalar scalar);
std::optional<Scalar> scalar_named(std::string_view name);

constexpr int byte_width(Scalar scalar) { return (bit_width(scalar) + 7) / 8; }
constexpr bool is_float(Scalar s) { return scalar_class(s) == ScalarClass::Float; }
constexpr bool is_integer(Scalar s) { return scalar_class(s) == ScalarClass::Signed || scalar_class(s) == ScalarClass::Unsigned; }
constexpr bool is_signed(Scalar s) { return scalar_class(s) == ScalarClass::Signed; }
// Types that this compiler computes with today; the others parse and are answered with "not supported yet".
bool is_supported(Scalar scalar);

// Floats of fewer digits than f32: computed in f32, and rounded to the type after each operation.
constexpr bool is_narrow_float(Scalar s) { return is_float(s) && (bit_width(s) < 32 || s == Scalar::TF32); }

// The float formats as sign, exponent and mantissa, from the top bit down.
struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;   // f8e4m3 has none: its top exponent holds numbers up to 448, and one NaN
  int spare_bits = 0;  // below the mantissa, which no value reads and every value has as zeros: 13 of tf32
};
FloatFormat float_format(Scalar scalar);  // of a supported float

// Bits to value and back. `encode` rounds to nearest even; a format without infinity saturates, infinities included,
// f8e5m2 saturates finite values as well (infinities stay), the wider formats overflow to infinity.
double decode(Scalar scalar, uint64_t bits);
uint64_t encode(Scalar scalar, double value);
// `value` rounded to `scalar`'s precision.
double round_to(Scalar scalar, double value);

// Least and greatest value of an integer type.
int64_t integer_min(Scalar scalar);
uint64_t integer_max(Scalar scalar);
// `value` wrapped to the type's width (sign- or zero-extended back), or clamped to its range.
int64_t wrap(Scalar scalar, int64_t value);
int64_t saturate(Scalar scalar, int64_t value);
int64_t saturate(Scalar scalar, double value);  // rounds toward zero, NaN gives 0; a u64 comes back as its bits

}  // namespace tilec
