// Arithmetic on numbers: literals stay literals among themselves, `int` is exact, everything else is ir/scalar_eval.h's.
#include <array>
#include <cmath>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

using ast::BinaryOp;

ir::Number to_ir(const Number& x) { return x.is_real() ? ir::Number::real(x.f) : ir::Number::integer(int64_t(x.i)); }

bool fits_int(Wide x) { return x >= INT64_MIN && x <= INT64_MAX; }

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

}  // namespace

Number Evaluator::convert(const Number& x, Scalar to, Span span) {
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
  out.type = to;
  out.is_literal = false;
  out.odd.reset();
  if (is_float(to)) out.f = round_to(to, x.is_real() ? digits_for(to, x) : double(x.i));
  return out;
}

Number Evaluator::cast(const Number& x, Scalar to, ir::ConvertMode mode) {
  Number out;
  if (x.is_literal && !x.is_real() && is_float(to) && mode == ir::ConvertMode::Nearest) out.f = round_to(to, double(x.i));
  else if (x.is_literal && x.i > INT64_MAX && mode == ir::ConvertMode::Nearest) out.i = std::min<Wide>(x.i, greatest_of(to));
  else if (x.is_literal && x.is_real() && is_float(to) && mode == ir::ConvertMode::Nearest) out.f = round_to(to, digits_for(to, x));
  else out = from(to, ir::evaluate_convert(x.type, to, mode, to_ir(x), options_.numeric), x.beyond());
  out.type = to;
  carry(out, std::array{x});
  return out;
}

Number Evaluator::settle(const Number& x) {
  return x.is_literal ? convert(x, x.is_real() ? Scalar::F32 : x.type, {}) : x;
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

// What may keep what a loop carries: the first operand is the carried one of a difference.
bool may_keep(BinaryOp op, const Number& a) {
  switch (op) {
    case BinaryOp::Add: case BinaryOp::Multiply: case BinaryOp::BitAnd: case BinaryOp::BitOr: case BinaryOp::BitXor: return true;
    case BinaryOp::Subtract: return a.may_keep();
    default: return false;
  }
}

bool may_keep(ir::BinaryFn fn) {
  return fn == ir::BinaryFn::Min || fn == ir::BinaryFn::Max || fn == ir::BinaryFn::Minimum || fn == ir::BinaryFn::Maximum;
}

}  // namespace

// It is padding until a turn brings it something else. Padding that was written, and is combined as it was read, counts where `result`
// is another number.
std::optional<Number> Evaluator::kept(const Number& a, const Number& b, const Number* result, Span span) {
  const Number &mine = a.may_keep() ? a : b, &other = a.may_keep() ? b : a;
  if (a.may_keep() == b.may_keep() || !other.is_padding()) return std::nullopt;
  const bool counts = (other.padding & kAsRead) && !(result && result->type == mine.type && (mine.is_real() ? result->f == mine.f : result->i == mine.i));
  if (counts) return std::nullopt;
  if (mine.carried == Carried::Maybe) unknown(span, "what a loop may carry or not, as a branch that was not run decides, and padding");
  Number out = mine;
  // Written padding may leave this number as it was by chance alone.
  const bool is_neutral = other.is_real() ? other.f == 0 || other.f == 1 || (std::isinf(other.f) && !std::isinf(mine.f)) : other.i == 0 || other.i == 1;
  if ((other.padding & kAsRead) && !is_neutral) out.padding |= kAnything;
  if ((mine.padding & ~(kAnything | kPut)) || mine.may_end || other.is_anything()) out.padding |= kAnything;
  if (!(other.beyond() & kLost)) out.reached |= kAllAxes & ~other.beyond() & ~other.spread;
  out.waiting = (out.waiting | other.beyond()) & ~out.reached & kAllAxes;
  // Passes look at both sides of a condition, of which one may have brought something.
  if (out.waiting && (guards_ || (mine.padding & kPut))) out.waiting = 0, out.padding |= kAnything;
  return out;
}

// What is computed of what a loop carries is carried. Where one operand waits the result does; where the turn's own tiles lie inside,
// they have brought something.
void Evaluator::carry(Number& out, std::span<const Number> from) {
  Padding padding = 0, reached = 0, waiting = 0, brought = 0;
  Carried carried = Carried::No;
  for (const Number& x : from) {
    out.is_element |= x.is_element;
    if (x.may_keep()) carried = std::max(carried, x.carried);
    out.spread = &x == from.data() ? x.spread : out.spread & x.spread;
    if (x.is_carried()) reached |= x.reached & ~x.spread, waiting |= x.waiting;
    else if (x.is_element) brought |= kAllAxes & ~x.beyond() & ~x.spread;
    padding |= x.is_carried() ? x.padding : x.beyond();
  }
  if (carried == Carried::No) return;
  out.carried = carried;
  out.padding = padding & ~kAsRead;
  // It began as padding of which the axis is not known, and something has come to it.
  const bool began_lost = std::ranges::any_of(from, [](const Number& x) { return x.is_carried() && (x.padding & kLost); });
  if (brought && began_lost) out.padding = Padding((out.padding & ~kLost) | kAnything);
  out.reached = Padding(reached & ~waiting) | brought;
  out.waiting = waiting & ~brought;
  // What was set beside padding may be padding for what is carried.
  if (std::ranges::none_of(from, [](const Number& x) { return !x.is_carried() && x.is_set(); })) return;
  auto is_same = [&](const Number& x) { return x.is_carried() && x.type == out.type && (x.is_real() ? x.f == out.f : x.i == out.i); };
  if (std::ranges::none_of(from, is_same)) out.padding |= kAnything;
}

Number Evaluator::arithmetic(BinaryOp op, Number a, Number b, Span span) {
  const Padding padding = a.beyond() | b.beyond();
  // How far is a number of its own.
  const bool shifts_number = (op == BinaryOp::ShiftLeft || op == BinaryOp::ShiftRight) && !a.is_literal && is_integer(b.type) && (!b.is_literal || a.type != Scalar::Index);
  if (shifts_number) b.type = Scalar::I64, b.is_literal = false;
  if (!shifts_number) unite(a, b, span);
  const bool keeps = may_keep(op, a);
  if (keeps)
    if (auto same = kept(a, b, nullptr, span)) return *same;
  Muted muted(is_muted_, padding);
  if ((op == BinaryOp::Divide || op == BinaryOp::Remainder) && b.is_padding() && !b.is_real()) b.i = 1;
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
  if (keeps)
    if (auto same = kept(a, b, &out, span)) return *same;
  carry(out, std::array{a, b});
  return out;
}

Number Evaluator::negated(ast::UnaryOp op, const Number& x, Span span) {
  Muted muted(is_muted_, x.is_padding());
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
  carry(out, std::array{x});
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
  carry(out, std::array{x});
  return out;
}

Number Evaluator::binary_function(ir::BinaryFn fn, Number a, Number b, Span span) {
  unite(a, b, span);
  const bool is_literal = a.is_literal && b.is_literal;
  const Padding padding = a.beyond() | b.beyond();
  if (may_keep(fn))
    if (auto same = kept(a, b, nullptr, span)) return *same;
  Muted muted(is_muted_, padding);
  if (a.type == Scalar::Index && fn != ir::BinaryFn::Pow) {
    bool takes_less = fn == ir::BinaryFn::Min || fn == ir::BinaryFn::Minimum;
    Number out = takes_less == (a.i < b.i) ? a : b;
    out.padding = padding;
    carry(out, std::array{a, b});
    return out;
  }
  if (is_literal && !a.is_real())
    for (Number* n : {&a, &b}) n->f = double(n->i), n->type = Scalar::F64;
  auto result = ir::evaluate(fn, a.type, to_ir(a), to_ir(b), options_.numeric);
  if (!result) return faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", a.type);
  Number out = from(a.type, result, padding);
  out.is_literal = is_literal;
  if (may_keep(fn))
    if (auto same = kept(a, b, &out, span)) return *same;
  carry(out, std::array{a, b});
  return out;
}

}  // namespace tilec::judge
