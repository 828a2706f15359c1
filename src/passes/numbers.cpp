// Functions on sets of kinds are computed on a few numbers of each kind. Overflow and rounding are left out of account, but
// for the exponential of a negative number, which may be zero.
#include "passes/numbers.h"

#include <limits>

#include "base/small_vector.h"
#include "ir/attribute_text.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

uint8_t kind_of(Number x) {
  if (!x.is_float) return x.i < 0 ? kNegative : x.i > 0 ? kPositive : kZero;
  if (std::isnan(x.f)) return kNan;
  if (std::isinf(x.f)) return x.f < 0 ? kNegativeInfinity : kPositiveInfinity;
  return x.f < 0 ? kNegative : x.f > 0 ? kPositive : kZero;
}

// Of floats: three negative, three positive, both infinities, zero and nan.
constexpr size_t kMostSamples = 10;

SmallVector<Number, kMostSamples> samples(Scalar type, const Numbers& x) {
  if (x.exact) return {*x.exact};
  SmallVector<Number, kMostSamples> result;
  auto add = [&](uint8_t kind, std::initializer_list<double> reals) {
    if (!(x.kinds & kind)) return;
    for (double real : reals) {
      if (is_float(type)) result.push_back(Number::real(real));
      else if (std::isfinite(real) && real == std::floor(real)) result.push_back(Number::integer(int64_t(real)));
    }
  };
  add(kNegativeInfinity, {-kInfinity});
  add(kNegative, {-3, -1, -0.5});
  add(kZero, {0});
  add(kPositive, type == Scalar::Bool ? std::initializer_list<double>{1} : std::initializer_list<double>{0.5, 1, 3});
  add(kPositiveInfinity, {kInfinity});
  add(kNan, {std::numeric_limits<double>::quiet_NaN()});
  return result;
}

// One number keeps its value, several leave their kinds.
struct Gathered {
  Numbers numbers = {};
  bool is_first = true;
  void add(std::optional<Number> x) {
    numbers.kinds |= x ? kind_of(*x) : kFinite;
    numbers.exact = is_first ? x : std::nullopt;
    is_first = false;
  }
};

}  // namespace

Numbers exactly(Scalar type, Number x) {
  if (is_float(type) && !x.is_float) x = Number::real(double(x.i));
  return {kind_of(x), x};
}
Numbers of_kinds(uint8_t kinds) { return {kinds, std::nullopt}; }
Numbers data(Scalar type) { return of_kinds(is_float(type) || is_signed(type) ? kFinite : kZero | kPositive); }
Numbers anything(Scalar type) { return is_float(type) ? of_kinds(kAnyKind) : data(type); }

Numbers joined(const Numbers& a, const Numbers& b) {
  if (!a.kinds) return b;
  if (!b.kinds) return a;
  return {uint8_t(a.kinds | b.kinds), a.exact == b.exact ? a.exact : std::nullopt};
}

Numbers ordinary(const Numbers& a) { return (a.kinds & kFinite) && !a.exact ? of_kinds(a.kinds & kFinite) : a; }

Numbers apply(UnaryFn fn, Scalar type, const Numbers& x) {
  Gathered all;
  for (Number n : samples(type, x)) all.add(evaluate(fn, type, n, Numeric::Wide));
  if ((fn == UnaryFn::Exp || fn == UnaryFn::Exp2) && !x.exact && (x.kinds & kNegative)) all.numbers.kinds |= kZero;
  if (!x.exact) all.numbers.exact.reset();
  return all.numbers;
}

Numbers apply(BinaryFn fn, Scalar type, const Numbers& a, const Numbers& b) {
  Gathered all;
  auto of_b = samples(type, b);
  for (Number x : samples(type, a))
    for (Number y : of_b) all.add(evaluate(fn, type, x, y, Numeric::Wide));
  return all.numbers;
}

Numbers apply(CompareFn fn, Scalar type, const Numbers& a, const Numbers& b) {
  Gathered all;
  auto of_b = samples(type, b);
  for (Number x : samples(type, a))
    for (Number y : of_b) all.add(Number::integer(evaluate(fn, type, x, y)));
  if (!a.exact || !b.exact) all.numbers.exact.reset();
  return all.numbers;
}

Numbers apply_convert(Scalar from, Scalar to, ConvertMode mode, const Numbers& x) {
  if (mode == ConvertMode::Bits && !x.exact) return anything(to);
  Gathered all;
  for (Number n : samples(from, x)) all.add(evaluate_convert(from, to, mode, n, Numeric::Wide));
  if (!x.exact) all.numbers.exact.reset();
  return all.numbers;
}

Numbers folded(ReduceFn fn, Scalar type, const Numbers& x) {
  Numbers all = x;
  for (int round = 0; round < 2; ++round) {
    Gathered next{all, false};
    for (Number a : samples(type, all))
      for (Number b : samples(type, x)) next.numbers.kinds |= kind_of(combine(fn, type, a, b, Numeric::Wide));
    all = {next.numbers.kinds, next.numbers.kinds == x.kinds && x.is_within(kZero | kNegativeInfinity | kPositiveInfinity)
                                   ? x.exact : std::nullopt};
  }
  return all;
}

bool is_identity(ReduceFn fn, Scalar type, const Numbers& x) {
  if (!x.kinds) return true;
  switch (fn) {
    case ReduceFn::Sum: case ReduceFn::AbsMax: case ReduceFn::Any: return x.is_within(kZero);
    case ReduceFn::Max: case ReduceFn::ArgMax:
      if (x.is_within(kNegativeInfinity)) return true;
      break;
    case ReduceFn::Min: case ReduceFn::ArgMin:
      if (x.is_within(kPositiveInfinity)) return true;
      break;
    case ReduceFn::Prod: case ReduceFn::All: break;
  }
  return x.exact && *x.exact == exactly(type, identity(fn, type)).exact;
}

std::string text_of(const Numbers& x) {
  if (x.exact) return x.exact->is_float && x.exact->f == 0 ? "0" : attribute_text(*x.exact);
  if (x.is_within(kZero)) return "0";
  if (x.is_within(kNegativeInfinity)) return "-inf";
  if (x.is_within(kPositiveInfinity)) return "inf";
  return (x.kinds & kNan) ? "nan" : "(not a constant)";
}

}  // namespace tilec::passes
