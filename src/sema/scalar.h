// Numbers: literals that take a type, implicit conversions, constants and values of the IR behind one face.
#pragma once
#include <functional>
#include <initializer_list>

#include "sema/instance.h"

namespace tilec::sema {

// A value and where it was written, for messages and fix-its.
struct Operand {
  Value value;
  Span span;
  bool is_target = false;  // what `+=` and its like write as well
};

// The element type of a number, a tile or a view.
Scalar element_of(const Instance& in, const Value& value);
// A number in hand: an element is loaded. Poison when it is no number (reported as `TypeMismatch`).
Value number(Instance& in, const Operand& operand);
// A number as a value of the IR: a constant is emitted, with the type it has (a literal: `int` or f32).
ir::ValueId emit(Instance& in, const Value& number);
// A literal, or what is made of literals alone (a choice between them, a sum): it has no type of its own yet, and is an `int` or f64.
bool is_literal(const Value& value);
// May a literal be such a number? What is made of too many of them may be any.
bool may_be(const Instance& in, const Value& literal, const std::function<bool(const ir::Number&)>& is_so);
// A literal, or what is made of them, as a value of the IR of type `to`; what does not fit is converted by `mode`.
ir::ValueId emit_literal(Instance& in, const Value& literal, Scalar to, ir::ConvertMode mode = ir::ConvertMode::Nearest);
// The zero of a type, a number or a tile.
ir::ValueId zero(Instance& in, Scalar type);
ir::ValueId zero(Instance& in, const ir::Type& type);
// The one type of operands that meet. Literals follow the others; integers turn into `int`; everything else must agree.
std::optional<Scalar> common_type(Instance& in, std::span<const Operand> operands);
// `operand` as `to`, by implicit conversions alone; Poison when there is none (reported).
Value implicitly(Instance& in, const Operand& operand, Scalar to);
// Reports `ImplicitConversion` at `span`, with `as` as the fix-it.
// The same of two factors, either of which may give way.
void report_factors(Instance& in, Span span, Scalar from, Scalar to);
void report_implicit(Instance& in, Span span, Scalar from, Scalar to);
// `operand as to` and its relatives, on a number.
Value convert(Instance& in, const Value& number, Scalar to, ir::ConvertMode mode, Span span);
// A known `int` or none (reported as `NotCompileTime`, with `what`).
std::optional<int64_t> known_int(Instance& in, const Operand& operand, std::string_view what);
// A number as an `int` of the IR; none when it is not an integer (reported).
ir::ValueId index_value(Instance& in, const Operand& operand);

// `a op b` on numbers.
Value binary(Instance& in, ast::BinaryOp op, const Operand& a, const Operand& b, Span span);
Value unary(Instance& in, ast::UnaryOp op, const Operand& x, Span span);
// Functions of scalar_fn.def on numbers of one type.
Value apply(Instance& in, ir::UnaryFn fn, const Value& x, Span span);
Value apply(Instance& in, ir::BinaryFn fn, const Value& a, const Value& b, Span span);
Value apply(Instance& in, ir::CompareFn fn, const Value& a, const Value& b);

}  // namespace tilec::sema
