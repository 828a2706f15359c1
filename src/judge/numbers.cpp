// Arithmetic on numbers: literals stay literals among themselves, `int` is exact, everything else is ir/scalar_eval.h's.
#include <array>
#include <cmath>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

using ast::BinaryOp;

ir::Number to_ir(const Number& x) { return x.is_real() ? ir::Number::real(x.f) : ir::Number::integer(int64_t(x.i)); }

std::optional<ir::BinaryFn> function_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return ir::BinaryFn::Add;
    case BinaryOp::Subtract: return ir::BinaryFn::Sub;
    case BinaryOp::Multiply: return ir::BinaryFn::Mul;
    case BinaryOp::Divide: return ir::BinaryFn::Div;
    case BinaryOp::Remainder: return ir::BinaryFn::Rem;
    case BinaryOp::BitAnd: return ir::BinaryFn::And;
    case BinaryOp::BitOr: return ir::BinaryFn::Or;
    case BinaryOp::BitXor: return ir::BinaryFn::Xor;
    case BinaryOp::ShiftLeft: return ir::BinaryFn::Shl;
    case BinaryOp::ShiftRight: return ir::BinaryFn::Shr;
    default: return std::nullopt;
  }
}

template <class T>
bool compares(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Equal: return a == b;
    case BinaryOp::NotEqual: return a != b;
    case BinaryOp::Less: return a < b;
    case BinaryOp::LessEqual: return a <= b;
    case BinaryOp::Greater: return a > b;
    default: return a >= b;
  }
}

bool is_comparison(BinaryOp op) { return op >= BinaryOp::Equal && op <= BinaryOp::GreaterEqual; }

Wide floor_quotient(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Wide shifted(Wide a, Wide by, bool is_left) {
  if (by < 0 || by >= 64) return is_left || a >= 0 ? 0 : -1;
  return is_left ? a * (Wide(1) << int(by)) : a >> int(by);
}

}  // namespace

// Outside of launches the call is refused.
Number Evaluator::faulty(interp::FaultKind kind, Span span, std::string text, Scalar type) {
  if (!is_muted_) stop(is_in_launch_ ? kind : interp::FaultKind::Contract, span, std::move(text));
  Number zero;
  zero.type = type;
  return zero;
}

Number Evaluator::from(Scalar type, const std::optional<ir::Number>& n, Padding padding) {
  Number out;
  out.type = type;
  out.padding = padding;
  if (n && n->is_float) out.f = n->f;
  else if (n) out.i = type == Scalar::U64 ? Wide(uint64_t(n->i)) : Wide(n->i);
  return out;
}

namespace {

Wide greatest_of(Scalar type) { return type == Scalar::U64 ? Wide(UINT64_MAX) : Wide(ir::evaluate_convert(Scalar::Index, type, ir::ConvertMode::Nearest, ir::Number::integer(INT64_MAX)).i); }

// A literal's number, for a type that it flows into.
double digits_for(Scalar to, const Number& x) { return x.odd && to != Scalar::F64 ? *x.odd : x.f; }

bool is_beyond_int(const Number& x) { return x.is_literal && x.type == Scalar::Index && !fits_int(x.i); }

// A literal's number as a float, rounded once.
double real_of(Scalar to, Wide x) {
  if (!fits_int(x) && (x < 0 || x > UINT64_MAX)) return round_to(to, double(x));
  return ir::evaluate_convert(fits_int(x) ? Scalar::Index : Scalar::U64, to, ir::ConvertMode::Nearest, ir::Number::integer(int64_t(x))).f;
}

}  // namespace

Number Evaluator::convert(const Number& x, Scalar to, Span span) {
  if (to == Scalar::Index && is_beyond_int(x)) unknown(span, "a literal that is no `int`, as one");
  if (x.type == to) {
    Number same = x;
    same.odd.reset();
    if (same.is_literal && is_float(to)) same.f = round_to(to, x.f);
    same.is_literal = false;
    return same;
  }
  bool becomes_int = to == Scalar::Index && is_integer(x.type);
  bool is_literal_number = x.is_literal && x.type != Scalar::Bool && to != Scalar::Bool && (!x.is_real() || is_float(to));
  if (!becomes_int && !is_literal_number)
    unknown(span, "a conversion from " + std::string(name(x.type)) + " to " + std::string(name(to)) + " that is not written");
  Number out = x;
  out.type = to, out.stamp = 0;
  out.is_literal = false;
  out.odd.reset();
  if (is_float(to)) out.f = x.is_real() ? round_to(to, digits_for(to, x)) : real_of(to, x.i);
  return out;
}

Number Evaluator::cast(const Number& x, Scalar to, ir::ConvertMode mode) {
  Number out;
  out.padding = x.beyond();
  if (x.is_literal && !x.is_real() && is_float(to) && mode == ir::ConvertMode::Nearest) out.f = real_of(to, x.i);
  else if (x.is_literal && x.i > INT64_MAX && mode == ir::ConvertMode::Nearest) out.i = std::min<Wide>(x.i, greatest_of(to));
  else if (x.is_literal && x.is_real() && is_float(to) && mode == ir::ConvertMode::Nearest) out.f = round_to(to, digits_for(to, x));
  else out = from(to, ir::evaluate_convert(x.type, to, mode, to_ir(x), options_.numeric), x.beyond());
  out.type = to;
  mark(out, std::array{x});
  return out;
}

Number Evaluator::settle(const Number& x, Span span) {
  if (is_beyond_int(x) && x.i > 0 && x.i <= UINT64_MAX) return convert(x, Scalar::U64, span);
  return x.is_literal ? convert(x, x.is_real() ? Scalar::F32 : x.type, span) : x;
}

void Evaluator::unite(Number& a, Number& b, Span span) {
  if (a.is_literal && b.is_literal) {
    if (a.type == b.type) return;
    for (Number* n : {&a, &b})
      if (!n->is_real()) n->f = double(n->i), n->type = Scalar::F64;
    return;
  }
  if (a.is_literal) a = convert(a, b.type, span);
  else if (b.is_literal) b = convert(b, a.type, span);
  else if (a.type != b.type) {
    if (a.type == Scalar::Index) b = convert(b, a.type, span);
    else a = convert(a, b.type, span);
  }
}

Number Evaluator::whole(BinaryOp op, const Number& a, const Number& b, Span span) {
  Number out = integer_of(0);
  out.is_literal = a.is_literal && b.is_literal;
  bool is_lost = false;
  switch (op) {
    case BinaryOp::Add: is_lost = __builtin_add_overflow(a.i, b.i, &out.i); break;
    case BinaryOp::Subtract: is_lost = __builtin_sub_overflow(a.i, b.i, &out.i); break;
    case BinaryOp::Multiply: is_lost = __builtin_mul_overflow(a.i, b.i, &out.i); break;
    case BinaryOp::BitAnd: out.i = a.i & b.i; break;
    case BinaryOp::BitOr: out.i = a.i | b.i; break;
    case BinaryOp::BitXor: out.i = a.i ^ b.i; break;
    case BinaryOp::ShiftLeft:
      // What moves out leaves 64 bits, whichever way the count says.
      if ((b.i < 0 || b.i >= 64) && a.i != 0) return faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", out.type);
      [[fallthrough]];
    case BinaryOp::ShiftRight: out.i = shifted(a.i, b.i, op == BinaryOp::ShiftLeft); break;
    case BinaryOp::Divide: case BinaryOp::Remainder: {
      if (b.i == 0) return faulty(interp::FaultKind::DivisionByZero, span, "an integer is divided by 0", out.type);
      Wide quotient = floor_quotient(a.i, b.i);
      out.i = op == BinaryOp::Divide ? quotient : a.i - quotient * b.i;
      break;
    }
    default: unknown(span, "this operation on `int`");
  }
  if (is_lost) unknown(span, "a number beyond 128 bits");
  if (!out.is_literal && !fits_int(out.i)) return faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", out.type);
  return out;
}

namespace {

// Padding that was written counts where it is combined as it was read with what a variable holds.
Padding asked(const Number& a, const Number& b) {
  auto is_asked = [](const Number& x, const Number& held) { return (x.padding & kAsRead) && x.is_padding() && !held.is_padding() && !held.spread && held.stamps.any(); };
  return is_asked(a, b) || is_asked(b, a) ? kAsked : Padding(0);
}

}  // namespace

Number Evaluator::arithmetic(BinaryOp op, Number a, Number b, Span span) {
  const Padding padding = a.beyond() | b.beyond() | asked(a, b);
  // How far is a number of its own.
  const bool shifts_number = (op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight) && !a.is_literal && is_integer(b.type) && (!b.is_literal || a.type != Scalar::Index);
  if (shifts_number) b.type = Scalar::I64, b.is_literal = false;
  if (!shifts_number) unite(a, b, span);
  Muted muted(is_muted_, padding || waits(std::array{a, b}));
  if ((op == BinaryOp::Divide || op == BinaryOp::Remainder) && b.is_padding() && !b.is_real() && b.i == 0) b.i = 1;
  Number out;
  if (is_comparison(op)) {
    out = truth_of(a.is_real() ? compares(op, a.f, b.f) : compares(op, a.i, b.i));
  } else if (a.type == Scalar::Index) {
    out = whole(op, a, b, span);
  } else {
    auto fn = function_of(op);
    if (!fn) unknown(span, "this operator between numbers");
    auto result = ir::evaluate(*fn, a.type, to_ir(a), to_ir(b), options_.numeric);
    bool is_literal = a.is_literal && b.is_literal;
    out = result ? from(a.type, result, 0) : faulty(interp::FaultKind::DivisionByZero, span, "an integer is divided by 0", a.type);
    out.is_literal = is_literal;
  }
  out.padding = padding;
  mark(out, std::array{a, b});
  return out;
}

Number Evaluator::negated(ast::UnaryOp op, const Number& x, Span span) {
  if (is_beyond_int(x) && !(op == ast::UnaryOp::Negate && fits_int(-x.i))) unknown(span, "an operation on a literal beyond `int`");
  Muted muted(is_muted_, x.is_padding() || x.waiting);
  if (op == ast::UnaryOp::Negate && x.type == Scalar::Index) {
    Number out = x;
    out.i = -x.i;
    bool is_fine = x.is_literal || fits_int(out.i);
    return is_fine ? out : faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", x.type);
  }
  if (op == ast::UnaryOp::BitNot && x.type == Scalar::Index) {
    Number out = x;
    out.i = ~x.i;
    return out;
  }
  Number out = from(x.type, ir::evaluate(op == ast::UnaryOp::Negate ? ir::UnaryFn::Neg : ir::UnaryFn::Not, x.type, to_ir(x), options_.numeric), x.beyond());
  out.is_literal = x.is_literal;
  if (op == ast::UnaryOp::Negate && x.odd) out.odd = -*x.odd;
  mark(out, std::array{x});
  return out;
}

Number Evaluator::unary_function(ir::UnaryFn fn, Number x, Span span) {
  if (fn == ir::UnaryFn::Abs && x.type == Scalar::Index) {
    if (x.i < 0) return negated(ast::UnaryOp::Negate, x, span);
    return x;
  }
  bool counts_bits = fn == ir::UnaryFn::PopCount || fn == ir::UnaryFn::LeadingZeros;
  if (x.is_literal && !x.is_real() && !counts_bits) x.f = double(x.i), x.type = Scalar::F64;
  Scalar type = fn == ir::UnaryFn::IsNan ? Scalar::Bool : x.type;
  Number out = from(type, ir::evaluate(fn, x.type, to_ir(x), options_.numeric), x.beyond());
  out.is_literal = x.is_literal && type != Scalar::Bool;
  mark(out, std::array{x});
  return out;
}

Number Evaluator::binary_function(ir::BinaryFn fn, Number a, Number b, Span span) {
  unite(a, b, span);
  const bool is_literal = a.is_literal && b.is_literal;
  const Padding padding = a.beyond() | b.beyond() | asked(a, b);
  Muted muted(is_muted_, padding || waits(std::array{a, b}));
  if (a.type == Scalar::Index && fn != ir::BinaryFn::Pow) {
    bool takes_less = fn == ir::BinaryFn::Min || fn == ir::BinaryFn::Minimum;
    Number out = takes_less == (a.i < b.i) ? a : b;
    out.padding = padding;
    mark(out, std::array{a, b});
    return out;
  }
  if (is_literal && !a.is_real())
    for (Number* n : {&a, &b}) n->f = double(n->i), n->type = Scalar::F64;
  auto result = ir::evaluate(fn, a.type, to_ir(a), to_ir(b), options_.numeric);
  if (!result) return faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", a.type);
  Number out = from(a.type, result, padding);
  out.is_literal = is_literal;
  mark(out, std::array{a, b});
  return out;
}

}  // namespace tilec::judge
