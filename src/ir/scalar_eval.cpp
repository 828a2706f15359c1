#include "ir/scalar_eval.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/rounded_to_odd.h"

namespace tilec::ir {

namespace {

Number real(Scalar type, double value, Numeric numeric) {
  return Number::real(numeric == Numeric::Wide ? value : round_to(type, value));
}

std::optional<double> float_unary(UnaryFn fn, double x) {
  switch (fn) {
    case UnaryFn::Neg: return -x;
    case UnaryFn::Abs: return std::fabs(x);
    case UnaryFn::Sqrt: return std::sqrt(x);
    case UnaryFn::Rsqrt: return 1 / std::sqrt(x);
    case UnaryFn::Exp: return std::exp(x);
    case UnaryFn::Exp2: return std::exp2(x);
    case UnaryFn::Log: return std::log(x);
    case UnaryFn::Log2: return std::log2(x);
    case UnaryFn::Sin: return std::sin(x);
    case UnaryFn::Cos: return std::cos(x);
    case UnaryFn::Tanh: return std::tanh(x);
    case UnaryFn::Erf: return std::erf(x);
    case UnaryFn::Floor: return std::floor(x);
    case UnaryFn::Ceil: return std::ceil(x);
    case UnaryFn::Round: return std::nearbyint(x);
    case UnaryFn::Trunc: return std::trunc(x);
    default: return std::nullopt;
  }
}

// An angle of which the number says little.
bool is_too_far(UnaryFn fn, Scalar type, double x) {
  return (fn == UnaryFn::Sin || fn == UnaryFn::Cos) && std::fabs(x) > (type == Scalar::F64 ? 0x1p20 : 0x1p22);
}

std::optional<int64_t> integer_unary(UnaryFn fn, Scalar type, int64_t x) {
  uint64_t low = uint64_t(x) & (~0ull >> (64 - bit_width(type)));
  switch (fn) {
    case UnaryFn::Neg:
      if (type == Scalar::Index && x == INT64_MIN) return std::nullopt;
      return int64_t(0 - uint64_t(x));
    case UnaryFn::Not: return type == Scalar::Bool ? !x : ~x;
    case UnaryFn::Abs:
      if (type == Scalar::Index && x == INT64_MIN) return std::nullopt;
      return x < 0 && is_signed(type) ? int64_t(0 - uint64_t(x)) : x;
    case UnaryFn::PopCount: return std::popcount(low);
    case UnaryFn::LeadingZeros: return std::countl_zero(low) - (64 - bit_width(type));
    default: return std::nullopt;
  }
}

double ignoring_nan(double a, double b, bool least) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return least ? std::fmin(a, b) : std::fmax(a, b);
}

std::optional<double> float_binary(BinaryFn fn, double a, double b) {
  switch (fn) {
    case BinaryFn::Add: return a + b;
    case BinaryFn::Sub: return a - b;
    case BinaryFn::Mul: return a * b;
    case BinaryFn::Div: return a / b;
    case BinaryFn::Rem: return a - b * std::floor(a / b);
    case BinaryFn::Pow: return std::pow(a, b);
    case BinaryFn::Min: return ignoring_nan(a, b, true);
    case BinaryFn::Max: return ignoring_nan(a, b, false);
    case BinaryFn::Minimum: return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b);
    case BinaryFn::Maximum: return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b);
    default: return std::nullopt;
  }
}

std::optional<int64_t> unsigned_binary(BinaryFn fn, Scalar type, uint64_t a, uint64_t b) {
  switch (fn) {
    case BinaryFn::Div: return b ? std::optional(int64_t(a / b)) : std::nullopt;
    case BinaryFn::Rem: return b ? std::optional(int64_t(a % b)) : std::nullopt;
    case BinaryFn::Min: case BinaryFn::Minimum: return int64_t(std::min(a, b));
    case BinaryFn::Max: case BinaryFn::Maximum: return int64_t(std::max(a, b));
    case BinaryFn::Shr: return b >= uint64_t(bit_width(type)) ? 0 : int64_t(a >> b);
    default: return std::nullopt;
  }
}

std::optional<int64_t> signed_binary(BinaryFn fn, Scalar type, int64_t a, int64_t b) {
  switch (fn) {
    case BinaryFn::Div:
      if (b == 0) return std::nullopt;
      if (b == -1) return int64_t(0 - uint64_t(a));
      return a / b - (a % b != 0 && (a < 0) != (b < 0));
    case BinaryFn::Rem:
      if (b == 0) return std::nullopt;
      if (b == -1) return 0;
      return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    case BinaryFn::Min: case BinaryFn::Minimum: return std::min(a, b);
    case BinaryFn::Max: case BinaryFn::Maximum: return std::max(a, b);
    case BinaryFn::Shr: return uint64_t(b) >= uint64_t(bit_width(type)) ? (a < 0 ? -1 : 0) : a >> b;
    default: return std::nullopt;
  }
}

// Add, subtract, multiply, shift left and bitwise: the same bits for signed and unsigned.
std::optional<int64_t> modular_binary(BinaryFn fn, Scalar type, int64_t a, int64_t b) {
  switch (fn) {
    case BinaryFn::Add: return int64_t(uint64_t(a) + uint64_t(b));
    case BinaryFn::Sub: return int64_t(uint64_t(a) - uint64_t(b));
    case BinaryFn::Mul: return int64_t(uint64_t(a) * uint64_t(b));
    case BinaryFn::And: return a & b;
    case BinaryFn::Or: return a | b;
    case BinaryFn::Xor: return a ^ b;
    case BinaryFn::Shl: return uint64_t(b) >= uint64_t(bit_width(type)) ? 0 : int64_t(uint64_t(a) << b);
    default: return std::nullopt;
  }
}

}  // namespace

bool overflows(BinaryFn fn, int64_t a, int64_t b) {
  int64_t exact;
  switch (fn) {
    case BinaryFn::Add: return __builtin_add_overflow(a, b, &exact);
    case BinaryFn::Sub: return __builtin_sub_overflow(a, b, &exact);
    case BinaryFn::Mul: return __builtin_mul_overflow(a, b, &exact);
    case BinaryFn::Div: return a == INT64_MIN && b == -1;
    case BinaryFn::Shl: return b < 0 || b > 63 ? a != 0 : a > (INT64_MAX >> b) || a < (INT64_MIN >> b);
    default: return false;
  }
}

std::optional<Number> evaluate(UnaryFn fn, Scalar type, Number x, Numeric numeric) {
  if (fn == UnaryFn::IsNan) return Number::integer(x.is_float && std::isnan(x.f));
  if (is_float(type)) {
    auto y = is_too_far(fn, type, x.f) ? std::numeric_limits<double>::quiet_NaN() : float_unary(fn, x.f);
    return y ? std::optional(real(type, *y, numeric)) : std::nullopt;
  }
  auto y = integer_unary(fn, type, x.i);
  return y ? std::optional(Number::integer(wrap(type, *y))) : std::nullopt;
}

std::optional<Number> evaluate(BinaryFn fn, Scalar type, Number a, Number b, Numeric numeric) {
  if (is_float(type)) {
    auto y = float_binary(fn, a.f, b.f);
    return y ? std::optional(real(type, *y, numeric)) : std::nullopt;
  }
  if (type == Scalar::Index && overflows(fn, a.i, b.i)) return std::nullopt;
  auto y = modular_binary(fn, type, a.i, b.i);
  if (!y)
    y = is_signed(type) ? signed_binary(fn, type, a.i, b.i) : unsigned_binary(fn, type, uint64_t(a.i), uint64_t(b.i));
  return y ? std::optional(Number::integer(wrap(type, *y))) : std::nullopt;
}

bool evaluate(CompareFn fn, Scalar type, Number a, Number b) {
  auto test = [fn](auto x, auto y) {
    switch (fn) {
      case CompareFn::Eq: return x == y;
      case CompareFn::Ne: return x != y;
      case CompareFn::Lt: return x < y;
      case CompareFn::Le: return x <= y;
      case CompareFn::Gt: return x > y;
      case CompareFn::Ge: return x >= y;
    }
    UNREACHABLE("a comparison is one of six");
  };
  if (is_float(type)) return test(a.f, b.f);
  return is_signed(type) ? test(a.i, b.i) : test(uint64_t(a.i), uint64_t(b.i));
}

Number evaluate_fma(Scalar type, Number a, Number b, Number c, Numeric numeric) {
  if (!is_float(type)) return Number::integer(wrap(type, int64_t(uint64_t(a.i) * uint64_t(b.i) + uint64_t(c.i))));
  if (type == Scalar::F64 || numeric == Numeric::Wide) return Number::real(std::fma(a.f, b.f, c.f));
  return real(type, sum_rounded_to_odd(a.f * b.f, c.f), numeric);  // a product of numbers of at most 24 digits is exact
}

namespace {

// Of the numbers that a float type has, the greatest whose magnitude is no greater: finite values stay finite.
double cut_to(Scalar type, double value) {
  uint64_t bits = encode(type, value);
  if (std::fabs(decode(type, bits)) > std::fabs(value)) bits -= uint64_t(1) << float_format(type).spare_bits;
  return decode(type, bits);
}

// An integer as f64, no further from zero than it is.
double toward_zero(Scalar type, Number x) {
  __int128 exact = is_signed(type) ? __int128(x.i) : __int128(uint64_t(x.i));
  double value = double(exact);
  bool is_beyond = exact < 0 ? __int128(value) < exact : __int128(value) > exact;
  return is_beyond ? std::nextafter(value, 0) : value;
}

}  // namespace

Number evaluate_convert(Scalar from, Scalar to, ConvertMode mode, Number x, Numeric) {
  if (mode == ConvertMode::Bits) return from_bits(to, to_bits(from, x));
  if (is_float(to) && mode == ConvertMode::TowardZero)
    return Number::real(cut_to(to, is_float(from) ? x.f : toward_zero(from, x)));
  if (is_float(to) && is_float(from)) return Number::real(round_to(to, x.f));
  if (to == Scalar::F64) return Number::real(is_signed(from) ? double(x.i) : double(uint64_t(x.i)));
  if (is_float(to)) return Number::real(round_to(to, is_signed(from) ? rounded_to_odd(x.i) : rounded_to_odd(uint64_t(x.i))));
  if (to == Scalar::Bool) return Number::integer(is_float(from) ? x.f != 0 : x.i != 0);
  if (is_float(from)) return Number::integer(saturate(to, x.f));
  if (mode == ConvertMode::Wrap) return Number::integer(wrap(to, x.i));
  if (!is_signed(from) && x.i < 0)  // a u64 above every signed value
    return to == from ? x : Number::integer(int64_t(integer_max(to)));
  return Number::integer(saturate(to, x.i));
}

uint64_t to_bits(Scalar type, Number x) {
  if (is_float(type)) return encode(type, x.f);
  return bit_width(type) == 64 ? uint64_t(x.i) : uint64_t(x.i) & ((1ull << bit_width(type)) - 1);
}

Number from_bits(Scalar type, uint64_t bits) {
  if (is_float(type)) return Number::real(decode(type, bits));
  return Number::integer(wrap(type, int64_t(bits)));
}

namespace {

// What no number of the type is beyond.
double end_of(Scalar type) {
  const FloatFormat format = is_float(type) ? float_format(type) : FloatFormat{};
  if (!is_float(type) || format.has_infinity) return std::numeric_limits<double>::infinity();
  return decode(type, ((uint64_t(1) << (format.exponent_bits + format.mantissa_bits)) - 2) << format.spare_bits);
}

}  // namespace

Number identity(ReduceFn fn, Scalar type) {
  auto make = [&](double f, int64_t i) { return is_float(type) ? Number::real(f) : Number::integer(i); };
  switch (fn) {
    case ReduceFn::Sum: case ReduceFn::AbsMax: case ReduceFn::Any: return make(0, 0);
    case ReduceFn::Prod: case ReduceFn::All: return make(1, 1);
    case ReduceFn::Max: case ReduceFn::ArgMax: return make(-end_of(type), integer_min(type));
    case ReduceFn::Min: case ReduceFn::ArgMin: return make(end_of(type), int64_t(integer_max(type)));
  }
  UNREACHABLE("a reduction has an identity");
}

Number combine(ReduceFn fn, Scalar type, Number a, Number b, Numeric numeric) {
  auto with = [&](BinaryFn step) { return *evaluate(step, type, a, b, numeric); };
  switch (fn) {
    case ReduceFn::Sum:
      if (!is_float(type)) return Number::integer(wrap(type, int64_t(uint64_t(a.i) + uint64_t(b.i))));
      return with(BinaryFn::Add);
    case ReduceFn::Prod:
      if (!is_float(type)) return Number::integer(wrap(type, int64_t(uint64_t(a.i) * uint64_t(b.i))));
      return with(BinaryFn::Mul);
    case ReduceFn::Max: case ReduceFn::ArgMax: return with(BinaryFn::Max);
    case ReduceFn::Min: case ReduceFn::ArgMin: return with(BinaryFn::Min);
    case ReduceFn::AbsMax: {
      // The least integer has no magnitude of its type: it counts as the greatest.
      if (is_signed(type)) b = Number::integer(std::max(b.i, -int64_t(integer_max(type))));
      return *evaluate(BinaryFn::Max, type, a, *evaluate(UnaryFn::Abs, type, b, numeric), numeric);
    }
    case ReduceFn::Any: return Number::integer(a.i || b.i);
    case ReduceFn::All: return Number::integer(a.i && b.i);
  }
  UNREACHABLE("a reduction has a step");
}

}  // namespace tilec::ir
