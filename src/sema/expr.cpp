#include "sema/expr.h"

#include "sema/gemm.h"
#include "sema/names.h"
#include "sema/order.h"
#include "sema/shapeless.h"

namespace tilec::sema {
namespace {

// Both sides of an operator; a side whose tile has no shape of its own takes that of the other, which must not wait for one
// itself (`_`).
struct Sides { Operand lhs, rhs; };

Sides sides(Instance& in, const ast::Binary& node, Hint hint) {
  Sides s{operand(in, *node.lhs, hint), {}};
  Moment between = now(in);
  s.rhs = operand(in, *node.rhs, hint);
  hold(in, s.lhs, between);
  auto settle = [&](Operand& open, const Operand& other) {
    if (!open.value.is<Shapeless>() || !other.value.is_tile_like()) return;
    auto shape = shape_of(in, other);
    if (!shape) open.value = Poison{};
    else if (std::ranges::find(*shape, kNewAxis) == shape->end()) give_shape(in, open, *shape);
  };
  settle(s.lhs, s.rhs);
  settle(s.rhs, s.lhs);
  return s;
}

std::optional<bool> same_entity(const Value& a, const Value& b) {
  if (auto *x = a.as<TypeValue>(), *y = b.as<TypeValue>(); x && y) return x->scalar == y->scalar;
  if (auto *x = a.as<EnumValue>(), *y = b.as<EnumValue>(); x && y && x->type == y->type) return x->index == y->index;
  return std::nullopt;
}

// What a name stands for, without asking whether it may be used here.
const Value* named(const Instance& in, const ast::Expr& expr) {
  auto* name = expr.as<ast::NameRef>();
  const Binding* binding = name ? in.find(name->name.text) : nullptr;
  return binding ? std::get_if<Value>(&binding->what) : nullptr;
}

bool is_whole(const Instance& in, const View& view) {
  return !view.is_region && view.axes.size() == size_t(in.type(view.buffer).rank());
}

Value evaluate_binary(Instance& in, const ast::Expr& expr, const ast::Binary& node, Hint hint) {
  if (node.op == ast::BinaryOp::And || node.op == ast::BinaryOp::Or) return evaluate_logical(in, expr, node);
  if (node.op == ast::BinaryOp::MatrixMultiply) return matrix_product(in, node, expr.span);
  Sides s = sides(in, node, hint);
  if (s.lhs.value.is_poison() || s.rhs.value.is_poison()) return Poison{};
  if (node.op == ast::BinaryOp::Equal || node.op == ast::BinaryOp::NotEqual)
    if (auto same = same_entity(s.lhs.value, s.rhs.value))
      return bool_const(*same == (node.op == ast::BinaryOp::Equal));
  return with_shape(in, expr, std::array{s.lhs, s.rhs}, [&expr, &node](Instance& in, std::span<const Operand> both) {
    return map_elements(in, both, node.op_span.valid() ? node.op_span : expr.span,
                        [&](std::span<const Operand> x) { return binary(in, node.op, x[0], x[1], expr.span); });
  });
}

Value evaluate_unary(Instance& in, const ast::Expr& expr, const ast::Unary& node, Hint hint) {
  // The least number of 64 bits: without its sign it is none of `int`.
  auto* digits = node.op == ast::UnaryOp::Negate ? node.operand->as<ast::IntLiteral>() : nullptr;
  if (digits && digits->value == uint64_t(INT64_MAX) + 1) return integer_literal(INT64_MIN);
  Operand x = operand(in, *node.operand, hint);
  if (node.op == ast::UnaryOp::Not && is_unmarked(in, x)) return Poison{};
  if (node.op == ast::UnaryOp::Not && nullable(in, x.value)) x.value = as_condition(in, x);
  if (x.value.is_poison()) return Poison{};
  return with_shape(in, expr, std::array{x}, [&expr, &node](Instance& in, std::span<const Operand> all) {
    return map_elements(in, all, expr.span, [&](std::span<const Operand> e) { return unary(in, node.op, e[0], expr.span); });
  });
}

Value evaluate_cast(Instance& in, const ast::Expr& expr, const ast::Cast& node, Hint hint) {
  Operand x = operand(in, *node.operand, hint);
  auto to = scalar_of_path(in, {node.element});
  if (x.value.is_poison() || !to) return Poison{};
  return with_shape(in, expr, std::array{x}, [&expr, to = *to](Instance& in, std::span<const Operand> all) {
    return map_elements(in, all, expr.span, [&](std::span<const Operand> e) {
      Value n = number(in, e[0]);
      return n.is_poison() ? n : convert(in, n, to, ir::ConvertMode::Nearest, expr.span);
    });
  });
}

Value evaluate_elements(Instance& in, const std::vector<const ast::Expr*>& elements) {
  Tuple tuple;
  for (const ast::Expr* e : elements) {
    Value value = evaluate(in, *e);
    if (value.is_element()) value = number(in, {value, e->span});
    auto* view = value.as<View>();
    bool is_tile = value.is<Elementwise>() || (view && view->is_region && fixed_shape(view->shape));
    if (is_tile) value = fragment(in, {value, e->span});
    if (value.is<Dynamic>() && is_literal(value)) value = Dynamic{emit(in, value)};
    tuple.elements.push_back(std::move(value));
  }
  return tuple;
}

struct Evaluate {
  Instance& in;
  const ast::Expr& expr;
  Hint hint;
  Value operator()(const ast::Missing&) { return Poison{}; }
  Value operator()(const ast::IntLiteral& n) {
    if (n.value > uint64_t(INT64_MAX)) return Const{Scalar::U64, ir::Number::integer(int64_t(n.value)), false};
    return integer_literal(int64_t(n.value));
  }
  Value operator()(const ast::FloatLiteral& n) { return Const{Scalar::F64, ir::Number::real(n.value), true, n.odd}; }
  Value operator()(const ast::BoolLiteral& n) { return bool_const(n.value); }
  Value operator()(const ast::StringLiteral& n) { return Text{n.value}; }
  Value operator()(const ast::NameRef& n) { return value_of_name(in, n.name); }
  Value operator()(const ast::Member& n) { return evaluate_member(in, expr, n); }
  Value operator()(const ast::Unary& n) { return evaluate_unary(in, expr, n, hint); }
  Value operator()(const ast::Binary& n) { return evaluate_binary(in, expr, n, hint); }
  Value operator()(const ast::Cast& n) { return evaluate_cast(in, expr, n, hint); }
  Value operator()(const ast::IsTest&) { return not_supported(in, expr.span, "a test of the target"); }
  Value operator()(const ast::Tuple& n) { return evaluate_elements(in, n.elements); }
  Value operator()(const ast::List& n) { return evaluate_elements(in, n.elements); }
  Value operator()(const ast::IfExpr& n) { return evaluate_if(in, expr, n, hint); }
  Value operator()(const ast::Call& n) { return evaluate_call(in, expr, n, hint); }
  Value operator()(const ast::Index& n) { return evaluate_index(in, expr, n, hint); }
};

}  // namespace

Value evaluate(Instance& in, const ast::Expr& expr, Hint hint) {
  in.builder.set_span(expr.span);
  Value value = std::visit(Evaluate{in, expr, hint}, expr.node);
  // Statements without a value are left out, and so must not be left out in silence.
  INVARIANT(!value.is_poison() || in.session.diagnostics.has_errors(), "what has no value has a mistake that was told");
  return value;
}

Value condition(Instance& in, const ast::Expr& expr) { return as_condition(in, operand(in, expr)); }

const View* nullable(const Instance& in, const Value& value) {
  auto* view = value.as<View>();
  return view && is_whole(in, *view) && in.memory(view->memory).may_be_null ? view : nullptr;
}

namespace {

void collect_present(Instance& in, const ast::Expr& condition, bool is_true, std::set<MemoryId>& present) {
  if (auto* b = condition.as<ast::Binary>(); b && b->op == (is_true ? ast::BinaryOp::And : ast::BinaryOp::Or)) {
    collect_present(in, *b->lhs, is_true, present);
    collect_present(in, *b->rhs, is_true, present);
  }
  if (auto* n = condition.as<ast::Unary>(); n && n->op == ast::UnaryOp::Not) collect_present(in, *n->operand, !is_true, present);
  const Value* value = is_true ? named(in, condition) : nullptr;
  if (auto* view = value ? nullable(in, *value) : nullptr) present.insert(view->memory);
}

}  // namespace

std::set<MemoryId> present_where(Instance& in, const ast::Expr& condition, bool is_true) {
  std::set<MemoryId> present = in.present;
  collect_present(in, condition, is_true, present);
  return present;
}

bool is_unmarked(Instance& in, const Operand& x) {
  auto* view = x.value.as<View>();
  if (!view || view->is_element() || !is_whole(in, *view)) return false;
  const Memory& memory = in.memory(view->memory);
  const bool is_tile = element_of(in, x.value) == Scalar::Bool && fixed_shape(view->shape);
  if (memory.param < 0 || memory.may_be_null || is_tile) return false;
  auto report = in.at(x.span).error(diag::TypeMismatch, "bool", describe(in.kernel, x.value));
  report.fix({memory.span.file, memory.span.end, memory.span.end}, "?",
             "where `" + memory.name + "` may be NULL mark it, `" + std::string(in.text(memory.span)) + "?`: the condition then is whether it is there");
  return true;
}

Value as_condition(Instance& in, const Operand& x) {
  if (auto* v = nullable(in, x.value))
    return Dynamic{in.builder.value(op::Present{v->buffer}, ir::scalar_type(Scalar::Bool))};
  if (x.value.is_poison() || is_unmarked(in, x)) return Poison{};
  if (x.value.is_tile_like()) {
    auto report = in.at(x.span).error(diag::TypeMismatch, "bool", describe(in.kernel, x.value));
    const bool is_compared = x.value.is<Shapeless>() || element_of(in, x.value) == Scalar::Bool;
    report.help(is_compared ? "reduce it: `.any(axis = 0)` or `.all(axis = 0)`" : "compare and reduce it: `(t != 0).any(axis = 0)`");
    return Poison{};
  }
  Value n = number(in, x);
  if (n.is_poison() || element_of(in, n) == Scalar::Bool) return n;
  auto report = in.at(x.span).error(diag::TypeMismatch, "bool", describe(in.kernel, n));
  report.help("compare it: `" + std::string(in.text(x.span)) + " != 0`");
  return Poison{};
}

}  // namespace tilec::sema
