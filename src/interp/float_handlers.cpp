// Arithmetic on floats: computed in f64 and rounded to the declared type. For f32 and narrower that rounds once in
// effect: f64 has more than twice their digits. A product and a sum together are rounded to odd in between.
#include "base/rounded_to_odd.h"
#include "interp/handlers.h"
#include "interp/rounding.h"

namespace tilec::interp {

using ir::BinaryFn;

namespace {

struct FloatAdd {
  static double apply(double a, double b) { return a + b; }
};
struct FloatSub {
  static double apply(double a, double b) { return a - b; }
};
struct FloatMul {
  static double apply(double a, double b) { return a * b; }
};
struct FloatDiv {
  static double apply(double a, double b) { return a / b; }
};
struct FloatMin {
  static double apply(double a, double b) { return b < a || a != a ? b : a; }
};
struct FloatMax {
  static double apply(double a, double b) { return b > a || a != a ? b : a; }
};

template <class Fn, class Round>
Status do_float_binary(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].f = Round::apply(Fn::apply(a[lane].f, b[lane].f));
  spread(s, i, d);
  return Status::Next;
}

// A product of two numbers of at most 24 digits is exact in f64.
struct ExactProduct {
  static double apply(double a, double b, double c) { return sum_rounded_to_odd(a * b, c); }
};
struct Fused {
  static double apply(double a, double b, double c) { return std::fma(a, b, c); }
};

template <class Fn, class Round>
Status do_float_fma(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b), *c = s.at(i.c);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].f = Round::apply(Fn::apply(a[lane].f, b[lane].f, c[lane].f));
  spread(s, i, d);
  return Status::Next;
}

Status do_generic_fma(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b), *c = s.at(i.c);
  for (int lane = 0; lane < i.lanes; ++lane)
    d[lane] = to_slot(
        ir::evaluate_fma(i.type, to_number(i.type, a[lane]), to_number(i.type, b[lane]), to_number(i.type, c[lane])));
  spread(s, i, d);
  return Status::Next;
}

template <class Round>
Handler by_function(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::Add:
      return do_float_binary<FloatAdd, Round>;
    case BinaryFn::Sub:
      return do_float_binary<FloatSub, Round>;
    case BinaryFn::Mul:
      return do_float_binary<FloatMul, Round>;
    case BinaryFn::Div:
      return do_float_binary<FloatDiv, Round>;
    case BinaryFn::Min:
      return do_float_binary<FloatMin, Round>;
    case BinaryFn::Max:
      return do_float_binary<FloatMax, Round>;
    default:
      return nullptr;
  }
}

}  // namespace

Handler float_binary_handler(BinaryFn fn, Scalar type, Numeric numeric) {
  if (numeric == Numeric::Wide) return by_function<KeepF64>(fn);
  switch (type) {
    case Scalar::F64:
      return by_function<KeepF64>(fn);
    case Scalar::F32:
      return by_function<RoundF32>(fn);
    case Scalar::F16:
      return by_function<RoundF16>(fn);
    case Scalar::BF16:
      return by_function<RoundBF16>(fn);
    case Scalar::TF32:
      return by_function<RoundTF32>(fn);
    default:
      return nullptr;
  }
}

Handler fma_handler(Scalar type, Numeric numeric) {
  if (is_float(type) && (numeric == Numeric::Wide || type == Scalar::F64)) return do_float_fma<Fused, KeepF64>;
  switch (type) {
    case Scalar::F32:
      return do_float_fma<ExactProduct, RoundF32>;
    case Scalar::F16:
      return do_float_fma<ExactProduct, RoundF16>;
    case Scalar::BF16:
      return do_float_fma<ExactProduct, RoundBF16>;
    case Scalar::TF32:
      return do_float_fma<ExactProduct, RoundTF32>;
    default:
      return do_generic_fma;
  }
}

}  // namespace tilec::interp
