// Expressions that choose: `if c { a } else { b }`, `&&`, `||`.
#include "sema/expr.h"
#include "sema/host_range.h"
#include "sema/stmt.h"

namespace tilec::sema {
namespace {

bool may_fail(const ir::Kernel& kernel, const op::Unary& u) {
  bool is_negative = u.fn == ir::UnaryFn::Neg || u.fn == ir::UnaryFn::Abs;
  return is_negative && kernel.type(u.x).element == Scalar::Index && is_far(kernel, u.x);
}

bool may_fail(const ir::Kernel& kernel, const op::Binary& b) {
  Scalar type = kernel.type(b.a).element;
  if (!is_integer(type)) return false;
  switch (b.fn) {
    case ir::BinaryFn::Div: case ir::BinaryFn::Rem: {
      auto divisor = kernel.constant(b.b);
      return !divisor || divisor->i == -1;
    }
    case ir::BinaryFn::Add: case ir::BinaryFn::Sub: case ir::BinaryFn::Mul: case ir::BinaryFn::Shl:
      return type == Scalar::Index && (is_far(kernel, b.a) || is_far(kernel, b.b));
    default: return false;
  }
}

// May this run although the program would have skipped it? Reads of memory may not, nor what can fail.
bool is_harmless(const ir::Kernel& kernel, const ir::Op& o) {
  if (auto* b = o.get<op::Binary>()) return !may_fail(kernel, *b);
  if (auto* u = o.get<op::Unary>()) return !may_fail(kernel, *u);
  return o.is<op::Constant>() || o.is<op::Compare>() || o.is<op::Select>() ||
      o.is<op::Convert>() ||
         o.is<op::Fma>() || o.is<op::Present>() || o.is<op::Extent>() || o.is<op::Stride>() || o.is<op::Splat>();
}

bool is_harmless(const Instance& in, ir::RegionId region) {
  const auto& ops = in.kernel.region(region).ops;
  return std::all_of(ops.begin(), ops.end(), [&](ir::OpId id) {
    const ir::Op& o = in.kernel.op(id);
    return is_harmless(in.kernel, o) && !(in.level == Level::Host && may_fail_on_host(in.kernel, o));
  });
}

void splice(Instance& in, ir::RegionId from) {
  auto ops = std::move(in.kernel.region(from).ops);
  in.kernel.region(from).ops.clear();
  auto& target = in.kernel.region(in.builder.region()).ops;
  target.insert(target.end(), ops.begin(), ops.end());
}

// One side of a choice, evaluated in a region of its own.
struct Side {
  ir::RegionId region;
  Operand operand;
};

Side side(Instance& in, const ast::Expr& expr, Hint hint, std::set<MemoryId> present) {
  Side s{in.kernel.new_region(), {}};
  RegionGuard region(in, s.region);
  Restore<std::set<MemoryId>> known(in.present, std::move(present));
  Restore<int> depth(in.control_depth, in.control_depth + 1);
  s.operand = operand(in, expr, hint);
  if (s.operand.value.is_element()) s.operand.value = number(in, s.operand);
  return s;
}

// A number beside a tile is every element of one.
bool repeat(Instance& in, Side& side, const ir::Type& tile) {
  RegionGuard region(in, side.region);
  side.operand.value = implicitly(in, side.operand, tile.element);
  side.operand.value = fragment(in, side.operand, &tile.shape);
  return !side.operand.value.is_poison();
}

bool are_literals(const Operand& a, const Operand& b) { return is_literal(a.value) && is_literal(b.value); }

// What is chosen, in the type of both sides: Dynamic or Poison.
Value chosen(Instance& in, const Operand& operand, Scalar type, bool stays_literal) {
  if (stays_literal) return Dynamic{emit_literal(in, operand.value, type), true};
  Value value = implicitly(in, operand, type);
  return value.is_poison() ? value : Value(Dynamic{emit(in, value)});
}

// Both sides as IR values of one type; the type, or none after a mistake.
std::optional<ir::Type> unify(Instance& in, Side& a, Side& b, Span span) {
  if (a.operand.value.is_scalar() && b.operand.value.is_scalar()) {
    auto type = common_type(in, std::array{a.operand, b.operand});
    if (!type) return std::nullopt;
    bool stays_literal = are_literals(a.operand, b.operand);
    Scalar to = stays_literal && is_float(*type) ? Scalar::F64 : *type;
    for (Side* s : {&a, &b}) {
      RegionGuard region(in, s->region);
      s->operand.value = chosen(in, s->operand, to, stays_literal);
      if (s->operand.value.is_poison()) return std::nullopt;
    }
    return ir::scalar_type(to);
  }
  for (Side* s : {&a, &b}) {
    RegionGuard region(in, s->region);
    if (!s->operand.value.is_scalar()) s->operand.value = fragment(in, s->operand);
    if (s->operand.value.is_poison()) return std::nullopt;
  }
  if (a.operand.value.is_scalar() && !repeat(in, a, in.type(b.operand.value.as<Tile>()->id))) return std::nullopt;
  if (b.operand.value.is_scalar() && !repeat(in, b, in.type(a.operand.value.as<Tile>()->id))) return std::nullopt;
  ir::Type x = in.type(a.operand.value.as<Tile>()->id), y = in.type(b.operand.value.as<Tile>()->id);
  if (x == y) return x;
  in.at(span).error(diag::TypeMismatch, describe(x), describe(y)).mark(a.operand.span).mark(b.operand.span);
  return std::nullopt;
}

ir::ValueId id_of(const Value& value) { return value.is<Tile>() ? value.as<Tile>()->id : value.as<Dynamic>()->id; }

Value choose(Instance& in, ir::ValueId condition, Side a, Side b, Span span) {
  if (a.operand.value.is_poison() || b.operand.value.is_poison()) return Poison{};
  auto type = unify(in, a, b, span);
  if (!type) return Poison{};
  ir::ValueId x = id_of(a.operand.value), y = id_of(b.operand.value);
  bool is_choice = are_literals(a.operand, b.operand);
  in.builder.set_span(span);
  if (type->is_scalar() && is_harmless(in, a.region) && is_harmless(in, b.region)) {
    splice(in, a.region);
    splice(in, b.region);
    return Dynamic{in.builder.select(condition, x, y), is_choice};
  }
  for (auto [region, value] : {std::pair{a.region, x}, std::pair{b.region, y}}) {
    RegionGuard inside(in, region);
    in.builder.yield({value});
  }
  ir::ValueId result = in.builder.value(op::If{condition, a.region, b.region}, *type);
  return type->is_tile() ? Value(Tile{result}) : Value(Dynamic{result, is_choice});
}

Value choose_elements(Instance& in, const Operand& test, const ast::IfExpr& node, Hint hint, Span span) {
  auto shape = shape_of(in, test);
  if (!shape) return Poison{};
  if (!hint.shape && std::ranges::find(*shape, kNewAxis) == shape->end()) hint.shape = &*shape;
  Operand a = operand(in, *node.then_value, hint), b = operand(in, *node.else_value, hint);
  return map_elements(in, std::array{test, a, b}, span, [&](std::span<const Operand> x) -> Value {
    if (element_of(in, x[0].value) != Scalar::Bool)
      return in.at(test.span).error(diag::TypeMismatch, "bool", describe(in.kernel, x[0].value)), Value(Poison{});
    auto type = common_type(in, x.subspan(1));
    if (!type) return Poison{};
    bool stays_literal = are_literals(x[1], x[2]);
    Scalar to = stays_literal && is_float(*type) ? Scalar::F64 : *type;
    Value yes = chosen(in, x[1], to, stays_literal), no = chosen(in, x[2], to, stays_literal);
    if (yes.is_poison() || no.is_poison()) return Poison{};
    return Dynamic{in.builder.select(emit(in, x[0].value), yes.as<Dynamic>()->id, no.as<Dynamic>()->id), stays_literal};
  });
}

}  // namespace

Value evaluate_if(Instance& in, const ast::Expr& expr, const ast::IfExpr& node, Hint hint) {
  Operand first = operand(in, *node.condition);
  if (first.value.is_tile_like() && !nullable(in, first.value))
    return choose_elements(in, first, node, hint, expr.span);
  Value test = as_condition(in, first);
  if (test.is_poison()) return test;
  if (auto* c = test.as<Const>()) return evaluate(in, c->number.i ? *node.then_value : *node.else_value, hint);
  ir::ValueId value = emit(in, test);
  Side a = side(in, *node.then_value, hint, present_where(in, *node.condition, true));
  Side b = side(in, *node.else_value, hint, present_where(in, *node.condition, false));
  if (a.operand.value.is<Shapeless>() || b.operand.value.is<Shapeless>()) return Shapeless{&expr};
  return choose(in, value, std::move(a), std::move(b), expr.span);
}

Value evaluate_logical(Instance& in, const ast::Expr& expr, const ast::Binary& node) {
  bool is_and = node.op == ast::BinaryOp::And;
  Operand a = operand(in, *node.lhs);
  if (a.value.is_poison()) return Poison{};
  if (a.value.is_tile_like() && !nullable(in, a.value)) {
    Operand b = operand(in, *node.rhs);
    return map_elements(in, std::array{a, b}, expr.span,
                        [&](std::span<const Operand> x) { return binary(in, node.op, x[0], x[1], expr.span); });
  }
  Value left = as_condition(in, a);
  if (left.is_poison()) return left;
  if (auto* c = left.as<Const>()) return (c->number.i != 0) == is_and ? condition(in, *node.rhs) : left;
  ir::ValueId x = emit(in, left);
  Side b{in.kernel.new_region(), {}};
  {
    RegionGuard region(in, b.region);
    Restore<std::set<MemoryId>> known(in.present, present_where(in, *node.lhs, is_and));
    b.operand = {condition(in, *node.rhs), node.rhs->span};
    if (b.operand.value.is_poison()) return Poison{};
    b.operand.value = Dynamic{emit(in, b.operand.value)};
  }
  ir::ValueId y = b.operand.value.as<Dynamic>()->id;
  if (is_harmless(in, b.region)) {
    splice(in, b.region);
    return Dynamic{is_and ? in.builder.logical_and(x, y) : in.builder.logical_or(x, y)};
  }
  Side other{in.kernel.new_region(), {}};
  {
    RegionGuard region(in, other.region);
    other.operand = {Dynamic{in.builder.boolean(!is_and)}, expr.span};
  }
  return is_and ? choose(in, x, std::move(b), std::move(other), expr.span)
      : choose(in, x, std::move(other), std::move(b), expr.span);
}

}  // namespace tilec::sema
