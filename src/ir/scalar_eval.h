// The meaning of scalar operations, once: constant folding and the interpreter both call these.
#pragma once
#include <optional>

#include "ir/attributes.h"

namespace tilec::ir {

// Typed: every result is rounded to its declared type. Wide: floats are computed and kept in f64; only conversions and
// stores of a narrower type round, so that a lost element shows and a rounding does not.
enum class Numeric : uint8_t { Typed, Wide };

// Nothing where the operation has no value: an integer divided by zero, an `int` that overflows.
std::optional<Number> evaluate(UnaryFn fn, Scalar type, Number x, Numeric numeric = Numeric::Typed);
std::optional<Number> evaluate(BinaryFn fn, Scalar type, Number a, Number b, Numeric numeric = Numeric::Typed);
// Of `int`s: does the result leave 64 bits? For Add, Sub, Mul, Shl and Div; the others never do.
bool overflows(BinaryFn fn, int64_t a, int64_t b);
// To the bit: of two zeros, and of two NaNs, a maximum may be either.
constexpr bool is_commutative(BinaryFn fn) {
  switch (fn) {
    case BinaryFn::Add: case BinaryFn::Mul: case BinaryFn::And: case BinaryFn::Or: case BinaryFn::Xor: return true;
    default: return false;
  }
}
bool evaluate(CompareFn fn, Scalar type, Number a, Number b);
Number evaluate_fma(Scalar type, Number a, Number b, Number c, Numeric numeric = Numeric::Typed);
Number evaluate_convert(Scalar from, Scalar to, ConvertMode mode, Number x, Numeric numeric = Numeric::Typed);

// `x` as the bits in memory and back; only the low bit_width(type) bits count.
uint64_t to_bits(Scalar type, Number x);
Number from_bits(Scalar type, uint64_t bits);

// The neutral element, and one step, of a reduction over `type` (ArgMax and ArgMin step over the values alone).
Number identity(ReduceFn fn, Scalar type);
Number combine(ReduceFn fn, Scalar type, Number a, Number b, Numeric numeric = Numeric::Typed);

}  // namespace tilec::ir
