// `let` and `var`.
#include "sema/assign.h"
#include "sema/foreign_names.h"
#include "sema/stmt.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// What a name that stands for a value holds: numbers in hand, tiles as fragments; a tensor stays a name for its memory.
Value held(Instance& in, const Operand& x) {
  if (auto* c = x.value.as<Const>(); c && c->is_literal)
    return c->type == Scalar::F64 ? implicitly(in, x, Scalar::F32) : Value(int_const(c->number.i));
  if (is_literal(x.value)) return Dynamic{emit(in, x.value)};
  if (x.value.is_element()) return number(in, x);
  if (auto* view = x.value.as<View>()) {
    bool is_tensor = in.memory(view->memory).space != ir::Space::Shared && (!view->is_region ||
        !fixed_shape(view->shape));
    return is_tensor ? x.value : fragment(in, x);
  }
  if (x.value.is<Elementwise>() || x.value.is<Shapeless>()) return fragment(in, x);
  if (x.value.is<Nothing>()) {
    in.at(x.span).error(diag::TypeMismatch, "a value", "nothing");
    return Poison{};
  }
  return x.value;
}

void name_value(Instance& in, const ast::Name& name, const Value& value) {
  ir::ValueId id = value.is<Tile>() ? value.as<Tile>()->id : value.is<Dynamic>() ? value.as<Dynamic>()->id
      : ir::ValueId{};
  if (id.valid() && in.kernel.value(id).hint.empty()) in.kernel.value(id).hint = std::string(name.text);
}

void let_name(Instance& in, const ast::Name& name, const Operand& x) {
  Value value = held(in, x);
  name_value(in, name, value);
  in.declare(name, std::move(value), "a `let`");
}

// A value in a declared type; Poison after a mistake.
Value as_declared(Instance& in, const ast::Expr& expr, const ResolvedType& type) {
  if (type.is_scalar()) return implicitly(in, operand(in, expr), type.element);
  auto shape = type.shape();
  if (!shape) return in.at(type.span).error(diag::ExtentNotConstant, in.text(type.span)), Value(Poison{});
  VariableId scratch = in.new_variable(std::string(in.text(type.span)), type.span, ir::tile_type(type.element, *shape));
  set_variable(in, scratch, operand(in, expr, {.shape = &*shape}), expr.span);
  const Variable& v = in.variable(scratch);
  return v.is_poison || !v.current.valid() ? Value(Poison{}) : Value(Tile{v.current});
}

struct VarMaker {
  Instance& in;
  const ast::Var& node;
  Span span;

  void poison() { in.declare(node.name, Poison{}, ""); }

  // An array in memory.
  void memory(ir::Space space, const ResolvedType& type) {
    if (space != ir::Space::Workspace && !type.shape()) {
      in.at(type.span).error(diag::ExtentNotConstant, in.text(type.span)).help(std::string(kTileExtents));
      return poison();
    }
    in.builder.set_span(span);
    View view = allocate(in, node.name, space, type.element, type.extents);
    std::optional<Shape> shape = fixed_shape(view.shape);
    if (node.value && space == ir::Space::Workspace)
      return not_supported(in, node.value->span, "a first value of a workspace"), poison();
    if (node.value) store(in, view, operand(in, *node.value, {.shape = shape ? &*shape : nullptr}), node.name.span);
    in.declare(node.name, Value(view), "");
  }

  void variable(ir::Type type) {
    VariableId id = in.new_variable(std::string(node.name.text), span, type);
    if (node.value) set_variable(in, id, operand(in, *node.value, {.shape = type.is_tile() ? &type.shape : nullptr}),
                                 node.name.span);
    in.declare(node.name, id);
  }

  void typed(const ResolvedType& type) {
    auto wrong_place = [&](std::string_view where) {
      not_allowed(in, type.span, "a `" + std::string(spelling(type.space)) + "` variable", where);
      poison();
    };
    switch (type.space) {
      case ast::Space::TensorMemory: return not_supported(in, type.span, "`tensor_memory`"), poison();
      case ast::Space::Shared:
        if (in.level != Level::Block) return wrong_place(in.level == Level::Thread ? "inside `simt`: declare it before" : "outside of a launch's block");
        return memory(ir::Space::Shared, type);
      case ast::Space::Workspace:
        if (in.level != Level::Host) return wrong_place("inside a launch; declare it in the kernel's body");
        return memory(ir::Space::Workspace, type);
      case ast::Space::Local:
        if (in.level != Level::Thread) return wrong_place("outside of `simt`");
        return type.is_scalar() ? variable(ir::scalar_type(type.element)) : memory(ir::Space::Private, type);
      case ast::Space::Fragment:
        if (in.level != Level::Block) return wrong_place(in.level == Level::Thread ? "inside `simt`: declare it before" : "outside of a launch's block");
        break;
      case ast::Space::None:
        if (!type.is_scalar()) {
          in.at(type.span).error(diag::NotAllowedHere, "a tensor without a space", "in a variable's type")
              .help("say where it lives: `shared`, `fragment`, `local` or `workspace`");
          return poison();
        }
        return variable(ir::scalar_type(type.element));
    }
    auto shape = type.shape();
    if (!shape || shape->empty()) {
      in.at(type.span).error(diag::ExtentNotConstant, in.text(type.span)).help(std::string(kTileExtents));
      return poison();
    }
    variable(ir::tile_type(type.element, *shape));
  }

  void untyped() {
    Operand x = operand(in, *node.value);
    Value value = held(in, x);
    if (value.is_poison()) return poison();
    bool is_number = value.is_scalar();
    if (!is_number && !value.is<Tile>()) {
      in.at(x.span).error(diag::TypeMismatch, "a number or a tile", describe(in.kernel, value))
          .help("name it with `let`");
      return poison();
    }
    ir::ValueId id = is_number ? emit(in, value) : value.as<Tile>()->id;
    ir::Type type = in.type(id);
    in.declare(node.name, in.new_variable(std::string(node.name.text), span, type, id));
  }
};

}  // namespace

void run_let(Instance& in, const ast::Let& node) {
  std::optional<ResolvedType> type;
  if (node.type && !(type = resolve(in, *node.type))) {
    for (const ast::Name& name : node.pattern.names) in.declare(name, Poison{}, "a `let`");
    return;
  }
  if (!node.pattern.is_tuple && !node.pattern.names.empty()) {
    const ast::Name& name = node.pattern.names[0];
    if (!type) return let_name(in, name, operand(in, *node.value));
    bool is_memory = type->space != ast::Space::None && type->space != ast::Space::Fragment;
    Value value = is_memory ? not_allowed(in, node.type->span, "memory", "in a `let`; use `var`")
        : as_declared(in, *node.value, *type);
    name_value(in, name, value);
    return in.declare(name, std::move(value), "a `let`");
  }
  Operand x = operand(in, *node.value);
  auto* tuple = x.value.as<Tuple>();
  if (!x.value.is_poison() && (!tuple || tuple->elements.size() != node.pattern.names.size()))
    in.at(x.span).error(diag::ArgumentCount, "the pattern", int64_t(node.pattern.names.size()),
                        int64_t(tuple ? tuple->elements.size() : 1));
  bool fits = tuple && tuple->elements.size() == node.pattern.names.size();
  for (size_t i = 0; i < node.pattern.names.size(); ++i)
    let_name(in, node.pattern.names[i], {fits ? tuple->elements[i] : Value(Poison{}), x.span});
}

void run_var(Instance& in, const ast::Stmt& stmt, const ast::Var& node) {
  VarMaker maker{in, node, stmt.span};
  if (!node.type) {
    if (node.value) return maker.untyped();
    if (node.name.exists()) {
      const std::string name(node.name.text);
      in.at(node.name.span).error(diag::NotAllowedHere, "`var " + name + "` without a type", "where it has no value to take it from")
          .help("say its type, or give it a value: `var " + name + ": f32;`");
    }
    return maker.poison();
  }
  auto type = resolve(in, *node.type);
  if (!type) {
    if (node.value) operand(in, *node.value);
    return maker.poison();
  }
  maker.typed(*type);
}

}  // namespace tilec::sema
