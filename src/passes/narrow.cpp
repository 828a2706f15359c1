// How a narrow float becomes an f32 and back.
//
// Between the formats the mantissa moves by `shift` bits and the exponent by the difference of the biases. What is
// subnormal in the narrow format is a normal f32: it is shifted into place by adding, and taking away, the power of two
// whose last bit weighs as much as the narrow format's. No step reads or makes a subnormal f32 that matters, so
// flushing them changes nothing. bf16 and tf32 are the upper bits of an f32, so that nothing has to move. Patterns are i32, not u32: machines of 128 and 256 bits compare only signed words.
#include "passes/narrow.h"

#include <bit>

namespace tilec::passes {

using ir::BinaryFn;
using ir::CompareFn;
using ir::ConvertMode;
using ir::ValueId;

namespace {

constexpr int kMantissa = 23, kBias = 127;
constexpr uint32_t kInfinity = 0x7f800000, kSign = 0x80000000;

// The numbers that tell a narrow format from f32.
struct Format {
  int shift, sign_shift, spare;
  uint32_t top, ones;     // exponent all ones; mantissa all ones
  uint32_t rebias;        // what a normal's exponent gains on the way to f32, in place
  uint32_t least_normal;  // as bits of f32
  uint32_t magic;         // bits of the f32 whose last place is the narrow format's least subnormal
  bool has_infinity, saturates;

  explicit Format(Scalar type) {
    FloatFormat f = float_format(type);
    shift = kMantissa - f.mantissa_bits;
    sign_shift = 32 - bit_width(type);
    spare = f.spare_bits;
    ones = (1u << f.mantissa_bits) - 1;
    top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
    rebias = uint32_t(kBias - f.bias) << kMantissa;
    least_normal = uint32_t(kBias + 1 - f.bias) << kMantissa;
    magic = uint32_t(kBias + 1 - f.bias - f.mantissa_bits + kMantissa) << kMantissa;
    has_infinity = f.has_infinity;
    saturates = bit_width(type) == 8;
  }
  uint32_t nan() const { return top | (has_infinity ? (ones + 1) >> 1 : ones); }
  uint32_t greatest() const { return has_infinity ? top - 1 : (top | ones) - 1; }
};

}  // namespace

bool is_storage_only(const Machine& machine, Scalar type) {
  switch (type) {
    case Scalar::F16: case Scalar::BF16: return !machine.has(Cap::HalfArithmetic);
    case Scalar::F8E4M3: case Scalar::F8E5M2: case Scalar::TF32: return true;
    default: return false;
  }
}

Scalar word_of(Scalar type) { return bit_width(type) == 8 ? Scalar::U8 : bit_width(type) == 16 ? Scalar::U16 : Scalar::U32; }

bool Narrow::converts_natively(Scalar type) const {
  if (machine_.has(Cap::TextFunctions)) return type != Scalar::TF32;
  if (type == Scalar::F16) return machine_.has(Cap::HalfConvert) || machine_.has(Cap::HalfArithmetic);
  return type == Scalar::BF16 && machine_.has(Cap::HalfArithmetic);
}

bool Narrow::rounds_natively(Scalar type) const {
  return converts_natively(type) || machine_.has(Cap::TextFunctions) || (type == Scalar::BF16 && machine_.has(Cap::BrainRound));
}

ValueId Narrow::unpack(ValueId x) {
  return b_.convert(bits(x, word_of(b_.kernel().type(x).element)), Scalar::I32, ConvertMode::Wrap);
}

ValueId Narrow::meant(ValueId x, Scalar to, Meaning meaning, ConvertMode mode) {
  ir::Type type = b_.kernel().type(x);
  if (b_.kernel().constant(x)) return b_.convert(x, to, mode);
  type.element = to;
  type.varying |= b_.kernel().type(meaning.exact).varying;
  return b_.value(ir::op::Convert{x, mode, meaning.exact, meaning.rounds}, type);
}
ValueId Narrow::same(ValueId pattern, Scalar to, ValueId exact) { return meant(pattern, to, {exact, false}); }

ValueId Narrow::pack(ValueId pattern, Scalar to, Meaning meaning) {
  return meant(b_.convert(pattern, word_of(to), ConvertMode::Wrap), to, meaning);
}

ValueId Narrow::cut(ValueId x) {
  if (b_.kernel().constant(x)) return x;
  return pack(b_.binary(BinaryFn::And, unpack(x), word(~0u << Format(Scalar::TF32).spare)), Scalar::TF32, {x, false});
}

ValueId Narrow::widen(ValueId x) {
  Scalar type = b_.kernel().type(x).element;
  if (b_.kernel().constant(x)) return b_.convert(x, Scalar::F32);
  if (converts_natively(type)) return meant(x, Scalar::F32, {x, false}, ConvertMode::Nearest);
  if (type == Scalar::TF32) return same(x, Scalar::F32, x);
  Format f(type);
  ValueId pattern = unpack(x);
  if (type == Scalar::BF16) return same(b_.binary(BinaryFn::Shl, pattern, word(16)), Scalar::F32, x);
  ValueId sign =
      b_.binary(BinaryFn::Shl, b_.binary(BinaryFn::And, pattern, word(kSign >> f.sign_shift)), word(f.sign_shift));
  ValueId magnitude = b_.binary(BinaryFn::And, pattern, word(f.top | f.ones));
  ValueId placed = b_.binary(BinaryFn::Shl, magnitude, word(f.shift));
  ValueId normal = b_.add(placed, word(f.rebias));
  ValueId is_special = f.has_infinity ? b_.compare(CompareFn::Ge, magnitude, word(f.top))
                                      : b_.compare(CompareFn::Eq, magnitude, word(f.top | f.ones));
  ValueId special = b_.binary(BinaryFn::Or, placed, word(kInfinity));
  ValueId magic = b_.real(Scalar::F32, std::bit_cast<float>(f.magic));
  ValueId subnormal = bits(b_.sub(bits(b_.add(magnitude, word(f.magic)), Scalar::F32), magic), Scalar::I32);
  ValueId is_normal = b_.compare(CompareFn::Gt, magnitude, word(f.ones));
  ValueId result = b_.select(is_normal, b_.select(is_special, special, normal), subnormal);
  return same(b_.binary(BinaryFn::Or, result, sign), Scalar::F32, x);
}

std::optional<ValueId> Narrow::lengthened(ValueId x, Scalar to) {
  Scalar from = b_.kernel().type(x).element;
  if (!is_narrow_float(from) || !is_narrow_float(to) || b_.kernel().constant(x)) return std::nullopt;
  FloatFormat a = float_format(from), b = float_format(to);
  if (a.exponent_bits != b.exponent_bits || a.has_infinity != b.has_infinity || a.mantissa_bits >= b.mantissa_bits) return std::nullopt;
  return pack(b_.binary(BinaryFn::Shl, unpack(x), word(uint32_t(bit_width(to) - bit_width(from)))), to, {x, true});
}

ValueId Narrow::narrow(ValueId x, Scalar to) { return rounded(x, to, x, false); }

ValueId Narrow::rounded(ValueId x, Scalar to, ValueId exact, bool rounds) {
  if (b_.kernel().constant(x)) return b_.convert(x, to);
  if (b_.kernel().type(x).element == Scalar::F64 && !machine_.has(Cap::TextFunctions)) x = f32_rounded_to_odd(x);
  if (rounds_natively(to)) return meant(x, to, {exact, rounds}, ConvertMode::Nearest);
  Format f(to);
  ValueId pattern = bits(x, Scalar::I32);
  // Half of the last place less one, and one more when the last bit is set: ties go to even.
  ValueId odd = b_.binary(BinaryFn::And, b_.binary(BinaryFn::Shr, pattern, word(f.shift)), word(1));
  uint32_t half = (1u << (f.shift - 1)) - 1;
  if (to == Scalar::BF16 || to == Scalar::TF32) {
    ValueId sum = b_.add(b_.add(pattern, word(half)), odd), is_nan = b_.compare(CompareFn::Ne, x, x);
    ValueId kept = f.spare ? b_.binary(BinaryFn::And, sum, word(~0u << f.spare)) : b_.binary(BinaryFn::Shr, sum, word(f.shift));
    return pack(b_.select(is_nan, word(f.nan() << f.spare), kept), to, {exact, rounds});
  }
  ValueId magnitude = b_.binary(BinaryFn::And, pattern, word(~kSign));
  ValueId sign =
      b_.binary(BinaryFn::And, b_.binary(BinaryFn::Shr, pattern, word(f.sign_shift)), word(kSign >> f.sign_shift));
  ValueId normal = b_.binary(BinaryFn::Shr, b_.add(b_.add(magnitude, word(half - f.rebias)), odd), word(f.shift));
  ValueId magic = b_.real(Scalar::F32, std::bit_cast<float>(f.magic));
  ValueId subnormal = b_.sub(bits(b_.add(bits(magnitude, Scalar::F32), magic), Scalar::I32), word(f.magic));
  ValueId greatest = word(f.saturates ? f.greatest() : f.top);
  ValueId finite = b_.select(b_.compare(CompareFn::Lt, magnitude, word(f.least_normal)), subnormal,
                             b_.binary(BinaryFn::Min, normal, greatest));
  if (f.saturates && f.has_infinity)  // infinities stay, finite values do not reach them
    finite = b_.select(b_.compare(CompareFn::Eq, magnitude, word(kInfinity)), word(f.top), finite);
  ValueId is_nan = b_.compare(CompareFn::Gt, magnitude, word(kInfinity));
  return pack(b_.binary(BinaryFn::Or, b_.select(is_nan, word(f.nan()), finite), sign), to, {exact, rounds});
}

// Rounding to odd keeps, in the last bit, that something was cut off; a later rounding to fewer bits is then as if it
// had been the only one.
ValueId Narrow::f32_rounded_to_odd(ValueId x) {
  ValueId nearest = b_.convert(x, Scalar::F32);
  ValueId back = b_.unary(ir::UnaryFn::Abs, b_.convert(nearest, Scalar::F64));
  ValueId magnitude = b_.unary(ir::UnaryFn::Abs, x);
  ValueId is_above = b_.compare(CompareFn::Gt, back, magnitude), is_below = b_.compare(CompareFn::Lt, back, magnitude);
  ValueId pattern = bits(nearest, Scalar::I32);
  ValueId cut = b_.select(is_above, b_.sub(pattern, word(1)), pattern);
  ValueId odd = b_.binary(BinaryFn::Or, cut, word(1));
  return bits(b_.select(b_.logical_or(is_above, is_below), odd, cut), Scalar::F32);
}

ValueId Narrow::convert(ValueId x, Scalar to, ConvertMode mode) {
  Scalar from = b_.kernel().type(x).element;
  if (mode == ConvertMode::Bits || b_.kernel().constant(x)) return b_.convert(x, to, mode);
  if (is_storage_only(machine_, from)) return convert(widen(x), to, mode);
  if (!is_storage_only(machine_, to)) return b_.convert(x, to, mode);
  // Integers of up to 16 bits are exact in f32, wider ones go through f64, exactly or rounded to odd.
  if (is_float(from) && from != Scalar::F64) return rounded(b_.convert(x, Scalar::F32), to, x, true);
  if (bit_width(from) <= 16) return rounded(b_.convert(x, Scalar::F32), to, x, true);
  return rounded(is_float(from) ? x : integer_rounded_to_odd(x), to, x, true);
}

ValueId Narrow::to_float(ValueId x, Scalar to) {
  Scalar from = b_.kernel().type(x).element;
  return is_storage_only(machine_, from) || is_storage_only(machine_, to) ? convert(x, to, ConvertMode::Nearest) : b_.convert(x, to);
}

// As many of the leading bits of the magnitude as `to` has: then any rounding is exact.
ValueId Narrow::integer_toward_zero(ValueId x, Scalar to) {
  Scalar from = b_.kernel().type(x).element;
  int digits = float_format(to).mantissa_bits + 1;
  if (bit_width(from) <= digits) return b_.convert(x, to);
  auto number = [&](int64_t n) { return b_.constant(Scalar::U64, ir::Number::integer(n)); };
  ValueId is_negative;
  if (is_signed(from)) {
    x = b_.convert(x, Scalar::I64);
    is_negative = b_.compare(CompareFn::Lt, x, b_.constant(Scalar::I64, ir::Number::integer(0)));
    x = b_.select(is_negative, b_.unary(ir::UnaryFn::Neg, x), x);
  }
  ValueId magnitude = b_.convert(x, Scalar::U64, ConvertMode::Wrap), zeros = b_.unary(ir::UnaryFn::LeadingZeros, magnitude);
  ValueId kept = b_.binary(BinaryFn::Min, zeros, number(64 - digits));
  ValueId dropped = b_.sub(number(64 - digits), kept);
  magnitude = b_.binary(BinaryFn::Shl, b_.binary(BinaryFn::Shr, magnitude, dropped), dropped);
  ValueId real = b_.convert(magnitude, to);
  return is_negative.valid() ? b_.select(is_negative, b_.unary(ir::UnaryFn::Neg, real), real) : real;
}

// To nearest, and one step back where that went too far. Cutting in two steps, the finer first, is cutting once.
ValueId Narrow::toward_zero(ValueId x, Scalar to) {
  Scalar from = b_.kernel().type(x).element;
  if (b_.kernel().constant(x)) return b_.convert(x, to, ConvertMode::TowardZero);
  if (is_storage_only(machine_, from)) return toward_zero(widen(x), to);
  Scalar step = to == Scalar::F64 ? Scalar::F64 : Scalar::F32;
  if (!is_float(from)) return toward_zero(integer_toward_zero(x, step), to);
  if (from == Scalar::F64 && is_narrow_float(to)) return toward_zero(toward_zero(x, Scalar::F32), to);
  if (from == to) return x;
  ValueId nearest = to_float(x, to), back = to_float(nearest, from);
  if (bit_width(to) > bit_width(from)) return nearest;
  ValueId is_beyond = b_.compare(CompareFn::Gt, b_.unary(ir::UnaryFn::Abs, back), b_.unary(ir::UnaryFn::Abs, x));
  Scalar as = word_of(to);
  ValueId pattern = bits(nearest, as), one = b_.constant(as, ir::Number::integer(int64_t(1) << float_format(to).spare_bits));
  return bits(b_.select(is_beyond, b_.sub(pattern, one), pattern), to);
}

}  // namespace tilec::passes
