// Floats of 8 and 16 bits, and tf32, as C text: a function for each way. What is subnormal in the narrow format is placed by adding
// a power of two whose last place is that of the format; all else by moving the mantissa and counting the exponent anew.
#include "base/check.h"
#include "target/c_family/scalar_text.h"

namespace tilec::target {

namespace {

std::string number(uint64_t value, Scalar of) { return bit_width(of) == 64 ? "UINT64_C(" + std::to_string(value) + ")" : std::to_string(value) + "u"; }

constexpr std::string_view kWiden =
    "{F} float {N}({T} x) {\n"
    "  const uint32_t magnitude = x & {MAGNITUDE}, sign = (uint32_t)(x & {SIGN}) << {UP};\n"
    "  float y = (float)(int32_t)magnitude * {LEAST};\n  uint32_t bits;\n"
    "  memcpy(&bits, &y, sizeof bits);\n"
    "  if (magnitude > {ONES}) bits = (magnitude << {SHIFT}) + {REBIAS};\n"
    "  if (magnitude {ABOVE} {TOP}) bits = magnitude << {SHIFT} | 0x7f800000u;\n"
    "  bits |= sign;\n  memcpy(&y, &bits, sizeof y);\n  return y;\n}\n";

constexpr std::string_view kRound =
    "{F} {R} {N}({T} x) {\n"
    "  {U} bits, rounded;\n  {T} small = {ABS}(x) + {MAGIC};\n"
    "  memcpy(&bits, &x, sizeof bits);\n  memcpy(&rounded, &small, sizeof rounded);\n"
    "  const {U} magnitude = bits & {MAGNITUDE}, sign = bits >> {DOWN} & {SIGN};\n"
    "  if (magnitude < {NORMAL}) rounded -= {PLACED};\n"
    "  else rounded = (magnitude + {HALF} + (magnitude >> {SHIFT} & 1) - {REBIAS}) >> {SHIFT};\n"
    "  if (rounded > {GREATEST}) rounded = {BEYOND};\n"
    "  if (magnitude >= {INFINITY}) rounded = magnitude > {INFINITY} ? {NAN} : {OF_INFINITY};\n"
    "  return ({R})((rounded | sign) << {SPARE});\n}\n";

std::string power_of_two(int exponent) { return "0x1p" + std::to_string(exponent); }

}  // namespace

std::string ScalarText::widened(Scalar from, const std::string& x) {
  if (from == Scalar::TF32) return convert(from, Scalar::F32, ir::ConvertMode::Bits, x);
  const FloatFormat f = float_format(from), wide = float_format(Scalar::F32);
  const uint32_t ones = (1u << f.mantissa_bits) - 1, top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits, sign = 1u << (bit_width(from) - 1);
  auto word = [](uint32_t value) { return number(value, Scalar::F32); };
  std::string text = filled(kWiden, {{"MAGNITUDE", word(top | ones)}, {"SIGN", word(sign)}, {"UP", std::to_string(32 - bit_width(from))},
                                     {"LEAST", power_of_two(1 - f.bias - f.mantissa_bits) + "f"}, {"ONES", word(ones)},
                                     {"SHIFT", std::to_string(wide.mantissa_bits - f.mantissa_bits)},
                                     {"REBIAS", word(uint32_t(wide.bias - f.bias) << wide.mantissa_bits)},
                                     {"ABOVE", f.has_infinity ? ">=" : "=="}, {"TOP", word(f.has_infinity ? top : top | ones)}});
  return helper("float_of", from, text) + "(" + x + ")";
}

std::string ScalarText::rounded(Scalar from, Scalar to, const std::string& x) {
  INVARIANT(from == Scalar::F32 || from == Scalar::F64, "narrow floats are rounded from f32 and f64");
  const FloatFormat f = float_format(to), wide = float_format(from);
  const uint64_t ones = (1ull << f.mantissa_bits) - 1, top = ((1ull << f.exponent_bits) - 1) << f.mantissa_bits;
  const uint64_t greatest = f.has_infinity ? top - 1 : (top | ones) - 1, sign = 1ull << (f.exponent_bits + f.mantissa_bits);
  const uint64_t infinity = ((1ull << wide.exponent_bits) - 1) << wide.mantissa_bits;
  const int shift = wide.mantissa_bits - f.mantissa_bits, magic = 1 - f.bias + shift;
  auto word = [&](uint64_t value) { return number(value, from); };
  auto exponent = [&](int value) { return word(uint64_t(value + wide.bias) << wide.mantissa_bits); };
  const bool saturates = bit_width(to) == 8;
  std::string text = filled(kRound, {{"R", c_type(to)}, {"ABS", from == Scalar::F32 ? "fabsf" : "fabs"},
                                     {"MAGIC", power_of_two(magic) + (from == Scalar::F32 ? "f" : "")}, {"MAGNITUDE", word((1ull << (bit_width(from) - 1)) - 1)},
                                     {"DOWN", std::to_string(bit_width(from) - bit_width(to) + f.spare_bits)}, {"SIGN", word(sign)},
                                     {"NORMAL", exponent(1 - f.bias)}, {"PLACED", exponent(magic)}, {"HALF", word((1ull << (shift - 1)) - 1)},
                                     {"REBIAS", word(uint64_t(wide.bias - f.bias) << wide.mantissa_bits)}, {"SHIFT", std::to_string(shift)},
                                     {"GREATEST", word(greatest)}, {"BEYOND", word(saturates ? greatest : top)}, {"INFINITY", word(infinity)},
                                     {"NAN", word(top | (f.has_infinity ? (ones + 1) >> 1 : ones))}, {"OF_INFINITY", word(f.has_infinity ? top : greatest)},
                                     {"SPARE", std::to_string(f.spare_bits)}});
  return helper(std::string(tilec::name(to)) + "_of", from, text) + "(" + x + ")";
}

}  // namespace tilec::target
