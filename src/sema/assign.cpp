#include "sema/assign.h"

#include "sema/gemm.h"
#include "sema/keep.h"
#include "sema/names.h"
#include "sema/order.h"
#include "sema/parallel.h"
#include "sema/shapeless.h"
#include "sema/view.h"

namespace tilec::sema {

std::optional<VariableId> variable_named(Instance& in, const ast::Expr& expr) {
  auto* name = expr.as<ast::NameRef>();
  const Binding* binding = name ? in.find(name->name.text) : nullptr;
  auto* id = binding ? std::get_if<VariableId>(&binding->what) : nullptr;
  return id ? std::optional(*id) : std::nullopt;
}

bool is_in_reach(Instance& in, VariableId id, Span span) {
  const Variable& v = in.variable(id);
  if (v.depth == in.depth) return true;
  auto report = in.at(span).error(diag::AssignToImmutable, v.name, "declared outside of this parallel code, where every block, thread or iteration would set it");
  report.note(v.span, diag::DeclaredHere, v.name);
  if (in.parallel) report.help("what comes of all elements is a reduction of a tile, `t.sum(axis = 0)`, or a loop in sequence; a tile with an element for each iteration is written at its index");
  return false;
}

void set_variable(Instance& in, VariableId id, const Operand& value, Span span) {
  if (!is_in_reach(in, id, span)) return;
  const ir::Type type = in.variable(id).type;
  auto poison = [&] { in.variable(id).is_poison = true; };
  if (value.value.is_poison()) return poison();
  if (type.is_scalar()) {
    Value x = implicitly(in, value, type.element);
    if (x.is_poison()) return poison();
    const ir::ValueId next = emit(in, x);
    in.builder.set_span(span);
    return in.set(id, kept_element(in, id, next));
  }
  if (!require_block(in, span, "a whole tile")) return poison();
  Operand source = value;
  source.value = adapted(in, source, type.element);
  in.builder.set_span(span);
  source.value = kept_tile(in, in.variable(id).current, source, span);
  ir::ValueId tile = materialise(in, source, &type.shape);
  if (!tile.valid()) return poison();
  const ir::Type actual = in.type(tile);
  if (actual == type) return in.set(id, tile);
  if (actual.shape != type.shape) {
    auto said = in.at(span).error(diag::ShapeMismatch, shape_text(type.shape), shape_text(actual.shape));
    said.mark(value.span, shape_text(actual.shape)).note(in.variable(id).span, diag::DeclaredHere, in.variable(id).name);
    help_on_single(said, type.shape, actual.shape);
  } else
    report_implicit(in, value.span, actual.element, type.element);
  poison();
}

namespace {

Value combined(Instance& in, ast::BinaryOp op, const Operand& old, const Operand& value, Span span) {
  if (old.value.is_poison() || value.value.is_poison()) return Poison{};
  return map_elements(in, std::array{old, value}, span,
                      [&](std::span<const Operand> x) { return binary(in, op, {x[0].value, x[0].span, true}, x[1], span); });
}

// The selected part of a fragment that may be written here; none after a mistake.
std::optional<Selection> part_to_write(Instance& in, VariableId id, const ast::Index& index, const ast::Assign& node, Span span) {
  auto selection = select(in, index, extents_of(in.variable(id).type.shape), span);
  if (!selection || !is_in_reach(in, id, node.target->span)) return std::nullopt;
  if (selection->is_element()) {
    in.at(node.target->span).error(diag::FragmentElement)
        .help("fragments are written whole, by regions, or in a `parallel` loop");
  } else if (!fixed_shape(selection->shape)) {
    in.at(node.target->span).error(diag::ExtentNotConstant, in.text(node.target->span));
  } else if (!stays_inside(in, std::string(in.text(index.base->span)), extents_of(in.variable(id).type.shape), *selection, node.target->span)) {
    return std::nullopt;
  } else if (node.op == ast::BinaryOp::MatrixMultiply) {
    not_supported(in, span, "`@=`");
  } else {
    return selection;
  }
  return std::nullopt;
}

// `t[:, 0 +: 64] = value`: the fragment with a part replaced.
void insert(Instance& in, VariableId id, const ast::Index& index, const ast::Assign& node, Span span) {
  const ir::Type type = in.variable(id).type;
  auto selection = part_to_write(in, id, index, node, span);
  if (!selection) return;
  Shape shape = *fixed_shape(selection->shape);
  std::optional<Operand> old;
  if (node.op) old = Operand{extract(in, {evaluate(in, *index.base), index.base->span}, *selection, node.target->span), node.target->span};
  Operand value = operand(in, *node.value, {.shape = &shape});
  if (old) value.value = combined(in, *node.op, *old, value, span);
  value.value = adapted(in, value, type.element);
  value.value = old ? kept(in, *old, value, span) : kept_part(in, in.variable(id).current, *selection, value, span);
  ir::ValueId part = materialise(in, value, &shape);
  Value whole = part.valid() ? evaluate(in, *index.base) : Value(Poison{});
  if (whole.is_poison()) return;
  if (in.type(part) != ir::tile_type(type.element, shape))
    return void(in.at(value.span).error(diag::TypeMismatch, describe(ir::tile_type(type.element, shape)),
                                        describe(in.type(part))));
  op::Insert op{.tile = whole.as<Tile>()->id, .part = part, .offsets = {}, .axes = selection->axes};
  for (ir::ValueId offset : selection->offsets) op.offsets.push_back(offset.valid() ? offset : in.builder.index(0));
  in.set(id, in.builder.value(std::move(op), type));
}

void assign_variable(Instance& in, VariableId id, const ast::Assign& node, Span span) {
  const ir::Type type = in.variable(id).type;
  Hint hint{.shape = type.is_tile() ? &type.shape : nullptr};
  if (!node.op) return set_variable(in, id, operand(in, *node.value, hint), node.target->span);
  auto* product = node.value->as<ast::Binary>();
  if (type.is_tile() && *node.op == ast::BinaryOp::Add && product && product->op == ast::BinaryOp::MatrixMultiply)
    return accumulate(in, id, *product, span);
  if (*node.op == ast::BinaryOp::MatrixMultiply) return void(not_supported(in, span, "`@=`"));
  Operand old = operand(in, *node.target), value = operand(in, *node.value, hint);
  set_variable(in, id, {combined(in, *node.op, old, value, span), value.span}, node.target->span);
}

// What stands in a place of such a shape: read in front of the value, with all that says where.
Operand read_before(Instance& in, Operand place, const Moment& moment, const Shape& shape) {
  hold(in, place, moment);
  give_shape(in, place, shape);
  return place;
}

// Memory, or a place whose shape the value decides.
void assign_memory(Instance& in, const ast::Assign& node, Span span) {
  Operand target = operand(in, *node.target);
  if (target.value.is_poison()) return void(operand(in, *node.value));
  const Moment before = now(in);
  std::optional<Operand> value, read;
  if (target.value.is<Shapeless>()) {
    value = operand(in, *node.value);
    if (value->value.is_poison()) return;
    auto shape = value->value.is_tile_like() ? shape_of(in, *value) : std::nullopt;
    if (!shape) return report_shapeless(in, target);
    std::replace(shape->begin(), shape->end(), kNewAxis, int64_t(1));
    if (node.op) read = read_before(in, target, before, *shape);
    give_shape(in, target, *shape);
  }
  auto* view = target.value.as<View>();
  if (!view) {
    auto* index = node.target->as<ast::Index>();
    auto* name = index ? index->base->as<ast::NameRef>() : nullptr;
    if (target.value.is_poison()) return;
    if (name) in.at(target.span).error(diag::AssignToImmutable, name->name.text, "a `let`").help("declare it with `var`");
    else in.at(target.span).error(diag::NotAPlace, in.text(target.span));
    return;
  }
  auto shape = fixed_shape(view->shape);
  Hint hint{.shape = shape && !shape->empty() ? &*shape : nullptr};
  // `shared = view as f16` is one copy that converts.
  auto* cast = node.value->as<ast::Cast>();
  if (!value && cast && !node.op && !view->is_element()) {
    Operand source = operand(in, *cast->operand, hint);
    auto* from = source.value.as<View>();
    Value to = value_of_name(in, cast->element);
    bool is_copy = from && !from->is_element() && to.is<TypeValue>() &&
        to.as<TypeValue>()->scalar == element_of(in, target.value);
    if (is_copy) return store(in, *view, source, target.span, true);
  }
  if (!value) value = operand(in, *node.value, hint);
  if (node.op) {
    if (*node.op == ast::BinaryOp::MatrixMultiply) return void(not_supported(in, span, "`@=`"));
    if (!is_writable(in, *view, target.span, true)) return;
    Operand old = read ? *read : target;
    if (!read) hold(in, old, before);
    if (old.value.is_element()) old.value = number(in, old);
    const bool is_kept = in.memory(view->memory).space == ir::Space::Shared && in.level != Level::Thread;
    if (is_kept && old.value.is_tile_like()) old.value = fragment(in, old);  // read once: what is combined is what is kept
    value->value = combined(in, *node.op, old, *value, span);
    if (is_kept) value->value = kept(in, old, *value, span);
  }
  store(in, *view, *value, target.span);
}

}  // namespace

void run_assign(Instance& in, const ast::Assign& node, Span span) {
  if (node.target->as<ast::Missing>()) return void(operand(in, *node.value));
  if (node.target->as<ast::Tuple>())
    return void(not_supported(in, node.target->span, "an assignment to several places"));
  if (auto id = variable_named(in, *node.target)) return assign_variable(in, *id, node, span);
  if (auto* index = node.target->as<ast::Index>()) {
    for (const ast::Subscript& s : index->subscripts)
      if (s.kind == ast::SubscriptKind::NewAxis) return void(not_allowed(in, s.span.valid() ? s.span : index->base->span, "the new axis `_`", "in what is assigned to: leave it out"));
    if (in.parallel && in.level == Level::Element && assign_fragment_element(in, *index, node, span)) return;
    if (auto id = variable_named(in, *index->base); id && in.variable(*id).type.is_tile()) {
      if (!require_block(in, span, "a part of a fragment")) return;
      return insert(in, *id, *index, node, span);
    }
  }
  if (auto* name = node.target->as<ast::NameRef>()) {
    if (is_undeclared_target(in, name->name, node.value->span, node.op.has_value())) return void(operand(in, *node.value));
    const Binding* binding = in.find(name->name.text);
    auto* value = binding ? std::get_if<Value>(&binding->what) : nullptr;
    if (value && !value->is<View>() && !value->is_poison()) {
      operand(in, *node.value);
      auto report = in.at(node.target->span).error(diag::AssignToImmutable, name->name.text, binding->kind);
      report.note(binding->span, diag::DeclaredHere, name->name.text);
      if (binding->kind == "a `let`") report.help("declare it with `var`");
      if (binding->kind == "a parameter") report.help("a variable takes its value: `var next = " + std::string(name->name.text) + ";`");
      return;
    }
  }
  assign_memory(in, node, span);
}

}  // namespace tilec::sema
