// Expressions that choose: `if c { a } else { b }`, `&&`, `||`.
#include "sema/assigned_when.h"
#include "sema/expr.h"
#include "sema/host_range.h"
#include "sema/order.h"
#include "sema/shapeless.h"

namespace tilec::sema {
namespace {

bool may_fail(const Instance& in, const op::Unary& u) {
  bool is_negative = u.fn == ir::UnaryFn::Neg || u.fn == ir::UnaryFn::Abs;
  return is_negative && in.kernel.type(u.x).element == Scalar::Index && is_far(in.kernel, in.near_indices, u.x);
}

bool may_fail(const Instance& in, const op::Binary& b) {
  Scalar type = in.kernel.type(b.a).element;
  if (!is_integer(type)) return false;
  switch (b.fn) {
    case ir::BinaryFn::Div: case ir::BinaryFn::Rem: {
      auto divisor = in.kernel.constant(b.b);
      return !divisor || divisor->i == -1 || divisor->i == 0;
    }
    case ir::BinaryFn::Add: case ir::BinaryFn::Sub: case ir::BinaryFn::Mul: case ir::BinaryFn::Shl:
      return type == Scalar::Index && magnitude(in.kernel, in.near_indices, b) >= 64;
    default: return false;
  }
}

// May this run although the program would have skipped it? Reads of memory may not, nor what can fail.
bool is_harmless(const Instance& in, const ir::Op& o) {
  if (auto* b = o.get<op::Binary>()) return !may_fail(in, *b);
  if (auto* u = o.get<op::Unary>()) return !may_fail(in, *u);
  return o.is<op::Constant>() || o.is<op::Compare>() || o.is<op::Select>() ||
      o.is<op::Convert>() ||
         o.is<op::Fma>() || o.is<op::Present>() || o.is<op::Extent>() || o.is<op::Stride>() || o.is<op::Splat>();
}

bool is_harmless(const Instance& in, ir::RegionId region) {
  const auto& ops = in.kernel.region(region).ops;
  return std::all_of(ops.begin(), ops.end(), [&](ir::OpId id) {
    const ir::Op& o = in.kernel.op(id);
    return is_harmless(in, o) && !(in.level == Level::Host && may_fail_on_host(in.kernel, o));
  });
}

// One side of a choice, evaluated in a region of its own.
struct Side {
  Arm arm;
  Operand operand;
  ir::RegionId region() const { return arm.region; }
};

// `held`: by what the condition tells.
Side side(Instance& in, std::set<MemoryId> present, const Assignments& held, const std::function<Operand()>& evaluate_it) {
  Side s;
  Restore<std::set<MemoryId>> known(in.present, std::move(present));
  Restore<bool> dead(in.is_dead, false);
  s.arm = run_arm(in, [&] {
    assign(in, held);
    s.operand = evaluate_it();
    if (s.operand.value.is_element()) s.operand.value = number(in, s.operand);
  });
  take_out(s.arm, held);
  return s;
}

// A number beside a tile is every element of one.
bool repeat(Instance& in, Side& side, const ir::Type& tile) {
  RegionGuard region(in, side.region());
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
      RegionGuard region(in, s->region());
      s->operand.value = chosen(in, s->operand, to, stays_literal);
      if (s->operand.value.is_poison()) return std::nullopt;
    }
    return ir::scalar_type(to);
  }
  for (Side* s : {&a, &b}) {
    RegionGuard region(in, s->region());
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

// What a choice comes to: its sides, and what stood before them.
struct Choice {
  ir::ValueId condition;
  Side a, b;
  std::vector<ir::ValueId> before;  // of the variables
  Span span;
};

Value choose(Instance& in, Choice c) {
  if (c.a.operand.value.is_poison() || c.b.operand.value.is_poison()) return Poison{};
  auto type = unify(in, c.a, c.b, c.span);
  if (!type || (type->is_tile() && !require_block(in, c.span, "a choice of whole tiles"))) return Poison{};
  ir::ValueId x = id_of(c.a.operand.value), y = id_of(c.b.operand.value);
  bool is_choice = are_literals(c.a.operand, c.b.operand);
  Merged merged = merge(in, c.before, c.a.arm, c.b.arm);
  in.builder.set_span(c.span);
  bool is_pure = merged.changed.empty() && is_harmless(in, c.a.region()) && is_harmless(in, c.b.region());
  if (type->is_scalar() && is_pure) {
    splice(in, c.a.region());
    splice(in, c.b.region());
    set_merged(in, c.condition, c.before, merged, {});
    return Dynamic{in.builder.select(c.condition, x, y), is_choice};
  }
  auto finish = [&](ir::RegionId where, ir::ValueId value, std::vector<ir::ValueId> more) {
    RegionGuard inside(in, where);
    more.insert(more.begin(), value);
    in.builder.yield(std::move(more));
  };
  finish(c.a.region(), x, merged.then_values);
  finish(c.b.region(), y, merged.else_values);
  std::vector<ir::Type> types = merged.types;
  types.insert(types.begin(), *type);
  ir::OpId id = in.builder.add(op::If{c.condition, c.a.region(), c.b.region()}, types);
  set_merged(in, c.condition, c.before, merged, std::span(in.kernel.op(id).results).subspan(1));
  ir::ValueId result = in.kernel.op(id).results[0];
  return type->is_tile() ? Value(Tile{result}) : Value(Dynamic{result, is_choice});
}

// A side that waits for a shape has it from the other one, or the choice waits with it. That it can only where nothing has changed: what is
// changed is changed here.
Value choose_with_shape(Instance& in, const ast::Expr& expr, Choice c, const Moment& start) {
  auto settle = [&](Side& open, const Side& other) {
    RegionGuard region(in, open.region());
    auto shape = other.operand.value.is_tile_like() ? shape_of(in, other.operand) : std::nullopt;
    if (shape && std::ranges::find(*shape, kNewAxis) == shape->end()) give_shape(in, open.operand, *shape);
  };
  settle(c.a, c.b);
  settle(c.b, c.a);
  bool is_open = c.a.operand.value.is<Shapeless>() || c.b.operand.value.is<Shapeless>();
  if (!is_open) return choose(in, std::move(c));
  auto has_changed = [&](const Arm& arm) { return !std::equal(c.before.begin(), c.before.end(), arm.values.begin()); };
  if (has_written_since(in, start) || has_changed(c.a.arm) || has_changed(c.b.arm)) {
    report_shapeless(in, c.a.operand.value.is<Shapeless>() ? c.a.operand : c.b.operand);
    return Poison{};
  }
  return Shapeless{&expr, [c](Instance& in, const Shape& shape) {
    Choice settled = c;
    settled.before = settled.a.arm.values = settled.b.arm.values = in.snapshot();
    for (Side* s : {&settled.a, &settled.b}) {
      RegionGuard region(in, s->region());
      give_shape(in, s->operand, shape);
    }
    return choose(in, std::move(settled));
  }};
}

// The sides of a choice by elements: nothing of them may change anything, as both are evaluated.
struct BothSides {
  Instance& in;
  Moment start = now(in);
  std::vector<ir::ValueId> variables = in.snapshot();

  bool is_fine(Span span) const {
    if (!has_written_since(in, start) && variables == in.snapshot()) return true;
    in.at(span).error(diag::EffectOfElementChoice);
    return false;
  }
};

// Numbers have no code; a choice has a region for each side all the same.
std::vector<ir::RegionId> all_with_regions(Instance& in, std::span<const ir::RegionId> code) {
  std::vector<ir::RegionId> all(code.begin(), code.end());
  for (ir::RegionId& region : all)
    if (!region.valid()) region = in.kernel.new_region();
  return all;
}

// A choice for one element whose sides have code that can fail, and so stands under the condition.
Value choose_guarded(Instance& in, ir::ValueId test, std::array<ir::RegionId, 2> code, std::array<Value, 2> sides, bool is_choice) {
  for (size_t i = 0; i < 2; ++i) {
    RegionGuard inside(in, code[i]);
    in.builder.yield({sides[i].as<Dynamic>()->id});
  }
  const ir::Type type = in.type(sides[0].as<Dynamic>()->id);
  return Dynamic{in.builder.value(op::If{test, code[0], code[1]}, type), is_choice};
}

Value choose_elements(Instance& in, const Operand& test, const ast::IfExpr& node, Hint hint, Span span) {
  auto shape = shape_of(in, test);
  if (!shape) return Poison{};
  if (!hint.shape && std::ranges::find(*shape, kNewAxis) == shape->end()) hint.shape = &*shape;
  BothSides both{in};
  Operand a = operand(in, *node.then_value, hint), b = operand(in, *node.else_value, hint);
  if (!both.is_fine(span)) return Poison{};
  return map_apart(in, std::array{test, a, b}, span, [&](std::span<const Operand> x, std::span<const ir::RegionId> apart) -> Value {
    std::vector<ir::RegionId> code = all_with_regions(in, apart);
    if (element_of(in, x[0].value) != Scalar::Bool)
      return in.at(test.span).error(diag::TypeMismatch, "bool", describe(in.kernel, x[0].value)), Value(Poison{});
    splice(in, code[0]);
    bool is_pure = is_harmless(in, code[1]) && is_harmless(in, code[2]);
    auto type = common_type(in, x.subspan(1));
    if (!type) return Poison{};
    bool stays_literal = are_literals(x[1], x[2]);
    Scalar to = stays_literal && is_float(*type) ? Scalar::F64 : *type;
    std::array<Value, 2> sides;
    for (size_t i = 0; i < 2; ++i) {
      if (is_pure) splice(in, code[i + 1]);
      RegionGuard inside(in, is_pure ? in.builder.region() : code[i + 1]);
      sides[i] = chosen(in, x[i + 1], to, stays_literal);
      if (sides[i].is_poison()) return Poison{};
    }
    ir::ValueId condition = emit(in, x[0].value);
    if (!is_pure) return choose_guarded(in, condition, {code[1], code[2]}, sides, stays_literal);
    return Dynamic{in.builder.select(condition, sides[0].as<Dynamic>()->id, sides[1].as<Dynamic>()->id), stays_literal};
  });
}

// `&&` and `||` of tiles, or of a number and a tile: the right side is looked at in the elements where the left one leaves the answer open.
Value combine_elements(Instance& in, const Operand& a, const ast::Binary& node, Span span) {
  bool is_and = node.op == ast::BinaryOp::And;
  BothSides both{in};
  auto shape = a.value.is_tile_like() ? shape_of(in, a) : std::nullopt;
  if (a.value.is_tile_like() && !shape) return Poison{};
  Hint hint;
  if (shape && std::ranges::find(*shape, kNewAxis) == shape->end()) hint.shape = &*shape;
  Operand b = operand(in, *node.rhs, hint);
  if (is_unmarked(in, b) || !both.is_fine(span)) return Poison{};
  return map_apart(in, std::array{a, b}, span, [&](std::span<const Operand> x, std::span<const ir::RegionId> apart) -> Value {
    std::vector<ir::RegionId> code = all_with_regions(in, apart);
    splice(in, code[0]);
    bool is_pure = is_harmless(in, code[1]);
    bool are_bools = element_of(in, x[0].value) == Scalar::Bool && element_of(in, x[1].value) == Scalar::Bool;
    if (is_pure || !are_bools) {
      splice(in, code[1]);
      return binary(in, node.op, x[0], x[1], span);
    }
    std::array code_of{code[1], in.kernel.new_region()};
    std::array<Value, 2> sides;
    for (size_t i = 0; i < 2; ++i) {
      RegionGuard inside(in, code_of[i]);
      sides[i] = Dynamic{i == 0 ? emit(in, x[1].value) : in.builder.boolean(!is_and)};
    }
    if (!is_and) {
      std::swap(code_of[0], code_of[1]);
      std::swap(sides[0], sides[1]);
    }
    return choose_guarded(in, emit(in, x[0].value), code_of, sides, false);
  });
}

// A literal that is chosen now has the type, and the shape, of the other side, as it would if the condition were known later: whether an
// argument is known where a call is inlined does not change what is computed. What the other side emits and says goes with the attempt.
Value as_beside(Instance& in, const Operand& taken, const ast::Expr& expr, const ast::Expr& other, Hint hint) {
  const Diagnostics said = in.session.diagnostics;
  Restore<size_t> calls(in.calls, size_t(in.calls)), rounds(in.rounds, size_t(in.rounds));
  const std::vector<ir::ValueId> before = in.snapshot();
  Side a, b;
  a.operand = taken;
  a.arm.region = in.builder.region();
  b = side(in, in.present, {}, [&] { return operand(in, other, hint); });
  in.restore(before);
  const bool is_number = b.operand.value.is_scalar() && !is_literal(b.operand.value);
  const bool is_tile = b.operand.value.is_tile_like() && !b.operand.value.is<Shapeless>();
  Value value = taken.value;
  if (is_number) value = implicitly(in, taken, element_of(in, b.operand.value));
  else if (is_tile && unify(in, a, b, expr.span)) value = a.operand.value;
  in.session.diagnostics = said;
  return value.is_poison() ? taken.value : value;
}

bool is_tile_of_truth(const Instance& in, const Operand& x) {
  return x.value.is_tile_like() && !nullable(in, x.value) && !x.value.is<Shapeless>() && element_of(in, x.value) == Scalar::Bool;
}

}  // namespace

Value evaluate_if(Instance& in, const ast::Expr& expr, const ast::IfExpr& node, Hint hint) {
  Operand first = operand(in, *node.condition);
  if (is_unmarked(in, first)) return Poison{};
  if (first.value.is_tile_like() && !nullable(in, first.value))
    return choose_elements(in, first, node, hint, expr.span);
  Value test = as_condition(in, first);
  if (test.is_poison()) return test;
  if (auto* c = test.as<Const>()) {
    const ast::Expr &taken = c->number.i ? *node.then_value : *node.else_value, &other = c->number.i ? *node.else_value : *node.then_value;
    Operand value = operand(in, taken, hint);
    return is_literal(value.value) ? as_beside(in, value, expr, other, hint) : value.value;
  }
  Choice c{.condition = emit(in, test), .a = {}, .b = {}, .before = in.snapshot(), .span = expr.span};
  Moment start = now(in);
  const Assignments if_true = assigned_where(in, c.condition, true), if_false = assigned_where(in, c.condition, false);
  c.a = side(in, present_where(in, *node.condition, true), if_true, [&] { return operand(in, *node.then_value, hint); });
  in.restore(c.before);
  c.b = side(in, present_where(in, *node.condition, false), if_false, [&] { return operand(in, *node.else_value, hint); });
  in.restore(c.before);
  return choose_with_shape(in, expr, std::move(c), start);
}

Value evaluate_logical(Instance& in, const ast::Expr& expr, const ast::Binary& node) {
  bool is_and = node.op == ast::BinaryOp::And;
  Operand a = operand(in, *node.lhs);
  if (a.value.is_poison() || is_unmarked(in, a)) return Poison{};
  if (a.value.is_tile_like() && !nullable(in, a.value)) return combine_elements(in, a, node, expr.span);
  Value left = as_condition(in, a);
  if (left.is_poison()) return left;
  if (auto* c = left.as<Const>()) {
    if ((c->number.i != 0) != is_and) return left;
    const Operand right = operand(in, *node.rhs);
    return is_tile_of_truth(in, right) ? right.value : as_condition(in, right);
  }
  ir::ValueId x = emit(in, left);
  auto before = in.snapshot();
  Assignments held = assigned_where(in, x, is_and), more;  // of the left side where the right one is looked at, and of that
  bool is_tile = false;
  Side open = side(in, present_where(in, *node.lhs, is_and), held, [&]() -> Operand {
    const Operand looked_at = operand(in, *node.rhs);
    if ((is_tile = is_tile_of_truth(in, looked_at))) return {Poison{}, node.rhs->span};
    Value right = as_condition(in, looked_at);
    if (right.is_poison()) return {right, node.rhs->span};
    ir::ValueId y = emit(in, right);
    more = assigned_where(in, y, is_and);
    return {Dynamic{y}, node.rhs->span};
  });
  in.restore(before);
  if (is_tile) return combine_elements(in, {Dynamic{x}, node.lhs->span}, node, expr.span);
  if (open.operand.value.is_poison()) return Poison{};
  ir::ValueId y = open.operand.value.as<Dynamic>()->id;
  bool has_changed = !std::equal(before.begin(), before.end(), open.arm.values.begin());
  held.insert(held.end(), more.begin(), more.end());
  if (!has_changed && is_harmless(in, open.region())) {
    splice(in, open.region());
    ir::ValueId both = is_and ? in.builder.logical_and(x, y) : in.builder.logical_or(x, y);
    if (!held.empty()) in.assigned_when[both][is_and] = std::move(held);
    return Dynamic{both};
  }
  Side known = side(in, in.present, {}, [&]() -> Operand { return {Dynamic{in.builder.boolean(!is_and)}, expr.span}; });
  in.restore(before);
  const std::vector<VariableId> assigned = yield_assigned(in, before, open.arm, held, known.arm);
  Choice c{.condition = x, .a = std::move(open), .b = std::move(known), .before = std::move(before), .span = expr.span};
  if (!is_and) std::swap(c.a, c.b);
  Value both = choose(in, std::move(c));
  Assignments there;
  for (VariableId id : assigned) there.push_back({id, std::exchange(in.variable(id).current, {})});
  if (auto* d = both.as<Dynamic>(); d && !there.empty()) in.assigned_when[d->id][is_and] = std::move(there);
  return both;
}

}  // namespace tilec::sema
