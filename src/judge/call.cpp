// Calls: which function, the arguments as they are written, generics from them, and the body.
#include <algorithm>

#include "judge/evaluator.h"
#include "judge/results.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

constexpr int kDeepest = 200;  // calls within calls

using Functions = std::vector<std::pair<Module*, const ast::Fn*>>;

bool is_option(std::string_view name) { return name == "order" || name == "rounding"; }

const ast::ShapedType* shaped(const ast::Parameter& p) { return p.type->as<ast::ShapedType>(); }
bool is_number(const ast::Parameter& p) { return shaped(p) && !shaped(p)->has_extents; }
bool is_fragment(const ast::Parameter& p) { return shaped(p) && shaped(p)->has_extents && shaped(p)->space == ast::Space::Fragment; }
bool is_changed(const ast::Parameter& p) { return p.direction != ast::Direction::In; }

std::string operation_of(const Module& module, const ast::Fn& fn) {
  auto found = module.declarations.find(fn.signature.name.text);
  if (found == module.declarations.end()) return "";
  for (const ast::Decl* decl : found->second)
    if (decl->as<ast::Fn>() == &fn)
      for (const ast::Attribute& a : decl->attributes)
        if (a.name.text == "op" && !a.arguments.empty())
          if (auto* text = a.arguments[0].value->as<ast::StringLiteral>()) return text->value;
  return "";
}

bool has_generic(const ast::Fn& fn, std::string_view name) {
  return std::ranges::any_of(fn.signature.generics, [&](const ast::GenericParameter& g) { return g.name.text == name; });
}

std::string_view kind_of(const ast::Fn& fn, std::string_view generic) {
  for (const ast::GenericParameter& g : fn.signature.generics)
    if (g.name.text == generic && g.kind)
      if (auto* kind = g.kind->as<ast::ShapedType>()) return kind->path.front().text;
  return "";
}

}  // namespace

const ast::Expr* Evaluator::receiver_of(const ast::Call& call, Functions& functions, std::string_view& name) {
  auto add = [&](Module* module) {
    if (!module) return;
    Functions more = functions_named(name, *module);
    functions.insert(functions.end(), more.begin(), more.end());
  };
  if (auto* ref = call.callee->as<ast::NameRef>()) {
    name = ref->name.text;
    add(frame_->module);
    if (functions.empty()) add(modules_.prelude());
    return nullptr;
  }
  auto* member = call.callee->as<ast::Member>();
  if (!member) unknown(call.callee->span, "a call of this");
  name = member->name.text;
  auto* base = member->base->as<ast::NameRef>();
  if (base && !find(base->name.text))
    if (auto value = value_in(*frame_->module, base->name.text); value && std::holds_alternative<ModuleValue>(*value)) {
      add(std::get<ModuleValue>(*value).module);
      return nullptr;
    }
  add(frame_->module);
  add(modules_.prelude());
  return member->base;
}

bool Evaluator::suits(const ast::Fn& fn, const ast::Call& call, bool has_receiver) {
  const auto& parameters = fn.signature.parameters;
  if (fn.signature.name.text == "tile" && !fn.body && !fn.value) return true;
  size_t positional = has_receiver;
  std::vector<std::string_view> named;
  for (const ast::Argument& a : call.arguments) {
    if (!a.is_named()) ++positional;
    else named.push_back(a.name.text);
  }
  if (positional > parameters.size()) return false;
  for (std::string_view name : named)
    if (!is_option(name) && std::ranges::none_of(parameters, [&](const ast::Parameter& p) { return p.name.text == name; })) return false;
  for (size_t i = positional; i < parameters.size(); ++i)
    if (!parameters[i].default_value && std::ranges::find(named, parameters[i].name.text) == named.end()) return false;
  return true;
}

Evaluator::Call Evaluator::matched(Module* module, const ast::Fn& fn, const ast::Call& call, const ast::Expr* receiver) {
  Call out{module, &fn, {}, std::vector<int>(fn.signature.parameters.size(), -1), {}};
  size_t next = 0;
  if (receiver) {
    out.position[next++] = 0;
    out.arguments.push_back({nullptr, receiver, {}, {}});
  }
  for (const ast::Argument& a : call.arguments) {
    int at = int(out.arguments.size());
    for (size_t i = 0; a.is_named() && i < out.position.size(); ++i)
      if (fn.signature.parameters[i].name.text == a.name.text) out.position[i] = at;
    if (!a.is_named() && next < out.position.size()) out.position[next++] = at;
    out.arguments.push_back({&a, a.value, {}, {}});
  }
  return out;
}

// The arguments that a function of the text may write to.
std::vector<const ast::Expr*> Evaluator::places_of(const ast::Call& call) {
  Functions functions;
  std::string_view name;
  std::vector<const ast::Expr*> places;
  const ast::Expr* receiver = receiver_of(call, functions, name);
  for (auto& [module, fn] : functions) {
    if (!suits(*fn, call, receiver)) continue;
    Call c = matched(module, *fn, call, receiver);
    for (size_t i = 0; i < c.position.size(); ++i)
      if (c.position[i] >= 0 && is_changed(fn->signature.parameters[i])) places.push_back(c.arguments[size_t(c.position[i])].expr);
    break;
  }
  return places;
}

void Evaluator::evaluate_arguments(Call& call) {
  const auto& parameters = call.fn->signature.parameters;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    Given& given = call.arguments[i];
    auto at = std::ranges::find(call.position, int(i));
    if (given.written && given.written->is_named() && is_option(given.written->name.text)) continue;
    const ast::Parameter* p = at == call.position.end() ? nullptr : &parameters[size_t(at - call.position.begin())];
    bool is_copied_to = p && call.fn->signature.name.text == "copy" && !call.fn->body && p == &parameters[1];
    if (p && (is_changed(*p) || is_copied_to)) given.place = place_of(*given.expr);
    else if (p && !is_number(*p) && !is_fragment(*p)) given.value = eval(*given.expr);
    else given.value = operand(*given.expr);
    if (given.place && p && p->direction == ast::Direction::InOut && is_number(*p)) given.value = place_value(*given.place, given.expr->span);
  }
}

void Evaluator::take_generics(Call& c, const ast::Call& call) {
  size_t next = 0;
  for (const ast::Argument& a : call.generics) {
    std::string_view name = a.name.text;
    if (is_option(name)) {
      auto* word = a.value->as<ast::NameRef>();
      if (word && word->name.text == "toward_zero") c.generics.emplace_back("rounding", None{});
      continue;
    }
    if (!a.is_named() && next < c.fn->signature.generics.size()) name = c.fn->signature.generics[next++].name.text;
    Value value = eval(*a.value);
    if (auto* list = std::get_if<std::shared_ptr<List>>(&value)) {
      ShapeValue shape;
      for (const Value& item : (*list)->items) shape.extents.push_back(int64_t(std::get<Number>(item).i));
      value = shape;
    }
    c.generics.emplace_back(name, value);
  }
}

Value Evaluator::eval_call(const ast::Call& call, Span span) {
  step(span);
  Functions functions;
  std::string_view name;
  const ast::Expr* receiver = receiver_of(call, functions, name);
  if (name == "drop" && receiver) {
    Value base = eval(*receiver);
    if (auto* shape = std::get_if<ShapeValue>(&base)) {
      ShapeValue out = *shape;
      out.extents.erase(out.extents.begin() + int64_t(whole_number(*call.arguments.at(0).value)));
      return out;
    }
  }
  for (auto& [module, fn] : functions) {
    if (!suits(*fn, call, receiver)) continue;
    Call c = matched(module, *fn, call, receiver);
    bool takes_shape = operation_of(*module, *fn) == "tile" || operation_of(*module, *fn) == "reshape";
    if (takes_shape) {
      evaluate_arguments(c);
      if (!call.generics.empty()) c.generics.emplace_back("S", ShapeValue{shape_of(call.generics)});
    } else {
      take_generics(c, call);
      evaluate_arguments(c);
    }
    return run_function(c, span);
  }
  unknown(span, "the function `" + std::string(name) + "` with these arguments");
}

Value Evaluator::run_function(Call& call, Span span) {
  std::string op = operation_of(*call.module, *call.fn);
  if (!op.empty()) return run_operation(op, call, span);
  std::string_view name = call.fn->signature.name.text;
  if (call.module == modules_.prelude() && (name == "ceildiv" || name == "round_up")) return run_operation(std::string(name), call, span);
  const auto& parameters = call.fn->signature.parameters;
  std::vector<Value> values(parameters.size());
  std::vector<Value> lifted;
  std::vector<size_t> lifted_at;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (call.position[i] < 0) continue;
    Given& given = call.arguments[size_t(call.position[i])];
    if (given.value) values[i] = *given.value;
    bool is_tile = std::holds_alternative<TilePtr>(values[i]) || std::holds_alternative<Pending>(values[i]);
    if (!is_tile || !is_number(parameters[i])) continue;
    lifted.push_back(values[i]);
    lifted_at.push_back(i);
  }
  if (lifted.empty()) return enter(call, values, span);
  Scalar hint = scalar_of_value(lifted[0]).value_or(Scalar::F32);
  auto shared = std::make_shared<Call>(call);
  auto each = [this, shared, values, lifted_at, span](std::span<const Number> numbers) {
    std::vector<Value> own = values;
    for (size_t k = 0; k < numbers.size(); ++k) own[lifted_at[k]] = numbers[k];
    Muted lift(is_lifted_, true);
    return beside_elements(number_of(enter(*shared, own, span), span), numbers, span);
  };
  return map(lifted, hint, each, span);
}

void Evaluator::infer_shape(const ast::Fn& fn, const ast::ShapedType& type, const Shape& shape) {
  size_t at = 0;
  for (const ast::Expr* extent : type.extents) {
    auto* ref = extent->as<ast::NameRef>();
    std::string_view name = ref ? ref->name.text : "";
    bool is_shape = kind_of(fn, name) == "shape";
    size_t count = is_shape ? shape.size() - (type.extents.size() - 1) : 1;
    if (!name.empty() && at + count <= shape.size() && !find(name) && !value_in(*frame_->module, name)) {
      Value value = is_shape ? Value(ShapeValue{Shape(shape.begin() + int64_t(at), shape.begin() + int64_t(at + count))}) : Value(integer_of(shape[at]));
      bind(name, value);
    }
    at += count;
  }
}

// Binds the names of generics that an argument's type says.
void Evaluator::infer(const ast::Fn& fn, const ast::Type& type, const Value& value) {
  auto* s = type.as<ast::ShapedType>();
  if (!s) return;
  std::string_view name = s->path.front().text;
  if (auto scalar = scalar_of_value(value); scalar && has_generic(fn, name) && !find(name)) bind(name, TypeValue{*scalar});
  if (!s->has_extents) return;
  if (auto* view = std::get_if<View>(&value)) infer_shape(fn, *s, view->extents());
  if (auto* tile = std::get_if<TilePtr>(&value)) infer_shape(fn, *s, (*tile)->shape);
}

Value Evaluator::parameter_value(const ast::Parameter& parameter, const Value& value, Span span) {
  if (std::holds_alternative<Absent>(value) || std::holds_alternative<EnumValue>(value)) return value;
  if (!is_number(parameter) && !is_fragment(parameter)) return value;
  Type type = type_of(*parameter.type);
  if (type.other) return value;
  if (!type.is_tile) return convert(number_of(value, span), type.scalar, span);
  return named(converted(tile_of(value, type.shape, span), type.scalar, span, false));
}

namespace {

// Truth aside.
bool are_all_literals(const std::vector<Value>& values) {
  bool has_any = false;
  for (const Value& v : values) {
    auto* n = std::get_if<Number>(&v);
    bool is_truth = n && n->type == Scalar::Bool;
    if (!std::holds_alternative<None>(v) && !is_truth && (!n || !n->is_literal)) return false;
    has_any |= n && !is_truth;
  }
  return has_any;
}

// Would an argument that is padding have been assigned to the parameter?
bool is_left_by_padding(const ast::Fn& fn, const std::vector<Value>& given, size_t parameter) {
  const std::set<std::string_view> sources = sources_of_result(fn, fn.signature.parameters[parameter].name.text);
  bool is = false;
  for (size_t i = 0; i < given.size(); ++i) {
    auto* number = std::get_if<Number>(&given[i]);
    is |= i != parameter && number && number->is_padding() && sources.contains(fn.signature.parameters[i].name.text);
  }
  return is;
}

}  // namespace

// Memory that the caller hands over to be written.
void Evaluator::take_places(Call& call, std::vector<Value>& values, Span span) {
  const auto& parameters = call.fn->signature.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    Given* argument = call.position[i] < 0 ? nullptr : &call.arguments[size_t(call.position[i])];
    if (!argument || !argument->place) continue;
    if (is_number(parameters[i])) {
      // What it holds when the function begins: an argument behind it may have changed that.
      if (!std::holds_alternative<None>(values[i])) values[i] = place_value(*argument->place, span);
      continue;
    }
    if (!argument->place->region) unknown(span, "this argument of a parameter that is written");
    values[i] = element_of(*argument->place->region, span);
  }
}

void Evaluator::bind_generics(const Call& call, const std::vector<Value>& values) {
  const ast::Fn& fn = *call.fn;
  for (auto& [name, value] : call.generics) bind(name, value);
  for (size_t i = 0; i < values.size(); ++i) infer(fn, *fn.signature.parameters[i].type, values[i]);
  bool has_real = std::ranges::any_of(values, [](const Value& v) { return std::holds_alternative<Number>(v) && std::get<Number>(v).is_real(); });
  const Scalar of_literals = are_all_literals(values) && gives_number(fn) ? Scalar::F64 : Scalar::F32;
  for (const ast::GenericParameter& g : fn.signature.generics) {
    if (find(g.name.text)) continue;
    bool is_float_kind = kind_of(fn, g.name.text) == "float";
    if (g.default_value) bind(g.name.text, eval(*g.default_value));
    else bind(g.name.text, TypeValue{has_real || is_float_kind ? of_literals : Scalar::Index});
  }
}

void Evaluator::bind_arguments(const Call& call, const std::vector<Value>& values, Span span) {
  for (size_t i = 0; i < values.size(); ++i) {
    const ast::Parameter& p = call.fn->signature.parameters[i];
    if (call.position[i] < 0 || !is_changed(p)) continue;
    bool is_unset = std::holds_alternative<None>(values[i]);
    Number blank;
    if (is_unset) blank.type = type_of(*p.type).scalar;
    Value given = is_unset ? Value(blank) : is_number(p) ? parameter_value(p, values[i], span) : values[i];
    const std::optional<Place>& place = call.arguments[size_t(call.position[i])].place;
    auto* number = std::get_if<Number>(&given);
    if (number) *number = stamped(*number, 0);  // the element that it was is not replaced yet
    const bool is_element = is_parallel_ && place && (place->variable ? place->variable->is_cell : place->region && place->region->view.kind == Kind::Fragment);
    bind(p.name.text, given);
    find(p.name.text)->is_set = !is_unset, find(p.name.text)->is_cell = is_element && number && !number->is_padding();
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ast::Parameter& p = call.fn->signature.parameters[i];
    if (call.position[i] >= 0 && !is_changed(p)) bind(p.name.text, parameter_value(p, values[i], span));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ast::Parameter& p = call.fn->signature.parameters[i];
    if (call.position[i] >= 0) continue;
    if (!p.default_value) unknown(span, "a call without the argument `" + std::string(p.name.text) + "`");
    bind(p.name.text, parameter_value(p, operand(*p.default_value), span));
  }
}

// The result in the declared type; a body's has been converted at its `return`.
Value Evaluator::result_of(const ast::Fn& fn, Span span) {
  if (fn.body) {
    execute(*fn.body);
    return named(frame_->result);
  }
  Value result = named(operand(*fn.value));
  if (!fn.signature.result) return result;
  Type type = type_of(*fn.signature.result);
  if (type.other) return result;
  if (type.is_tile) result = tile_of(result, type.shape, span);
  return converted(result, type.scalar, span, false);
}

Value Evaluator::enter(Call& call, const std::vector<Value>& given, Span span) {
  const ast::Fn& fn = *call.fn;
  if (!fn.body && !fn.value) unknown(span, "a function without a body");
  if (++depth_ > kDeepest) unknown(span, "calls so deep");
  const bool is_literal = are_all_literals(given);
  const auto& parameters = fn.signature.parameters;
  std::vector<Value> values = given;
  take_places(call, values, span);
  Frame frame{call.module, {Scope{}}, None{}, fn.signature.result};
  Frame* before = frame_;
  frame_ = &frame;
  const Within within(beyond_);
  bind_generics(call, values);
  bind_arguments(call, values, span);
  Value result = result_of(fn, span);
  std::vector<Binding> changed(parameters.size());
  auto is_copied_back = [&](size_t i) { return is_changed(parameters[i]) && is_number(parameters[i]); };
  for (size_t i = 0; i < parameters.size(); ++i)
    if (is_copied_back(i)) {
      changed[i] = *find(parameters[i].name.text);
      // What returned early has left it.
      auto* left = is_given_behind_return(fn, parameters[i].name.text) ? std::get_if<Number>(&changed[i].value) : nullptr;
      if (left) left->padding |= frame.doubt;
      // What stands behind a return that was made is not run, and may bring padding.
      const bool is_early = frame.may_have_returned && frame.returned_at && frame.returned_at != fn.body->statements.back();
      if (left && is_early && !left->is_padding() && is_left_by_padding(fn, given, i)) left->padding |= kAnything;
      if (auto* held = std::get_if<Number>(&values[i]); left && held && returns_early(fn)) left->stamps.add(held->stamps), left->padding &= ~kAsked, decided_by(*left, frame.decided);
    }
  frame_ = before;
  --depth_;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (is_copied_back(i) && changed[i].is_set) assign(*call.arguments[size_t(call.position[i])].place, changed[i].value, span);
  auto* number = std::get_if<Number>(&result);
  // Which of its numbers is returned is known where the text is compiled, or it is not.
  if (number && frame.may_have_returned) number->is_known = false;
  if (number) number->padding |= frame.doubt;
  const std::set<std::string_view> sources = number && returns_early(fn) ? sources_of_result(fn) : std::set<std::string_view>();
  for (size_t i = 0; number && returns_early(fn) && i < given.size(); ++i) {
    auto* argument = std::get_if<Number>(&given[i]);
    if (!argument) continue;
    number->stamps.add(argument->stamps);
    // Where elements decide, it has to do with what it would have returned as well.
    if (frame.decided.is_element && argument->is_padding() && sources.contains(parameters[i].name.text)) number->padding |= argument->beyond();
  }
  if (number && returns_early(fn)) number->padding &= ~kAsked, decided_by(*number, frame.decided);
  bool is_literal_type = number && (number->type == Scalar::F64 || number->type == Scalar::Index);
  if (is_literal && is_literal_type) number->is_literal = true;
  return result;
}

}  // namespace tilec::judge
