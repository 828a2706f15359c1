// Functions on sets of kinds are computed on a few numbers of each kind. Overflow and rounding are left out of account, but
// for the exponential of a negative number, which may be zero.
#include "passes/numbers.h"

#include <limits>
#include <map>
#include <tuple>

#include "base/small_vector.h"
#include "ir/attribute_text.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_above_signed(Scalar type, Number x) { return !is_signed(type) && bit_width(type) == 64 && x.i < 0; }

uint8_t kind_of(Scalar type, Number x) {
  if (!x.is_float) return is_above_signed(type, x) ? kPositive : x.i < 0 ? kNegative : x.i > 0 ? kPositive : kZero;
  if (std::isnan(x.f)) return kNan;
  if (std::isinf(x.f)) return x.f < 0 ? kNegativeInfinity : kPositiveInfinity;
  return x.f < 0 ? kNegative : x.f > 0 ? kPositive : kZero;
}

// Of floats: those of the middle, the ends, both zeros, both infinities and nan.
constexpr size_t kMostSamples = 20;
using Samples = SmallVector<Number, kMostSamples>;

// The greatest and the least finite positive number.
std::pair<double, double> ends(Scalar type) {
  FloatFormat format = float_format(type);
  if (bit_width(type) == 64) return {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()};
  uint64_t greatest = ((uint64_t(1) << (format.exponent_bits + format.mantissa_bits)) - 1) << format.spare_bits;
  if (format.has_infinity) greatest = (((uint64_t(1) << format.exponent_bits) - 1) << (format.mantissa_bits + format.spare_bits)) - (uint64_t(1) << format.spare_bits);
  else greatest -= uint64_t(1) << format.spare_bits;
  return {decode(type, greatest), decode(type, uint64_t(1) << format.spare_bits)};
}

void add_floats(Samples& result, Scalar type, uint8_t kinds, Belief belief) {
  auto add = [&](uint8_t kind, std::initializer_list<double> reals) {
    for (double real : reals)
      if (kinds & kind) result.push_back(Number::real(real));
  };
  auto [greatest, least] = belief == Belief::None ? ends(type) : std::pair(1.0, 1.0);
  add(kNegativeInfinity, {-kInfinity});
  add(kNegative, {-3, -1, -0.5});
  add(kZero, {0});
  add(kPositive, {0.5, 1, 3});
  add(kPositiveInfinity, {kInfinity});
  add(kNan, {std::numeric_limits<double>::quiet_NaN()});
  if (belief == Belief::Finite) return;
  add(kNegative, {-greatest, -2, -least});
  add(kZero, {-0.0});
  add(kPositive, {greatest, 2, least});
}

void add_integers(Samples& result, Scalar type, uint8_t kinds, Belief belief) {
  auto add = [&](uint8_t kind, std::initializer_list<int64_t> integers) {
    for (int64_t x : integers)
      if (kinds & kind) result.push_back(Number::integer(x));
  };
  add(kNegative, {-3, -1});
  add(kZero, {0});
  if (type == Scalar::Bool) return add(kPositive, {1});
  add(kPositive, {1, 3});
  if (belief == Belief::Finite) return;
  int64_t half = int64_t(1) << (bit_width(type) - 2);
  add(kNegative, {integer_min(type), -2, -half});
  add(kPositive, {int64_t(integer_max(type)), 2, 64, half});
}

Samples samples(Scalar type, const Numbers& x, Belief belief) {
  if (x.exact) return {*x.exact};
  Samples result;
  if (is_float(type)) add_floats(result, type, x.kinds, belief);
  else add_integers(result, type, x.kinds, belief);
  return result;
}

// Beside a known number also those that it meets half way: of x, the sum with -x is 0, and beyond that it changes its sign.
Samples samples_beside(Scalar type, const Numbers& x, const Numbers& other, Belief belief) {
  Samples result = samples(type, x, belief);
  if (x.exact || !other.exact || type == Scalar::Bool) return result;
  for (int64_t factor : {-2, -1, 1, 2}) {
    Number by = is_float(type) ? Number::real(double(factor)) : Number::integer(factor);
    auto near = evaluate(BinaryFn::Mul, type, *other.exact, by);
    if (near && (kind_of(type, *near) & x.kinds & kFinite)) result.push_back(*near);
  }
  return result;
}

// Are its results near the true ones only, so that even a known number is not known to the last bit?
bool is_rough(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::Exp: case UnaryFn::Exp2: case UnaryFn::Log: case UnaryFn::Log2: case UnaryFn::Sin: case UnaryFn::Cos:
    case UnaryFn::Tanh: case UnaryFn::Erf: case UnaryFn::Rsqrt: return true;
    default: return false;
  }
}

// One number keeps its value, several leave their kinds.
struct Gathered {
  Scalar type;
  Numbers numbers = {};
  bool is_first = true;
  void add(std::optional<Number> x) {
    numbers.kinds |= x ? kind_of(type, *x) : kFinite;
    numbers.exact = is_first || (x && numbers.exact == x) ? x : std::nullopt;
    is_first = false;
  }
};

// What becomes of kinds, and of one number beside them, is asked over and over, and takes up to hundreds of samples.
template <class Fn, class Make>
Numbers remembered(Fn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief, Make&& make) {
  if (a.exact && b.exact) return make();
  const std::optional<Number>& exact = a.exact ? a.exact : b.exact;
  const uint64_t bits = !exact ? 0 : exact->is_float ? std::bit_cast<uint64_t>(exact->f) : uint64_t(exact->i);
  const uint8_t which = uint8_t(a.exact.has_value() | b.exact.has_value() << 1 | (exact && exact->is_float) << 2);
  thread_local std::map<std::tuple<uint64_t, Fn, Scalar, uint8_t, uint8_t, Belief, uint8_t>, Numbers> known;
  auto [at, is_new] = known.try_emplace({bits, fn, type, a.kinds, b.kinds, belief, which});
  if (is_new) at->second = make();
  return at->second;
}

Numbers applied(BinaryFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief) {
  if (belief == Belief::None && is_float(type) && fn == BinaryFn::Rem && !(a.exact && b.exact)) return anything(type);
  Gathered all{type};
  auto of_b = samples_beside(type, b, a, belief);
  for (Number x : samples_beside(type, a, b, belief))
    for (Number y : of_b) {
      if (belief == Belief::None) all.add(evaluate(fn, type, x, y));
      all.add(evaluate(fn, type, x, y, Numeric::Wide));
    }
  bool is_rough = belief == Belief::None && is_float(type) && fn == BinaryFn::Pow;
  // Which zero is the smaller one machines do not agree on.
  bool is_either = (fn == BinaryFn::Min || fn == BinaryFn::Max || fn == BinaryFn::Minimum || fn == BinaryFn::Maximum) && a.is_within(kZero) && b.is_within(kZero);
  if (is_rough || !a.exact || !b.exact || (is_either && *a.exact != *b.exact)) all.numbers.exact.reset();
  return all.numbers;
}

Numbers compared(CompareFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief) {
  Gathered all{Scalar::Bool};
  auto of_b = samples(type, b, belief);
  for (Number x : samples(type, a, belief))
    for (Number y : of_b) all.add(Number::integer(evaluate(fn, type, x, y)));
  if (a.exact && b.exact) return all.numbers;
  // Samples are not all numbers of their kind: those of one kind compare in any way.
  if (a.kinds & b.kinds & (kNegative | kPositive)) return of_kinds(kZero | kPositive);
  bool is_decided = all.numbers.kinds == kZero || all.numbers.kinds == kPositive;
  return is_decided ? exactly(Scalar::Bool, Number::integer(all.numbers.kinds == kPositive)) : of_kinds(all.numbers.kinds);
}

}  // namespace

Numbers exactly(Scalar type, Number x) {
  if (is_float(type) && !x.is_float) x = Number::real(double(x.i));
  return {kind_of(type, x), x};
}
Numbers of_kinds(uint8_t kinds) { return {kinds, std::nullopt}; }
Numbers data(Scalar type, Belief belief) {
  if (is_float(type)) return of_kinds(belief == Belief::None ? kAnyKind : kFinite);
  return of_kinds(is_signed(type) ? kFinite : kZero | kPositive);
}
Numbers anything(Scalar type) { return data(type, Belief::None); }

Numbers joined(const Numbers& a, const Numbers& b) {
  if (!a.kinds) return b;
  if (!b.kinds) return a;
  return {uint8_t(a.kinds | b.kinds), a.exact == b.exact ? a.exact : std::nullopt};
}

Numbers ordinary(const Numbers& a) { return (a.kinds & kFinite) && !a.exact ? of_kinds(a.kinds & kFinite) : a; }

Numbers apply(UnaryFn fn, Scalar type, const Numbers& x, Belief belief) {
  Scalar result = fn == UnaryFn::IsNan ? Scalar::Bool : type;
  Gathered all{result};
  for (Number n : samples(type, x, belief)) all.add(evaluate(fn, type, n, Numeric::Wide));
  if (belief == Belief::None)
    for (Number n : samples(type, x, belief)) all.add(evaluate(fn, type, n));
  bool is_exp = fn == UnaryFn::Exp || fn == UnaryFn::Exp2;
  if (!x.exact && is_exp && (x.kinds & kNegative)) all.numbers.kinds |= kZero;
  if (belief == Belief::None && is_rough(fn) && all.numbers.kinds & (kNegative | kPositive)) {
    all.numbers.exact.reset();
    bool turns = fn == UnaryFn::Sin || fn == UnaryFn::Cos;  // far from 0, nothing is promised
    if (!x.exact) all.numbers.kinds |= turns ? kFinite | kNan : uint8_t(kZero);
  }
  if (!x.exact) all.numbers.exact.reset();
  return all.numbers;
}

Numbers apply(BinaryFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief) {
  return remembered(fn, type, a, b, belief, [&] { return applied(fn, type, a, b, belief); });
}

Numbers apply(CompareFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief) {
  return remembered(fn, type, a, b, belief, [&] { return compared(fn, type, a, b, belief); });
}

Numbers apply_convert(Scalar from, Scalar to, ConvertMode mode, const Numbers& x, Belief belief) {
  if (mode == ConvertMode::Bits && !x.exact) return anything(to);
  Gathered all{to};
  for (Number n : samples(from, x, belief)) all.add(evaluate_convert(from, to, mode, n, Numeric::Wide));
  if (!x.exact) all.numbers.exact.reset();
  return all.numbers;
}

namespace {

// Any number of it is the number itself, also behind what a reduction begins with: the sum of zeros below 0 is one above.
bool stays(ReduceFn fn, Scalar type, const Numbers& x) {
  return x.exact && x.is_within(kZero | kNegativeInfinity | kPositiveInfinity) && combine(fn, type, *x.exact, *x.exact) == *x.exact &&
         combine(fn, type, exactly(type, identity(fn, type)).exact.value(), *x.exact) == *x.exact;
}

Numbers fold(ReduceFn fn, Scalar type, const Numbers& x, Belief belief) {
  constexpr int kMostRounds = 6;  // a round adds a kind, and there are six
  Numbers all = x;
  // A line of NaN alone begins, and ends, with the identity.
  if (is_float(type) && (x.kinds & kNan) && (fn == ReduceFn::Max || fn == ReduceFn::Min || fn == ReduceFn::AbsMax))
    all = joined(all, exactly(type, identity(fn, type)));
  for (int round = 0; round < kMostRounds; ++round) {
    uint8_t kinds = all.kinds;
    for (Number a : samples(type, all, belief))
      for (Number b : samples(type, x, belief)) {
        kinds |= kind_of(type, combine(fn, type, a, b, Numeric::Wide));
        if (belief == Belief::None) kinds |= kind_of(type, combine(fn, type, a, b));
      }
    all = {kinds, kinds == x.kinds && stays(fn, type, x) ? x.exact : std::nullopt};
  }
  return all;
}

}  // namespace

Numbers folded(ReduceFn fn, Scalar type, const Numbers& x, Belief belief) {
  return remembered(fn, type, x, {}, belief, [&] { return fold(fn, type, x, belief); });
}

bool is_identity(ReduceFn fn, Scalar type, const Numbers& x) {
  if (!x.kinds) return true;
  uint8_t nan = kNan, zero_at_least = is_signed(type) || is_float(type) ? 0 : kZero;
  switch (fn) {
    case ReduceFn::Sum: case ReduceFn::Any:
      if (x.is_within(kZero)) return true;
      break;
    case ReduceFn::AbsMax:
      if (x.is_within(kZero | nan)) return true;
      break;
    case ReduceFn::Max: case ReduceFn::ArgMax:
      if (x.is_within(kNegativeInfinity | nan | zero_at_least)) return true;
      break;
    case ReduceFn::Min: case ReduceFn::ArgMin:
      if (x.is_within(kPositiveInfinity | nan)) return true;
      break;
    case ReduceFn::All:
      if (x.is_within(kPositive)) return true;
      break;
    case ReduceFn::Prod: break;
  }
  return x.exact && *x.exact == exactly(type, identity(fn, type)).exact;
}

std::string text_of(const Numbers& x) {
  if (x.exact && x.exact->is_float && std::isnan(x.exact->f)) return "nan";
  if (x.exact) return x.exact->is_float && x.exact->f == 0 ? "0" : attribute_text(*x.exact);
  if (x.is_within(kZero)) return "0";
  if (x.is_within(kNegativeInfinity)) return "-inf";
  if (x.is_within(kPositiveInfinity)) return "inf";
  // Of numbers among which there are ordinary ones none is named.
  return (x.kinds & kNan) && !(x.kinds & (kPositive | kNegative)) ? "nan" : "(not a constant)";
}

}  // namespace tilec::passes
