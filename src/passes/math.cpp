#include "passes/math.h"

namespace tilec::passes {

using ir::BinaryFn;
using ir::CompareFn;
using ir::UnaryFn;
using ir::ValueId;

bool is_math(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::Rsqrt: case UnaryFn::Exp: case UnaryFn::Exp2: case UnaryFn::Log: case UnaryFn::Log2:
    case UnaryFn::Sin: case UnaryFn::Cos: case UnaryFn::Tanh: case UnaryFn::Erf: return true;
    default: return false;
  }
}

bool is_math(BinaryFn fn, Scalar type) {
  return is_float(type) && (fn == BinaryFn::Pow || fn == BinaryFn::Rem);
}

Math::Math(ir::Builder& builder, const Machine& machine, Scalar type)
    : b_(builder), machine_(machine), type_(type), word_(type == Scalar::F64 ? Scalar::U64 : Scalar::U32) {
  INVARIANT(type == Scalar::F32 || type == Scalar::F64, "math functions are expanded in f32 and f64");
}

ValueId Math::unary(UnaryFn fn, ValueId x) {
  if (b_.kernel().constant(x)) return b_.unary(fn, x);
  switch (fn) {
    case UnaryFn::Rsqrt: return b_.binary(BinaryFn::Div, real(1), b_.unary(UnaryFn::Sqrt, x));
    case UnaryFn::Exp: return exp(x);
    case UnaryFn::Exp2: return exp2(x);
    case UnaryFn::Log: return log(x);
    case UnaryFn::Log2: return log2(x);
    case UnaryFn::Sin: return sine(x, false);
    case UnaryFn::Cos: return sine(x, true);
    case UnaryFn::Tanh: return tanh(x);
    case UnaryFn::Erf: return erf(x);
    default: return b_.unary(fn, x);
  }
}

ValueId Math::binary(BinaryFn fn, ValueId a, ValueId b) {
  if (!is_math(fn, type_) || (b_.kernel().constant(a) && b_.kernel().constant(b))) return b_.binary(fn, a, b);
  // An f32 is worked out in f64: a power needs the bits, a remainder then has the very value that folding gives.
  if (!is_double()) {
    Math wide(b_, machine_, Scalar::F64);
    return b_.convert(wide.binary(fn, b_.convert(a, Scalar::F64), b_.convert(b, Scalar::F64)), Scalar::F32);
  }
  return fn == BinaryFn::Pow ? pow(a, b) : remainder(a, b);
}

ValueId Math::fma(ValueId a, ValueId b, ValueId c) {
  if (machine_.has(Cap::FusedMultiplyAdd)) return b_.fma(a, b, c);
  return b_.add(b_.mul(a, b), c);
}

// The quotient rounded down, as integers have it.
ValueId Math::remainder(ValueId a, ValueId b) {
  ValueId quotient = b_.unary(UnaryFn::Floor, b_.binary(BinaryFn::Div, a, b));
  return b_.sub(a, b_.mul(b, quotient));
}

ValueId Math::at_most(ValueId x, double bound) {
  ValueId limit = real(bound);
  return b_.select(b_.compare(CompareFn::Gt, x, limit), limit, x);
}

ValueId Math::at_least(ValueId x, double bound) {
  ValueId limit = real(bound);
  return b_.select(b_.compare(CompareFn::Lt, x, limit), limit, x);
}

ValueId Math::polynomial(ValueId x, std::span<const double> coefficients) {
  ValueId sum = real(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, real(coefficients[i]));
  return sum;
}

}  // namespace tilec::passes
