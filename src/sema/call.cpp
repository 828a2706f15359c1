#include "sema/call.h"

#include "base/text.h"
#include "ir/sources.h"
#include "sema/assign.h"
#include "sema/foreign_names.h"
#include "sema/intrinsics.h"
#include "sema/names.h"
#include "sema/order.h"
#include "sema/parallel.h"
#include "sema/shapeless.h"

namespace tilec::sema {
namespace {

const ast::Signature& signature(const FnRef& ref) { return ref.fn().signature; }

// The argument of each parameter, null where the default stands. `reports`: say what is wrong.
struct Matching {
  Instance& in;
  const FnRef& ref;
  const CallSite& site;
  bool reports;
  std::vector<const ast::Argument*> arguments = std::vector<const ast::Argument*>(signature(ref).parameters.size());

  std::string_view name() const { return signature(ref).name.text; }
  bool has_receiver() const { return site.receiver.has_value(); }

  std::optional<size_t> parameter_named(std::string_view wanted) const {
    const auto& parameters = signature(ref).parameters;
    for (size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name.text == wanted) return i;
    return std::nullopt;
  }

  bool too_many() {
    if (!reports) return false;
    int64_t given = int64_t(site.arguments.size() + has_receiver());
    in.at(site.expr.span).error(diag::ArgumentCount, name(), int64_t(arguments.size()), given)
        .note(signature(ref).name.span, diag::DeclaredHere, name());
    return false;
  }

  void too_few(int64_t given) {
    auto report = in.at(site.expr.span).error(diag::ArgumentCount, name(), int64_t(arguments.size()), given);
    report.note(signature(ref).name.span, diag::DeclaredHere, name());
    bool reduces = given == 1 && (name() == "max" || name() == "min");
    if (reduces) report.help("the greatest or the least of a tile is taken along an axis, `t." + std::string(name()) + "(axis = 0)`, and of two numbers `" + std::string(name()) + "(a, b)`");
  }

  bool place(const ast::Argument& argument, size_t& next) {
    if (!argument.is_named()) {
      if (next >= arguments.size()) return too_many();
      if (arguments[next] && reports) in.at(argument.span).error(diag::GivenTwice, signature(ref).parameters[next].name.text);
      if (arguments[next]) return false;  // by its name
      arguments[next++] = &argument;
      return true;
    }
    auto i = parameter_named(argument.name.text);
    bool is_taken = i && (arguments[*i] || (has_receiver() && *i == 0));
    if (i && !is_taken) return arguments[*i] = &argument, true;
    if (!reports) return false;
    if (is_taken) return in.at(argument.span).error(diag::GivenTwice, argument.name.text), false;
    std::vector<std::string_view> names;
    for (const auto& p : signature(ref).parameters) names.push_back(p.name.text);
    auto report = in.at(argument.name.span).error(diag::UnknownParameter, name(), argument.name.text);
    suggest_parameter(report, argument.name, names);
    return false;
  }

  bool run() {
    if (has_receiver() && arguments.empty()) return too_many();
    size_t next = has_receiver();
    for (const ast::Argument& argument : site.arguments)
      if (!place(argument, next)) return false;
    for (size_t i = has_receiver(); i < arguments.size(); ++i) {
      if (arguments[i] || signature(ref).parameters[i].default_value) continue;
      if (!reports) return false;
      int64_t given = int64_t(site.arguments.size() + has_receiver());
      if (!has_receiver() && given < int64_t(arguments.size()) && site.arguments.size() <= i)
        too_few(given);
      else
        report_missing_argument(in, site.expr.span, name(), signature(ref).parameters[i].name.text);
      return false;
    }
    return true;
  }
};

// A method means a function on tiles first, a call one on numbers first.
std::vector<FnRef> by_preference(const FnSet& functions, bool is_method) {
  std::vector<FnRef> order = functions.candidates;
  std::stable_sort(order.begin(), order.end(), [&](const FnRef& a, const FnRef& b) {
    auto tile_first = [](const FnRef& f) {
      return !signature(f).parameters.empty() && takes_tile(signature(f).parameters[0]);
    };
    return is_method ? tile_first(a) && !tile_first(b) : !tile_first(a) && tile_first(b);
  });
  return order;
}

std::optional<FnRef> chosen(Instance& in, const FnSet& functions, const CallSite& site) {
  auto order = by_preference(functions, site.receiver.has_value());
  for (const FnRef& ref : order)
    if (is_raw(operation_name(*ref.decl)) || Matching{in, ref, site, false}.run()) return ref;
  Matching{in, order[0], site, true}.run();
  return std::nullopt;
}

// Arguments that only pass elementwise take their shape from the other side of the assignment.
bool is_elementwise(const FnRef& ref) {
  for (const auto& p : signature(ref).parameters)
    if (takes_tile(p)) return false;
  return true;
}

// A parameter that is a number or a fragment; others are names of the caller's memory.
bool is_value(const ast::Parameter& parameter) {
  auto* type = parameter.type->as<ast::ShapedType>();
  bool is_number = !takes_tile(parameter);
  return parameter.direction == ast::Direction::In && (is_number || (type && type->space == ast::Space::Fragment));
}

// The variable that an `out` argument names is not read.
BoundArgument argument_of(Instance& in, const ast::Parameter& parameter, const ast::Expr& expr, Hint hint) {
  if (parameter.direction == ast::Direction::In) return {operand(in, expr, hint), &expr};
  auto variable = variable_named(in, expr);
  if (!variable) variable = cell_named(in, expr);
  bool is_read = !variable || parameter.direction == ast::Direction::InOut;
  return {is_read ? operand(in, expr, hint) : Operand{Nothing{}, expr.span}, &expr, variable};
}

// In the order in which they are written, each as it is then.
bool evaluate_arguments(Instance& in, Invocation& call, const std::vector<const ast::Argument*>& arguments) {
  Hint hint = is_elementwise(call.fn) ? call.site.hint : Hint{};
  const auto& parameters = signature(call.fn).parameters;
  std::vector<Moment> moments(arguments.size(), now(in));
  for (const ast::Parameter& parameter : parameters) call.arguments.push_back({{Nothing{}, parameter.span}, nullptr});
  if (call.site.receiver) {
    bool is_set = parameters[0].direction != ast::Direction::In && call.site.receiver_expr;
    call.arguments[0] = {*call.site.receiver, call.site.receiver_expr, is_set ? variable_named(in, *call.site.receiver_expr) : std::nullopt};
  }
  for (const ast::Argument& argument : call.site.arguments) {
    size_t i = std::ranges::find(arguments, &argument) - arguments.begin();
    call.arguments[i] = argument_of(in, parameters[i], *argument.value, hint);
    moments[i] = now(in);
  }
  bool is_fine = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_value(parameters[i])) hold(in, call.arguments[i].operand, moments[i]);
    is_fine &= !call.arguments[i].operand.value.is_poison();
  }
  return is_fine;
}

// Gives arguments without a shape of their own that of the others, where one has a shape.
void settle_shapes(Instance& in, Invocation& call) {
  std::optional<Shape> shape;
  for (const BoundArgument& a : call.arguments)
    if (!shape && a.operand.value.is_tile_like()) shape = shape_of(in, a.operand);
  for (BoundArgument& a : call.arguments)
    if (shape && a.expr) give_shape(in, a.operand, *shape);
}

// A result that an element has no part in is padding all the same where that is: it is chosen beside it.
Value beside_elements(Instance& in, const Value& result, std::span<const Operand> operands, std::span<const Operand> elements) {
  if (!result.is_scalar()) return result;
  const bool stays_literal = is_literal(result);
  ir::ValueId made = stays_literal ? emit_literal(in, result, is_float(element_of(in, result)) ? Scalar::F64 : element_of(in, result)) : emit(in, result);
  bool is_chosen = false;
  for (size_t i = 0; i < elements.size(); ++i) {
    auto* element = operands[i].value.is_tile_like() ? elements[i].value.as<Dynamic>() : nullptr;
    if (!element || ir::depends_on(in.kernel, made, element->id)) continue;
    const bool is_truth = in.type(element->id).element == Scalar::Bool;
    const ir::ValueId test = is_truth ? element->id : in.builder.value(op::Compare{ir::CompareFn::Eq, element->id, element->id}, ir::scalar_type(Scalar::Bool));
    made = in.builder.value(op::Select{test, made, made}, in.type(made));
    is_chosen = true;
  }
  return is_chosen ? Value(Dynamic{made, stays_literal}) : result;
}

// A function on numbers, on each element where an argument is a tile.
Value call_elementwise(Instance& in, const Invocation& call, std::span<const Operand> operands) {
  auto run = [&](std::span<const Operand> elements) {
    Invocation one = call;
    for (size_t i = 0; i < elements.size(); ++i) one.arguments[i].operand = elements[i];
    return beside_elements(in, invoke(in, one), operands, elements);
  };
  bool has_tiles = std::ranges::any_of(operands, [](const Operand& x) { return x.value.is_tile_like(); });
  return has_tiles ? map_elements(in, operands, call.site.expr.span, run) : run(operands);
}

}  // namespace

bool takes_tile(const ast::Parameter& parameter) {
  auto* type = parameter.type->as<ast::ShapedType>();
  return type && type->has_extents;
}

std::string operation_name(const ast::Decl& decl) {
  for (const ast::Attribute& a : decl.attributes)
    if (a.name.text == "op" && a.arguments.size() == 1)
      if (auto* text = a.arguments[0].value->as<ast::StringLiteral>()) return text->value;
  return {};
}

Value call_functions(Instance& in, const FnSet& functions, const CallSite& site, std::string_view name) {
  if (functions.candidates.empty()) return Poison{};
  auto ref = chosen(in, functions, site);
  if (!ref) return Poison{};
  if (ref->fn().condition) return not_supported(in, site.expr.span, "a function under a condition");
  if (ref->fn().is_reference)
    return not_allowed(in, site.expr.span, "the reference function `" + std::string(name) + "`", "in a kernel");
  if (std::string operation = operation_name(*ref->decl); is_raw(operation)) return run_raw(in, operation, *ref, site);
  Matching matching{in, *ref, site, true};
  matching.run();
  Invocation call{*ref, site, {}, {}};
  for (const ast::Argument& g : site.generics) {
    Value value = evaluate(in, *g.value);
    if (value.is_poison()) return Poison{};
    const auto& generics = signature(*ref).generics;
    size_t i = size_t(&g - site.generics.data());
    if (g.is_named())
      for (i = 0; i < generics.size() && generics[i].name.text != g.name.text; ++i) {}
    if (i >= generics.size()) {
      if (g.is_named()) in.at(g.name.span).error(diag::UnknownParameter, name, g.name.text);
      else in.at(g.span).error(diag::ArgumentCount, name, int64_t(generics.size()), int64_t(site.generics.size()));
      return Poison{};
    }
    call.generics.resize(generics.size());
    call.generics[i] = std::move(value);
  }
  call.generics.resize(signature(*ref).generics.size());
  if (!evaluate_arguments(in, call, matching.arguments)) return Poison{};
  if (!is_elementwise(*ref)) return invoke(in, call);
  settle_shapes(in, call);
  std::vector<Operand> operands;
  for (const BoundArgument& a : call.arguments) operands.push_back(a.operand);
  bool is_open = std::ranges::any_of(operands, [](const Operand& x) { return x.value.is<Shapeless>(); });
  if (!is_open) return call_elementwise(in, call, operands);
  return with_shape(in, site.expr, operands, [call](Instance& in, std::span<const Operand> all) { return call_elementwise(in, call, all); });
}

void report_missing_argument(Instance& in, Span call, std::string_view function, std::string_view parameter) {
  auto report = in.at(call).error(diag::MissingArgument, function, parameter);
  if (parameter == "axis") report.help("axes are counted from 0, the rows: `axis = 0` leaves a value for each column, `axis = 1` one for each row");
}

Value call_method(Instance& in, CallSite site, const ast::Name& name, const Operand& receiver) {
  FnSet functions = functions_named(in, name.text);
  if (receiver.value.is_poison() || !name.exists()) return Poison{};
  if (functions.candidates.empty()) {
    auto report = in.at(name.span).error(diag::UnknownMember, describe(in.kernel, receiver.value), name.text);
    std::vector<std::string_view> names;
    if (const Module* prelude = in.session.modules.prelude()) in.session.modules.names_of(*prelude, names);
    std::string_view help = help_for_member(name.text), near = nearest(name.text, names);
    if (!help.empty()) report.help(std::string(help));
    else if (!near.empty()) report.fix(name.span, near, "did you mean `" + std::string(near) + "`?");
    return Poison{};
  }
  site.receiver = receiver;
  return call_functions(in, functions, site, name.text);
}

namespace {

// `S.drop(axis)`: the shape without one of its axes.
Value call_on_shape(Instance& in, const ast::Expr& expr, const ast::Call& call, const ast::Name& name, ShapeValue shape) {
  if (name.text != "drop") return in.at(name.span).error(diag::UnknownMember, "a shape", name.text), Value(Poison{});
  if (call.arguments.size() != 1)
    return in.at(expr.span).error(diag::ArgumentCount, "drop", 1, int64_t(call.arguments.size())), Value(Poison{});
  auto axis = known_int(in, operand(in, *call.arguments[0].value), "the axis that `drop` takes away");
  if (!axis) return Poison{};
  int64_t rank = int64_t(shape.extents.size()), counted = *axis < 0 ? *axis + rank : *axis;
  if (counted < 0 || counted >= rank) return in.at(expr.span).error(diag::AxisOutOfRange, *axis, rank), Value(Poison{});
  shape.extents.erase(shape.extents.begin() + counted);
  return shape;
}

Value value_of_call(Instance& in, const ast::Expr& expr, const ast::Call& call, Hint hint) {
  CallSite site{.expr = expr, .generics = call.generics, .arguments = call.arguments, .hint = hint};
  if (auto* member = call.callee->as<ast::Member>()) {
    Operand base = operand(in, *member->base);
    if (base.value.is_poison()) return Poison{};
    if (auto* m = base.value.as<ModuleRef>()) {
      Value value = value_of_member(in, *m->module, member->name);
      if (auto* set = value.as<FnSet>()) return call_functions(in, *set, site, member->name.text);
      if (!value.is_poison()) in.at(call.callee->span).error(diag::NotCallable, in.text(call.callee->span));
      return Poison{};
    }
    if (auto* shape = base.value.as<ShapeValue>()) return call_on_shape(in, expr, call, member->name, *shape);
    site.receiver_expr = member->base;
    return call_method(in, site, member->name, base);
  }
  Value callee = evaluate(in, *call.callee);
  if (auto* set = callee.as<FnSet>()) return call_functions(in, *set, site, in.text(call.callee->span));
  if (callee.is<KernelRef>()) return not_supported(in, expr.span, "a call of a kernel");
  if (callee.is_poison()) return Poison{};
  std::string name(in.text(call.callee->span));
  auto report = in.at(call.callee->span).error(diag::NotCallable, name);
  if (scalar_named(name) && call.arguments.size() == 1) {
    const ast::Expr& operand = *call.arguments[0].value;
    const bool needs_brackets = operand.as<ast::Binary>() || operand.as<ast::IfExpr>();
    const std::string text(in.text(operand.span));
    report.help("a conversion is written `" + (needs_brackets ? "(" + text + ")" : text) + " as " + name + "`");
  }
  return Poison{};
}

// What a call with a mistake would have set has no value.
void leave_open(Instance& in, const ast::Call& call) {
  for (const ast::Argument& argument : call.arguments)
    if (auto id = variable_named(in, *argument.value); id && !in.variable(*id).current.valid()) in.variable(*id).is_poison = true;
}

}  // namespace

Value evaluate_call(Instance& in, const ast::Expr& expr, const ast::Call& call, Hint hint) {
  Value value = value_of_call(in, expr, call, hint);
  if (value.is_poison()) leave_open(in, call);
  return value;
}

}  // namespace tilec::sema
