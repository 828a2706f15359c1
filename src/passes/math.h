// Math functions as arithmetic, for machines that have none of their own: no call of a library may remain.
//
// They are built here, in C++, rather than parsed from a module of the standard library at each compilation: one text
// serves f32 and f64, a machine with and without fused multiply-add, and Thread IR of any kernel. Coefficients come
// from tools/minimax.py. The errors stated at each function are measured by tests/unit/passes_math_test.cpp. Nothing
// depends on whether subnormals are flushed, but an f32 result below 2^-126 may be zero.
#pragma once
#include <span>

#include "ir/builder.h"
#include "machine/machine.h"

namespace tilec::passes {

bool is_math(ir::UnaryFn fn);
bool is_math(ir::BinaryFn fn, Scalar type);  // `type`: of the operands; pow and a float remainder

class Math {
 public:
  // `type`: f32 or f64.
  Math(ir::Builder& builder, const Machine& machine, Scalar type);

  ir::ValueId unary(ir::UnaryFn fn, ir::ValueId x);
  ir::ValueId binary(ir::BinaryFn fn, ir::ValueId a, ir::ValueId b);
  // a * b + c: fused where that is one operation, else rounded twice (never a call).
  ir::ValueId fma(ir::ValueId a, ir::ValueId b, ir::ValueId c);

 private:
  using ValueId = ir::ValueId;
  struct Logarithm {
    ValueId exponent, fraction;  // x = 2^exponent * (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2))
  };
  struct Angle {
    ValueId rest, quadrant;  // x = quadrant * pi/2 + rest; the quadrant's last two bits count
  };

  ValueId exp2(ValueId x);                  // math_exp.cpp
  ValueId exp2_of_any(ValueId x);           // subnormal where the result is
  ValueId exp(ValueId x);
  ValueId exp_of_exp2(ValueId x);           // where that is an instruction
  ValueId tanh(ValueId x);
  ValueId power_of_two(ValueId n);          // n whole; 0 below the least normal, infinite above the greatest
  ValueId log(ValueId x);                   // math_log.cpp
  ValueId log2(ValueId x);
  ValueId pow(ValueId x, ValueId y);
  Logarithm split(ValueId x);
  ValueId log_of_fraction(ValueId f);       // log(1 + f)
  ValueId with_log_edges(ValueId x, ValueId result);
  ValueId sine(ValueId x, bool is_cosine);  // math_trig.cpp
  Angle reduce(ValueId magnitude);
  ValueId erf(ValueId x);                   // math_erf.cpp
  ValueId log_of_erfc(ValueId magnitude);
  ValueId remainder(ValueId a, ValueId b);

  // What every function is written in.
  bool is_double() const { return type_ == Scalar::F64; }
  int mantissa() const { return is_double() ? 52 : 23; }
  int bias() const { return is_double() ? 1023 : 127; }
  ValueId real(double value) { return b_.real(type_, value); }
  ValueId word(uint64_t bits) { return b_.constant(word_, ir::Number::integer(int64_t(bits))); }
  ValueId word_of(double value) { return word(ir::to_bits(type_, ir::Number::real(value))); }
  ValueId bits(ValueId x) { return b_.convert(x, word_, ir::ConvertMode::Bits); }
  ValueId from_bits(ValueId x) { return b_.convert(x, type_, ir::ConvertMode::Bits); }
  ValueId sign(ValueId x) { return b_.binary(ir::BinaryFn::And, bits(x), word(1ull << (bit_width(type_) - 1))); }
  ValueId with_sign(ValueId x, ValueId sign) { return from_bits(b_.binary(ir::BinaryFn::Or, bits(x), sign)); }
  ValueId abs(ValueId x) { return b_.unary(ir::UnaryFn::Abs, x); }
  // Bounds that let a NaN through; each is one instruction where there is a minimum of two registers.
  ValueId at_most(ValueId x, double bound);
  ValueId at_least(ValueId x, double bound);
  ValueId polynomial(ValueId x, std::span<const double> coefficients);  // lowest power first

  ir::Builder& b_;
  const Machine& machine_;
  Scalar type_, word_;  // and the unsigned integer of its width
};

}  // namespace tilec::passes
