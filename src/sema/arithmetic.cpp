// Operators on numbers.
#include "sema/scalar.h"

namespace tilec::sema {
namespace {

std::optional<ir::CompareFn> compare_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Equal: return ir::CompareFn::Eq;
    case ast::BinaryOp::NotEqual: return ir::CompareFn::Ne;
    case ast::BinaryOp::Less: return ir::CompareFn::Lt;
    case ast::BinaryOp::LessEqual: return ir::CompareFn::Le;
    case ast::BinaryOp::Greater: return ir::CompareFn::Gt;
    case ast::BinaryOp::GreaterEqual: return ir::CompareFn::Ge;
    default: return std::nullopt;
  }
}

ir::BinaryFn function_of(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Or: case ast::BinaryOp::BitOr: return ir::BinaryFn::Or;
    case ast::BinaryOp::And: case ast::BinaryOp::BitAnd: return ir::BinaryFn::And;
    case ast::BinaryOp::BitXor: return ir::BinaryFn::Xor;
    case ast::BinaryOp::ShiftLeft: return ir::BinaryFn::Shl;
    case ast::BinaryOp::ShiftRight: return ir::BinaryFn::Shr;
    case ast::BinaryOp::Add: return ir::BinaryFn::Add;
    case ast::BinaryOp::Subtract: return ir::BinaryFn::Sub;
    case ast::BinaryOp::Multiply: return ir::BinaryFn::Mul;
    case ast::BinaryOp::Divide: return ir::BinaryFn::Div;
    default: return ir::BinaryFn::Rem;
  }
}

// What an operator wants of its operands' type; null when `type` will do.
const char* unmet_wish(ast::BinaryOp op, Scalar type) {
  switch (op) {
    case ast::BinaryOp::Or: case ast::BinaryOp::And: return type == Scalar::Bool ? nullptr : "bool";
    case ast::BinaryOp::BitOr: case ast::BinaryOp::BitXor: case ast::BinaryOp::BitAnd:
      return is_float(type) ? "an integer" : nullptr;
    case ast::BinaryOp::ShiftLeft: case ast::BinaryOp::ShiftRight: return is_integer(type) ? nullptr : "an integer";
    case ast::BinaryOp::Equal: case ast::BinaryOp::NotEqual: return nullptr;
    default: return type == Scalar::Bool ? "a number" : nullptr;
  }
}

// What a variable is known to hold is the proofs' matter: they know whether this is reached.
bool is_known_zero(const Value& value) {
  auto* c = value.as<Const>();
  return c && !c->number.is_float && c->number.i == 0;
}

// `1 / 2` is the `int` 0, and no literal that turns into a float where it meets one.
bool cuts(const Instance& in, ast::BinaryOp op, const Value& a, const Value& b) {
  if (op != ast::BinaryOp::Divide || is_float(element_of(in, a)) || is_float(element_of(in, b))) return false;
  return may_be(in, a, [&](const ir::Number& x) {
    return may_be(in, b, [&](const ir::Number& y) { return y.i != 0 && y.i != -1 && x.i % y.i != 0; });
  });
}

// An operand in the common type; a literal that meets only literals stays one.
Value aligned(Instance& in, const Value& value, Span span, Scalar type, bool keeps_literal) {
  if (!keeps_literal) return implicitly(in, {value, span}, type);
  if (value.is<Dynamic>()) return Dynamic{emit_literal(in, value, type)};
  const Const& c = *value.as<Const>();
  return Const{type, ir::evaluate_convert(c.type, type, ir::ConvertMode::Nearest, c.number), true, c.odd};
}

// Is the count, where the text says it, one that the type has bits for? One of a stored type may be known because a call is inlined.
bool has_bits_for(Instance& in, Scalar type, const Value& count, Span span) {
  auto* c = count.as<Const>();
  if (!c || (!is_literal(count) && c->type != Scalar::Index) || (c->number.i >= 0 && c->number.i < bit_width(type))) return true;
  not_allowed(in, span, "a shift by " + std::to_string(c->number.i), "here: `" + std::string(name(type)) + "` has " + std::to_string(bit_width(type)) + " bits");
  return false;
}

// How far, in the type of what is shifted. By a negative number everything moves out, and an unsigned type has none.
Value shift_count(Instance& in, const Value& count, Scalar type, Span span) {
  const Scalar from = element_of(in, count);
  const Value converted = convert(in, count, type, ir::ConvertMode::Nearest, span);
  if (!is_signed(from) || is_signed(type) || converted.is_poison()) return converted;
  const ir::Number all = ir::Number::integer(bit_width(type));
  if (auto* c = count.as<Const>()) return c->number.i < 0 ? Value(Const{type, all}) : converted;
  const ir::ValueId is_negative = in.builder.compare(ir::CompareFn::Lt, emit(in, count), in.builder.constant(from, ir::Number::integer(0)));
  return Dynamic{in.builder.select(is_negative, in.builder.constant(type, all), emit(in, converted))};
}

// In the type that it has: a literal that meets what is made of literals is not rounded.
ir::ValueId emit_as_is(Instance& in, const Value& value) { return is_literal(value) ? emit_literal(in, value, element_of(in, value)) : emit(in, value); }

}  // namespace

Value apply(Instance& in, ir::UnaryFn fn, const Value& x, Span span) {
  if (auto* c = x.as<Const>()) {
    auto result = ir::evaluate(fn, c->type, c->number);
    bool is_test = fn == ir::UnaryFn::IsNan;
    bool is_exact = fn == ir::UnaryFn::Neg && c->odd;
    if (result) return Const{is_test ? Scalar::Bool : c->type, *result, c->is_literal && !is_test, is_exact ? std::optional(-*c->odd) : std::nullopt};
    in.at(span).error(diag::ConstantOverflow, name(c->type));
    return Poison{};
  }
  const bool stays_literal = is_literal(x);
  ir::ValueId operand = stays_literal ? emit_literal(in, x, element_of(in, x)) : emit(in, x);
  in.builder.set_span(span);
  return Dynamic{in.builder.unary(fn, operand), stays_literal && fn != ir::UnaryFn::IsNan};
}

Value apply(Instance& in, ir::BinaryFn fn, const Value& a, const Value& b, Span span) {
  auto *ca = a.as<Const>(), *cb = b.as<Const>();
  if ((fn == ir::BinaryFn::Div || fn == ir::BinaryFn::Rem) && is_known_zero(b)) {
    in.at(span).error(diag::DivisionByZero);
    return Poison{};
  }
  if (ca && cb) {
    if (auto result = ir::evaluate(fn, ca->type, ca->number, cb->number))
      return Const{ca->type, *result, ca->is_literal && cb->is_literal};
    in.at(span).error(diag::ConstantOverflow, name(ca->type));
    return Poison{};
  }
  ir::ValueId left = emit_as_is(in, a), right = emit_as_is(in, b);
  in.builder.set_span(span);
  return Dynamic{in.builder.binary(fn, left, right)};
}

Value apply(Instance& in, ir::CompareFn fn, const Value& a, const Value& b) {
  auto *ca = a.as<Const>(), *cb = b.as<Const>();
  if (ca && cb) return bool_const(ir::evaluate(fn, ca->type, ca->number, cb->number));
  return Dynamic{in.builder.compare(fn, emit_as_is(in, a), emit_as_is(in, b))};
}

Value binary(Instance& in, ast::BinaryOp op, const Operand& a, const Operand& b, Span span) {
  Operand x{number(in, a), a.span, a.is_target}, y{number(in, b), b.span};
  if (x.value.is_poison() || y.value.is_poison()) return Poison{};
  bool is_shift = op == ast::BinaryOp::ShiftLeft || op == ast::BinaryOp::ShiftRight;
  bool stays_literal = is_literal(x.value) && is_literal(y.value) && !cuts(in, op, x.value, y.value);
  std::optional<Scalar> type = is_shift && !stays_literal && !is_literal(x.value) ? element_of(in, x.value)
                                                                               : common_type(in, std::array{x, y});
  if (!type) return Poison{};
  if (const char* wish = unmet_wish(op, *type)) {
    const Operand& wrong = element_of(in, x.value) == *type ? x : y;
    in.at(wrong.span).error(diag::TypeMismatch, wish, name(*type));
    return Poison{};
  }
  Value left = aligned(in, x.value, x.span, *type, stays_literal);
  if (is_shift && is_integer(element_of(in, y.value)) && !has_bits_for(in, *type, y.value, y.span)) return Poison{};
  // The count of a shift is any integer.
  bool count_converts = is_shift && is_integer(element_of(in, y.value)) && !is_literal(y.value);
  Value right = count_converts ? shift_count(in, y.value, *type, y.span)
                               : aligned(in, y.value, y.span, *type, stays_literal);
  if (left.is_poison() || right.is_poison()) return Poison{};
  if (auto fn = compare_of(op)) return apply(in, *fn, left, right);
  Value result = apply(in, function_of(op), left, right, span);
  if (auto* made = result.as<Dynamic>(); made && stays_literal) return Dynamic{made->id, true};
  return result;
}

Value unary(Instance& in, ast::UnaryOp op, const Operand& operand, Span span) {
  Value x = number(in, operand);
  if (x.is_poison()) return x;
  Scalar type = element_of(in, x);
  const char* wish = op == ast::UnaryOp::Not ? (type == Scalar::Bool ? nullptr : "bool")
                     : op == ast::UnaryOp::BitNot ? (is_integer(type) ? nullptr : "an integer")
                                                : (type == Scalar::Bool ? "a number" : nullptr);
  if (wish) {
    in.at(operand.span).error(diag::TypeMismatch, wish, name(type));
    return Poison{};
  }
  return apply(in, op == ast::UnaryOp::Negate ? ir::UnaryFn::Neg : ir::UnaryFn::Not, x, span);
}

}  // namespace tilec::sema
