// Scalar functions by type: the fast ones of the other files where there is one, else `ir::evaluate` lane by lane.
#include "interp/handlers.h"
#include "ir/source_words.h"
#include "interp/rounding.h"

namespace tilec::interp {

using namespace ir;

namespace {

template <Numeric numeric>
Status do_generic_binary(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (int lane = 0; lane < i.lanes; ++lane)
    if (auto r = evaluate(BinaryFn(i.fn), i.type, Number::real(a[lane].f), Number::real(b[lane].f), numeric))
      d[lane] = to_slot(*r);
  spread(s, i, d);
  return Status::Next;
}

template <Numeric numeric>
Status do_generic_unary(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (uint64_t left = s.acting(i); left; left &= left - 1) {
    int lane = std::countr_zero(left);
    auto r = evaluate(UnaryFn(i.fn), i.type, to_number(i.type, a[lane]), numeric);
    if (!r)
      return fail(s, FaultKind::Overflow, i,
                  "an `int` leaves 64 bits: " + ir::source_words(UnaryFn(i.fn), std::to_string(a[lane].i)));
    d[lane] = to_slot(*r);
  }
  spread(s, i, d);
  return Status::Next;
}

struct FloatNeg {
  static double apply(double x) { return -x; }
};
struct FloatAbs {
  static double apply(double x) { return std::fabs(x); }
};
struct FloatSqrt {
  static double apply(double x) { return std::sqrt(x); }
};
struct FloatExp2 {
  static double apply(double x) { return std::exp2(x); }
};

template <class Fn, class Round>
Status do_float_unary(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].f = Round::apply(Fn::apply(a[lane].f));
  spread(s, i, d);
  return Status::Next;
}

Status do_logical_not(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].i = !a[lane].i;
  spread(s, i, d);
  return Status::Next;
}

template <CompareFn fn, class T>
bool holds(T a, T b) {
  if constexpr (fn == CompareFn::Eq) return a == b;
  if constexpr (fn == CompareFn::Ne) return a != b;
  if constexpr (fn == CompareFn::Lt) return a < b;
  if constexpr (fn == CompareFn::Le) return a <= b;
  if constexpr (fn == CompareFn::Gt) return a > b;
  if constexpr (fn == CompareFn::Ge) return a >= b;
}

template <CompareFn fn, auto member>
Status do_compare(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].i = holds<fn>(a[lane].*member, b[lane].*member);
  spread(s, i, d);
  return Status::Next;
}

template <CompareFn fn>
Handler compare_by_type(Scalar type) {
  if (is_float(type)) return do_compare<fn, &Slot::f>;
  return is_signed(type) ? do_compare<fn, &Slot::i> : do_compare<fn, &Slot::u>;
}

}  // namespace

Handler unary_handler(UnaryFn fn, Scalar type, Numeric numeric) {
  bool is_wide = numeric == Numeric::Wide || type == Scalar::F64;
  if (fn == UnaryFn::Not && type == Scalar::Bool) return do_logical_not;
  if (is_float(type) && fn == UnaryFn::Neg) return do_float_unary<FloatNeg, KeepF64>;
  if (is_float(type) && fn == UnaryFn::Abs) return do_float_unary<FloatAbs, KeepF64>;
  if (is_float(type) && (is_wide || type == Scalar::F32)) {
    if (fn == UnaryFn::Sqrt) return is_wide ? do_float_unary<FloatSqrt, KeepF64> : do_float_unary<FloatSqrt, RoundF32>;
    if (fn == UnaryFn::Exp2) return is_wide ? do_float_unary<FloatExp2, KeepF64> : do_float_unary<FloatExp2, RoundF32>;
  }
  return is_wide ? do_generic_unary<Numeric::Wide> : do_generic_unary<Numeric::Typed>;
}

Handler binary_handler(BinaryFn fn, Scalar type, Numeric numeric) {
  if (!is_float(type)) return integer_binary_handler(fn, type);
  if (Handler fast = float_binary_handler(fn, type, numeric)) return fast;
  return numeric == Numeric::Wide ? do_generic_binary<Numeric::Wide> : do_generic_binary<Numeric::Typed>;
}

Handler compare_handler(CompareFn fn, Scalar type) {
  switch (fn) {
    case CompareFn::Eq:
      return compare_by_type<CompareFn::Eq>(type);
    case CompareFn::Ne:
      return compare_by_type<CompareFn::Ne>(type);
    case CompareFn::Lt:
      return compare_by_type<CompareFn::Lt>(type);
    case CompareFn::Le:
      return compare_by_type<CompareFn::Le>(type);
    case CompareFn::Gt:
      return compare_by_type<CompareFn::Gt>(type);
    case CompareFn::Ge:
      return compare_by_type<CompareFn::Ge>(type);
  }
  UNREACHABLE("a comparison is one of six");
}

Status do_select(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b), *c = s.at(i.c);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].u = c[lane].i ? a[lane].u : b[lane].u;
  spread(s, i, d);
  return Status::Next;
}

}  // namespace tilec::interp
