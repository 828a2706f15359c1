#include "sema/scalar.h"

#include <charconv>

#include "sema/cast_advice.h"
#include "sema/foreign_names.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// A literal's number in another type, rounded once from what the program writes.
ir::Number converted(const Const& literal, Scalar to, ir::ConvertMode mode = ir::ConvertMode::Nearest) {
  ir::Number number = literal.number;
  if (literal.odd && to != Scalar::F64 && mode != ir::ConvertMode::Bits) number.f = *literal.odd;
  return ir::evaluate_convert(literal.type, to, mode, number);
}

// A finite number beyond the greatest of the type would turn into that or into infinity.
bool is_in_range(Scalar to, const Const& literal) {
  double exact = literal.number.is_float ? literal.number.f : double(literal.number.i);
  double kept = converted(literal, to).f;
  // No rounding that stays in range takes away a quarter.
  return !std::isfinite(exact) || std::abs(exact) < 1 || (std::isfinite(kept) && std::abs(exact) < 1.25 * std::abs(kept));
}

bool fits(Scalar to, const Const& literal) {
  if (is_float(to)) return is_in_range(to, literal);
  if (literal.number.is_float) return false;
  if (!is_integer(to)) return false;
  if (to == Scalar::U64) return literal.number.i >= 0;
  return literal.number.i >= integer_min(to) && (literal.number.i < 0 || uint64_t(literal.number.i) <= integer_max(to));
}

// May `from` turn into `to` unasked?
bool is_implicit(Scalar from, Scalar to) {
  return from == to || (to == Scalar::Index && is_integer(from) && from != Scalar::U64);
}

// A width by which the wider of two types is named in a fix-it; floats are wider than integers.
int width_rank(Scalar type) { return bit_width(type) + (is_float(type) ? 1000 - float_format(type).spare_bits : 0); }

bool holds_all_of(Scalar to, Scalar from) { return integer_min(to) <= integer_min(from) && uint64_t(integer_max(to)) >= uint64_t(integer_max(from)); }

// Of two integers of which neither holds the other's numbers: what holds both, and no fix that changes numbers.
bool advise_wider(Report& report, Scalar a, Scalar b) {
  if (!is_integer(a) || !is_integer(b) || holds_all_of(a, b) || holds_all_of(b, a)) return false;
  for (Scalar wide : {Scalar::I16, Scalar::I32, Scalar::I64})
    if (holds_all_of(wide, a) && holds_all_of(wide, b)) {
      std::string name(tilec::name(wide));
      report.help("neither holds all numbers of the other: convert both with `as " + name + "`, which does");
      return true;
    }
  report.help("neither holds all numbers of the other, and no integer holds those of both: say with `as` what becomes of them");
  return true;
}

void report_mixed(Instance& in, const Operand& a, Scalar type_a, const Operand& b, Scalar type_b) {
  bool a_gives_way = width_rank(type_a) < width_rank(type_b);
  const Operand& narrow = a_gives_way ? a : b;
  Scalar from = a_gives_way ? type_a : type_b, to = a_gives_way ? type_b : type_a;
  auto report = in.at(narrow.span).error(diag::ImplicitConversion, name(from), name(to));
  report.label("this is " + std::string(name(from)))
      .mark(a_gives_way ? b.span : a.span, "this is " + std::string(name(to)));
  if (!narrow.is_target && advise_wider(report, from, to)) return;
  if (narrow.is_target) report.help("declare it as `" + std::string(name(to)) + "`, or convert the other side with `as " + std::string(name(from)) + "`");
  else advise_cast(in, report, narrow.span, from, to);
}

}  // namespace

void report_implicit(Instance& in, Span span, Scalar from, Scalar to) {
  auto report = in.at(span).error(diag::ImplicitConversion, name(from), name(to));
  if (from != Scalar::Bool && to != Scalar::Bool) advise_cast(in, report, span, from, to);
}

void report_factors(Instance& in, Span span, Scalar from, Scalar to) {
  auto report = in.at(span).error(diag::ImplicitConversion, name(from), name(to));
  if (!advise_wider(report, from, to) && from != Scalar::Bool && to != Scalar::Bool) advise_cast(in, report, span, from, to);
}

Scalar element_of(const Instance& in, const Value& value) {
  if (auto* c = value.as<Const>()) return c->type;
  if (auto* d = value.as<Dynamic>()) return in.type(d->id).element;
  if (auto* t = value.as<Tile>()) return in.type(t->id).element;
  if (auto* e = value.as<Elementwise>()) return in.type(e->result).element;
  if (auto* v = value.as<View>()) return in.type(v->buffer).element;
  return Scalar::F32;
}

Value number(Instance& in, const Operand& operand) {
  if (operand.value.is<Const>() || operand.value.is<Dynamic>() || operand.value.is_poison()) return operand.value;
  if (operand.value.is_element()) return load_element(in, *operand.value.as<View>(), operand.span);
  in.at(operand.span).error(diag::TypeMismatch, "a number", describe(in.kernel, operand.value));
  return Poison{};
}

bool is_literal(const Value& value) {
  auto* c = value.as<Const>();
  auto* d = value.as<Dynamic>();
  return (c && c->is_literal) || (d && d->is_literal);
}

namespace {

constexpr size_t kMostLiterals = 256;

// What a choice is between; nothing of what is none.
std::vector<ir::ValueId> sides_of(const ir::Kernel& kernel, ir::ValueId v) {
  if (auto* s = kernel.defined_by<op::Select>(v)) return {s->a, s->b};
  auto* branch = kernel.defined_by<op::If>(v);
  const ir::Op* op = branch ? kernel.definition(v) : nullptr;
  if (!op || op->results[0] != v) return {};
  return {kernel.terminator(branch->then_body).as<op::Yield>().values[0], kernel.terminator(branch->else_body).as<op::Yield>().values[0]};
}

// Every number that `v`, made of literals, may be; none where they are not counted.
std::optional<std::vector<Const>> literals_of(const ir::Kernel& kernel, ir::ValueId v) {
  const Scalar type = kernel.type(v).element;
  if (auto n = kernel.constant(v)) return std::vector{Const{type, *n, true}};
  std::vector<Const> all;
  if (auto sides = sides_of(kernel, v); !sides.empty()) {
    for (ir::ValueId side : sides) {
      auto some = literals_of(kernel, side);
      if (!some || all.size() + some->size() > kMostLiterals) return std::nullopt;
      all.insert(all.end(), some->begin(), some->end());
    }
    return all;
  }
  auto take = [&](std::optional<ir::Number> n) {
    if (n) all.push_back({type, *n, true});
  };
  if (auto* u = kernel.defined_by<op::Unary>(v)) {
    auto xs = literals_of(kernel, u->x);
    for (const Const& x : xs.value_or(std::vector<Const>())) take(ir::evaluate(u->fn, x.type, x.number));
    return xs ? std::optional(all) : std::nullopt;
  }
  auto* both = kernel.defined_by<op::Binary>(v);
  auto as = both ? literals_of(kernel, both->a) : std::nullopt, bs = both ? literals_of(kernel, both->b) : std::nullopt;
  if (!as || !bs || as->size() * bs->size() > kMostLiterals) return std::nullopt;
  for (const Const& a : *as)
    for (const Const& b : *bs) take(ir::evaluate(both->fn, a.type, a.number, b.number));
  return all;
}

// The number with its literals as `to`; what is computed of a choice is so in the type that it has, and rounded once. A branch stays the one
// it is: nothing else has used it yet.
ir::ValueId retyped(Instance& in, ir::ValueId v, Scalar to, ir::ConvertMode mode) {
  Scalar from = in.type(v).element;
  if (from == to) return v;
  if (auto n = in.kernel.constant(v)) return in.builder.constant(to, ir::evaluate_convert(from, to, mode, *n));
  if (auto* found = in.kernel.defined_by<op::Select>(v)) {
    op::Select s = *found;
    ir::ValueId a = retyped(in, s.a, to, mode), b = retyped(in, s.b, to, mode);
    return in.builder.select(s.condition, a, b);
  }
  if (sides_of(in.kernel, v).empty()) return in.builder.convert(v, to, mode);
  const op::If branch = *in.kernel.defined_by<op::If>(v);
  for (ir::RegionId side : {branch.then_body, branch.else_body}) {
    std::vector<ir::ValueId> values = in.kernel.terminator(side).as<op::Yield>().values;
    in.kernel.region(side).ops.pop_back();
    RegionGuard inside(in, side);
    values[0] = retyped(in, values[0], to, mode);
    in.builder.yield(std::move(values));
  }
  in.kernel.value(v).type = in.kernel.types.intern(ir::scalar_type(to));
  return v;
}

}  // namespace

bool may_be(const Instance& in, const Value& literal, const std::function<bool(const ir::Number&)>& is_so) {
  if (auto* c = literal.as<Const>()) return is_so(c->number);
  auto all = literals_of(in.kernel, literal.as<Dynamic>()->id);
  return !all || std::ranges::any_of(*all, [&](const Const& c) { return is_so(c.number); });
}

ir::ValueId emit_literal(Instance& in, const Value& literal, Scalar to, ir::ConvertMode mode) {
  if (auto* d = literal.as<Dynamic>()) return retyped(in, d->id, to, mode);
  const Const& c = *literal.as<Const>();
  return in.builder.constant(to, converted(c, to, mode));
}

ir::ValueId emit(Instance& in, const Value& value) {
  if (is_literal(value) && element_of(in, value) == Scalar::F64) return emit_literal(in, value, Scalar::F32);
  if (auto* d = value.as<Dynamic>()) return d->id;
  auto* c = value.as<Const>();
  INVARIANT(c, "a number is known now or at run time");
  return in.builder.constant(c->type, c->number);
}

ir::ValueId zero(Instance& in, Scalar type) {
  return in.builder.constant(type, is_float(type) ? ir::Number::real(0) : ir::Number::integer(0));
}

ir::ValueId zero(Instance& in, const ir::Type& type) {
  ir::ValueId x = zero(in, type.element);
  return type.is_tile() ? in.builder.value(op::Splat{x}, type) : x;
}

std::optional<Scalar> common_type(Instance& in, std::span<const Operand> operands) {
  const Operand* first = nullptr;
  Scalar type = Scalar::Index;
  bool has_float_literal = false;
  for (const Operand& operand : operands) {
    if (operand.value.is_poison()) return std::nullopt;
    Scalar own = element_of(in, operand.value);
    auto* tile = operand.value.as<Elementwise>();
    if (is_literal(operand.value) || (tile && tile->is_literal)) {
      has_float_literal |= is_float(own);
      continue;
    }
    if (!first || (own == Scalar::Index && is_implicit(type, own))) {
      first = &operand;
      type = own;
    } else if (!is_implicit(own, type)) {
      report_mixed(in, *first, type, operand, own);
      return std::nullopt;
    }
  }
  if (first) return type;
  return has_float_literal ? Scalar::F64 : Scalar::Index;
}

namespace {

std::string text_of(const ir::Number& n) {
  if (!n.is_float) return std::to_string(n.i);
  char text[32];
  return {text, std::to_chars(text, std::end(text), n.f).ptr};
}

// What is made of literals as `to`; Poison when it may be a number that does not fit (reported).
Value choice_as(Instance& in, const Operand& operand, Scalar to) {
  const Dynamic& choice = *operand.value.as<Dynamic>();
  auto all = literals_of(in.kernel, choice.id);
  const Scalar own = in.type(choice.id).element;
  if (!all && !is_float(to) && to != own) return report_implicit(in, operand.span, own, to), Value(Poison{});
  for (const Const& literal : all.value_or(std::vector<Const>())) {
    if (fits(to, literal)) continue;
    in.at(operand.span).error(diag::LiteralDoesNotFit, text_of(literal.number), name(to));
    return Poison{};
  }
  return Dynamic{emit_literal(in, operand.value, to)};
}

}  // namespace

Value implicitly(Instance& in, const Operand& operand, Scalar to) {
  Value value = number(in, operand);
  if (value.is_poison()) return value;
  Scalar from = element_of(in, value);
  if (auto* c = value.as<Const>()) {
    if (c->is_literal && from != Scalar::Bool) {
      if (fits(to, *c)) return Const{to, converted(*c, to)};
      in.at(operand.span).error(diag::LiteralDoesNotFit, in.text(operand.span), name(to));
      return Poison{};
    }
    if (is_implicit(from, to)) return Const{to, ir::evaluate_convert(from, to, ir::ConvertMode::Nearest, c->number)};
  } else if (is_literal(value)) {
    return choice_as(in, operand, to);
  } else if (is_implicit(from, to)) {
    return Dynamic{in.builder.convert(emit(in, value), to)};
  }
  report_implicit(in, operand.span, from, to);
  return Poison{};
}

Value convert(Instance& in, const Value& value, Scalar to, ir::ConvertMode mode, Span span) {
  Scalar from = element_of(in, value);
  if (from == Scalar::Bool && mode == ir::ConvertMode::Bits) return not_supported(in, span, "the bits of a bool");
  if (auto* c = value.as<Const>()) {
    Scalar source = c->is_literal && is_float(from) ? Scalar::F64 : from;
    Const exact = *c;
    exact.type = source;
    return Const{to, converted(exact, to, mode)};
  }
  if (is_literal(value)) return Dynamic{emit_literal(in, value, to, mode)};
  return Dynamic{in.builder.convert(emit(in, value), to, mode)};
}

std::optional<int64_t> known_int(Instance& in, const Operand& operand, std::string_view what) {
  if (operand.value.is_poison()) return std::nullopt;
  auto* c = operand.value.as<Const>();
  if (c && is_integer(c->type)) return c->number.i;
  if (c || !operand.value.is_scalar())
    in.at(operand.span).error(diag::TypeMismatch, "int", describe(in.kernel, operand.value));
  else if (auto report = in.at(operand.span).error(diag::NotCompileTime, what); what == "the extent of a tile")
    report.help(std::string(kTileExtents));
  return std::nullopt;
}

ir::ValueId index_value(Instance& in, const Operand& operand) {
  Value value = implicitly(in, operand, Scalar::Index);
  return value.is_poison() ? ir::ValueId{} : emit(in, value);
}

}  // namespace tilec::sema
