// Compile-time parameters: found from arguments, checked against their kinds.
#include "sema/call.h"
#include "sema/names.h"
#include "sema/shapeless.h"
#include "sema/types.h"

namespace tilec::sema {
namespace {

std::string_view kind_name(const ast::GenericParameter& parameter) {
  auto* kind = parameter.kind ? parameter.kind->as<ast::ShapedType>() : nullptr;
  return !parameter.kind ? "int" : kind && kind->path.size() == 1 && !kind->has_extents ? kind->path[0].text : "";
}

void report_kind(Instance& in, const ast::GenericParameter& parameter, std::string_view wanted, const Value& value,
                 Span span) {
  auto report = in.at(span).error(diag::ConstraintNotMet, parameter.name.text, wanted, describe(in.kernel, value));
  report.note(parameter.name.span, diag::DeclaredHere, parameter.name.text);
  auto* type = value.as<TypeValue>();
  if (type && type->scalar == Scalar::Bool) report.help("truth is combined by `&&` and `||`, reduced by `any` and `all`, and counted as numbers, `x as i32`");
  if (type && is_integer(type->scalar) && kind_name(parameter) == "float") report.help("it is a function of floats: an integer is converted first, `x as f32`");
}

// The parts of a call that speak of one compile-time parameter of a kind of types.
struct Inference {
  Instance& in;
  Invocation& call;
  const ast::Signature& signature = call.fn.fn().signature;

  const ast::ShapedType* type_of(size_t i) const { return signature.parameters[i].type->as<ast::ShapedType>(); }

  bool speaks_of(size_t i, std::string_view generic) const {
    auto* type = type_of(i);
    return type && type->path.size() == 1 && type->path[0].text == generic;
  }

  // `T` from every argument whose parameter has the element T. None without such an argument, or after a mistake.
  std::optional<Scalar> element(const ast::GenericParameter& parameter, bool& is_wrong) {
    std::vector<Operand> operands;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Operand& operand = call.arguments[i].operand;
      bool is_given = call.arguments[i].expr || (i == 0 && call.site.receiver);
      if (!speaks_of(i, parameter.name.text) || !is_given || operand.value.is<Nothing>()) continue;
      if (operand.value.is<Shapeless>()) {
        report_shapeless(in, operand);
        return is_wrong = true, std::nullopt;
      }
      if (!operand.value.is_scalar() && !operand.value.is_tile_like()) {
        in.at(operand.span).error(diag::TypeMismatch, takes_tile(signature.parameters[i]) ? "a tile" : "a number",
                                  describe(in.kernel, operand.value));
        return is_wrong = true, std::nullopt;
      }
      operands.push_back(operand);
    }
    if (operands.empty()) return std::nullopt;
    auto type = common_type(in, operands);
    is_wrong = !type;
    if (!type) return type;
    bool has_only_literals = std::all_of(operands.begin(), operands.end(), [](const Operand& o) {
      auto* each = o.value.as<Elementwise>();
      return is_literal(o.value) || (each && each->is_literal);
    });
    if (!has_only_literals) return type;
    bool is_float_wanted = kind_name(parameter) == "float" || *type == Scalar::F64;
    if (!is_float_wanted) return Scalar::Index;
    return call.keeps_literals ? Scalar::F64 : Scalar::F32;
  }

  // Extents of an argument bound to the names that the parameter's type uses for them.
  void extents(size_t i) {
    auto* type = type_of(i);
    const Operand& operand = call.arguments[i].operand;
    if (!type || !type->has_extents || !operand.value.is_tile_like()) return;
    std::vector<Extent> actual = operand.value.is<View>() ? operand.value.as<View>()->shape
                                                          : extents_of(shape_of(in, operand).value_or(Shape{}));
    for (Extent& e : actual)
      if (e.fixed == kNewAxis) e.fixed = 1;
    if (type->extents.size() == 1)
      if (auto* name = type->extents[0]->as<ast::NameRef>(); name && is_shape(name->name.text))
        return bind(name->name, ShapeValue{actual});
    for (size_t k = 0; k < type->extents.size() && k < actual.size(); ++k)
      if (auto* name = type->extents[k]->as<ast::NameRef>())
        bind(name->name, actual[k].is_fixed() ? Value(int_const(actual[k].fixed)) : Value(Dynamic{actual[k].value}));
  }

  bool is_shape(std::string_view name) const {
    for (const auto& g : signature.generics)
      if (g.name.text == name) return kind_name(g) == "shape";
    return false;
  }

  // A compile-time parameter that is still open, or a dim, which a function takes from its arguments.
  void bind(const ast::Name& name, Value value) {
    if (in.find(name.text)) return;
    for (size_t i = 0; i < signature.generics.size(); ++i) {
      if (signature.generics[i].name.text != name.text) continue;
      if (!call.generics[i]) call.generics[i] = value;
      return;
    }
    if (call.fn.module->declarations.contains(name.text)) return;
    in.declare(name, std::move(value), "a dim");
  }
};

// `x.tile(i, 0)` takes its shape from where it goes; a generic parameter asks for that shape in turn.
bool has_shapeless_argument(const Invocation& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [](const auto& a) { return a.operand.value.template is<Shapeless>(); });
}

}  // namespace

bool meets_kind(Instance& in, const ast::GenericParameter& parameter, Value& value, Span span) {
  std::string_view kind = kind_name(parameter);
  auto* type = value.as<TypeValue>();
  if (kind == "type" || kind == "number" || kind == "float" || kind == "integer") {
    bool is_met = type && (kind == "type" || (kind == "float" ? is_float(type->scalar) : kind == "integer" ? is_integer(type->scalar) : type->scalar != Scalar::Bool));
    if (!is_met) report_kind(in, parameter, kind == "type" ? "a type" : "a type of kind " + std::string(kind), value,
                             span);
    return is_met;
  }
  if (kind == "int" || kind == "bool") {
    auto* c = value.as<Const>();
    if (c && kind == "int" && is_integer(c->type)) return value = int_const(c->number.i), true;
    if (c && kind == "bool" && c->type == Scalar::Bool) return true;
    if (kind == "int" && value.is<Dynamic>() && is_integer(element_of(in, value))) {
      in.at(span).error(diag::NotCompileTime, "the parameter `" + std::string(parameter.name.text) + "`");
      return false;
    }
    report_kind(in, parameter, "a compile-time " + std::string(kind), value, span);
    return false;
  }
  if (kind == "shape") {
    if (value.is<ShapeValue>()) return true;
    report_kind(in, parameter, "a shape", value, span);
    return false;
  }
  auto* shaped = parameter.kind->as<ast::ShapedType>();
  if (!shaped) return in.at(parameter.kind->span).error(diag::NotSupportedYet, kOtherKinds), false;
  Value wanted = value_of_path(in, shaped->path);
  auto *e = wanted.as<EnumType>();
  auto *v = value.as<EnumValue>();
  if (e && v && v->type == e->type) return true;
  if (wanted.is_poison()) return false;
  if (wanted.is<TypeValue>())
    not_allowed(in, parameter.kind->span, "a compile-time parameter of type `" + std::string(in.text(parameter.kind->span)) + "`",
                "here: it is `int`, `bool`, `type`, `float`, `integer`, `shape` or an enumeration");
  else if (!e) in.at(parameter.kind->span).error(diag::NotAType, in.text(parameter.kind->span));
  else report_kind(in, parameter, "a member of `" + std::string(e->type->name.text) + "`", value, span);
  return false;
}

namespace {

std::string help_for_open_parameter(Instance& in, const Invocation& call) {
  if (has_shapeless_argument(call)) return "write the shape of the tile: `x.tile[8, 64](i, 0)`";
  const auto& receiver = call.site.receiver;
  bool is_number = receiver && (receiver->value.is_scalar() || receiver->value.is_element());
  if (!is_number) return "write it in brackets before the arguments";
  std::string name(call.fn.fn().signature.name.text), arguments(in.text(receiver->span));
  for (const ast::Argument& a : call.site.arguments) arguments += ", " + std::string(in.text(a.span));
  return "it reduces tiles; of numbers it is `" + name + "(" + arguments + ")`";
}

}  // namespace

bool bind_generics(Instance& in, Invocation& call) {
  Inference inference{in, call};
  for (size_t i = 0; i < call.arguments.size(); ++i) inference.extents(i);
  const auto& generics = call.fn.fn().signature.generics;
  for (size_t i = 0; i < generics.size(); ++i) {
    const ast::GenericParameter& parameter = generics[i];
    Span span = call.site.expr.span;
    bool is_wrong = false;
    if (!call.generics[i])
      if (auto type = inference.element(parameter, is_wrong)) call.generics[i] = TypeValue{*type};
    if (is_wrong) return false;
    if (!call.generics[i] && parameter.default_value) call.generics[i] = evaluate(in, *parameter.default_value);
    if (!call.generics[i]) {
      in.at(span).error(diag::MissingGeneric, call.fn.fn().signature.name.text, parameter.name.text)
          .note(parameter.name.span, diag::DeclaredHere, parameter.name.text)
          .help(help_for_open_parameter(in, call));
      return false;
    }
    bool is_extent = call.generics[i]->is<Dynamic>();  // an extent that only the call knows
    if (call.generics[i]->is_poison() || (!is_extent && !meets_kind(in, parameter, *call.generics[i], span)))
      return false;
    in.declare(parameter.name, *call.generics[i], "a compile-time parameter");
  }
  return true;
}

}  // namespace tilec::sema
