// Functions run where they are called: a frame, parameters bound to values or to the caller's variables, the body.
#include "base/stack.h"
#include "sema/always_set.h"
#include "sema/call.h"
#include "sema/exits.h"
#include "sema/intrinsics.h"
#include "sema/names.h"
#include "sema/stmt.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {


bool report_type(Instance& in, const Operand& operand, std::string_view wanted) {
  in.at(operand.span).error(diag::TypeMismatch, wanted, describe(in.kernel, operand.value));
  return false;
}

// An element of memory that stands for a number which the function sets: `variable` is that number.
struct WriteBack {
  View element;
  VariableId variable;
  Span span;
};

struct Binder {
  Instance& in;
  Invocation& call;
  std::vector<WriteBack> write_backs = {};
  std::vector<VariableId> variables = {};             // of the caller, which the function may set
  struct Named { const View* view; bool is_written; };
  std::vector<Named> memories = {};                   // of the caller, by other names

  bool bind_variable(const ast::Parameter& p, const BoundArgument& argument, const ResolvedType& type) {
    const auto& id = argument.variable;
    if (!id) {
      in.at(argument.operand.span).error(diag::NotAPlace, in.text(argument.operand.span))
          .help("what a function sets is named: a `var`, or an element of memory");
      return false;
    }
    const Variable& v = in.variable(*id);
    ir::Type wanted = type.is_scalar() ? ir::scalar_type(type.element)
        : ir::tile_type(type.element, type.shape().value_or(Shape{}));
    if (v.type != wanted) {
      in.at(argument.operand.span).error(diag::TypeMismatch, describe(wanted), describe(v.type));
      return false;
    }
    if (std::ranges::find(variables, *id) != variables.end()) return report_shared(p, argument.operand.span);
    variables.push_back(*id);
    in.declare(p.name, *id);
    return true;
  }

  bool report_shared(const ast::Parameter& p, Span span) {
    in.at(span).error(diag::SharedArgument, in.text(span), call.fn.fn().signature.name.text)
        .note(p.span, diag::DeclaredHere, p.name.text)
        .help("give the function a copy, or parts that are seen to lie apart");
    return false;
  }

  // A number in memory, which the function works on in a variable.
  bool bind_element(const ast::Parameter& p, const Operand& operand, Scalar type) {
    const View& element = *operand.value.as<View>();
    Scalar own = element_of(in, operand.value);
    if (own != type) return in.at(operand.span).error(diag::TypeMismatch, name(type), name(own)), false;
    const bool is_read = p.direction == ast::Direction::InOut;
    if (!is_writable(in, element, operand.span, is_read)) return false;
    Value before = is_read ? number(in, operand) : Value(Nothing{});
    if (before.is_poison()) return false;
    VariableId id = in.new_variable(std::string(p.name.text), p.span, ir::scalar_type(type), is_read ? emit(in, before) : ir::ValueId{});
    in.variable(id).is_element = true;
    write_backs.push_back({element, id, operand.span});
    in.declare(p.name, id);
    return true;
  }

  // What the function left in elements of memory goes back there.
  bool write_back() {
    for (const WriteBack& w : write_backs) {
      if (const Variable& v = in.variable(w.variable); !v.current.valid() && !v.is_poison) {
        in.at(w.span).error(diag::Uninitialised, v.name).note(v.span, diag::DeclaredHere, v.name)
            .help("what `" + v.name + "` holds goes back here: write it on every path, or make it `inout`");
        return false;
      }
      Value last = read_variable(in, w.variable, w.span);
      if (last.is_poison()) return false;
      store(in, w.element, {std::move(last), w.span}, w.span);
    }
    return true;
  }

  bool have_extents(const ast::Parameter& p, const ResolvedType& type, const std::vector<Extent>& actual, Span span) {
    if (type.extents.size() != actual.size()) {
      in.at(span).error(diag::RankMismatch, in.text(span), int64_t(actual.size()), int64_t(type.extents.size()))
          .note(p.span, diag::DeclaredHere, p.name.text);
      return false;
    }
    for (size_t i = 0; i < actual.size(); ++i) {
      const Extent &a = type.extents[i], &b = actual[i];
      if (!a.is_fixed() || !b.is_fixed() || a.fixed == b.fixed) continue;
      in.at(span).error(diag::ShapeMismatch, shape_text(type.extents), shape_text(actual))
          .note(p.span, diag::DeclaredHere, p.name.text);
      return false;
    }
    return true;
  }

  bool bind_memory(const ast::Parameter& p, const Operand& operand, const ResolvedType& type) {
    const View& view = *operand.value.as<View>();
    const Memory& memory = in.memory(view.memory);
    bool is_wanted_space = type.space == ast::Space::None || (type.space == ast::Space::Shared &&
                                                              memory.space == ir::Space::Shared) ||
                           (type.space == ast::Space::Workspace && memory.space == ir::Space::Workspace) ||
                           (type.space == ast::Space::Local && memory.space == ir::Space::Private);
    if (!is_wanted_space) return report_type(in, operand, std::string(spelling(type.space)) + " memory");
    if (element_of(in, operand.value) != type.element) return report_type(in, operand, name(type.element));
    if (!have_extents(p, type, view.shape, operand.span)) return false;
    bool is_written = p.direction != ast::Direction::In;
    if (is_written && !is_writable(in, view, operand.span, p.direction == ast::Direction::InOut)) return false;
    for (const Named& other : memories)
      if ((is_written || other.is_written) && !lie_apart(in, view, *other.view)) return report_shared(p, operand.span);
    memories.push_back({&view, is_written});
    View named = view;
    if (!is_written && !named.constant_at.valid()) named.constant_at = p.span;
    in.declare(p.name, Value(std::move(named)), "a parameter");
    return true;
  }

  bool bind_tile(const ast::Parameter& p, const BoundArgument& argument, const ResolvedType& type) {
    const Operand& operand = argument.operand;
    if (operand.value.is<Nothing>()) return bind_variable(p, argument, type);
    if (!operand.value.is_tile_like() && !operand.value.is<Shapeless>()) return report_type(in, operand, "a tile");
    auto* view = operand.value.as<View>();
    if (view && type.space != ast::Space::Fragment) return bind_memory(p, operand, type);
    if (p.direction != ast::Direction::In) return bind_variable(p, argument, type);
    if (type.space != ast::Space::Fragment && type.space != ast::Space::None)
      return report_type(in, operand, std::string(spelling(type.space)) + " memory");
    Value tile = fragment(in, {adapted(in, operand, type.element), operand.span});
    if (tile.is_poison()) return false;
    const ir::Type actual = in.type(tile.as<Tile>()->id);
    if (actual.element != type.element) return report_type(in, operand, name(type.element));
    if (!have_extents(p, type, extents_of(actual.shape), operand.span)) return false;
    in.declare(p.name, tile, "a parameter");
    return true;
  }

  bool bind_number(const ast::Parameter& p, const BoundArgument& argument, const ResolvedType& type) {
    if (p.direction != ast::Direction::In && argument.operand.value.is_element()) return bind_element(p, argument.operand, type.element);
    if (p.direction != ast::Direction::In) return bind_variable(p, argument, type);
    Value value = implicitly(in, argument.operand, type.element);
    if (value.is_poison()) return false;
    if (p.is_const && !value.is<Const>()) {
      in.at(argument.operand.span).error(diag::NotCompileTime, "the argument `" + std::string(p.name.text) + "`");
      return false;
    }
    in.declare(p.name, value, "a parameter");
    return true;
  }

  bool bind(const ast::Parameter& p, BoundArgument& argument) {
    if (argument.operand.value.is<Nothing>() && !argument.expr && p.default_value)
      argument.operand = {evaluate(in, *p.default_value), argument.operand.span};
    if (argument.operand.value.is_poison()) return false;
    auto* shaped = p.type->as<ast::ShapedType>();
    if (shaped && !shaped->has_extents) {
      Value wanted = value_of_path(in, shaped->path);
      if (auto* e = wanted.as<EnumType>()) {
        auto* member = argument.operand.value.as<EnumValue>();
        if (!member || member->type != e->type) return report_type(in, argument.operand, e->type->name.text);
        in.declare(p.name, argument.operand.value, "a parameter");
        return true;
      }
    }
    auto type = resolve(in, *p.type);
    if (!type) return false;
    return type->is_scalar() ? bind_number(p, argument, *type) : bind_tile(p, argument, *type);
  }
};

// The value as the declared result; Poison and a report when it does not fit.
Value as_result(Instance& in, const ast::Type* declared, const Operand& result) {
  if (!declared || declared->as<ast::TupleType>() || result.value.is_poison()) return result.value;
  auto type = resolve(in, *declared);
  if (!type) return Poison{};
  if (type->is_scalar()) return implicitly(in, result, type->element);
  auto shape = type->shape();
  if (!shape) return in.at(declared->span).error(diag::ExtentNotConstant, in.text(declared->span)), Value(Poison{});
  Operand source = result;
  source.value = adapted(in, source, type->element);
  Value tile = fragment(in, source, &*shape);
  if (tile.is_poison()) return tile;
  const ir::Type& actual = in.type(tile.as<Tile>()->id);
  if (actual == ir::tile_type(type->element, *shape)) return tile;
  in.at(result.span).error(diag::TypeMismatch, describe(ir::tile_type(type->element, *shape)), describe(actual));
  return Poison{};
}

Value result_of_block(Instance& in, const Invocation& call) {
  const ast::Fn& fn = call.fn.fn();
  {
    ScopeGuard scope(in);
    run_block(in, *fn.body);
  }
  const Frame& frame = in.frames.back();
  bool is_missing = fn.signature.result && !in.is_dead && !in.session.diagnostics.has_errors();
  if (is_missing) return in.at(fn.signature.name.span).error(diag::MissingReturn, fn.signature.name.text), Value(Poison{});
  if (frame.result) return *frame.result;
  if (frame.result_variable) {
    const Variable& v = in.variable(*frame.result_variable);
    if (v.is_poison) return Poison{};
    if (v.current.valid()) return v.type.is_tile() ? Value(Tile{v.current}) : Value(Dynamic{v.current});
  }
  return Nothing{};
}

Value run_body(Instance& in, const Invocation& call) {
  const ast::Fn& fn = call.fn.fn();
  if (fn.value) return as_result(in, fn.signature.result, operand(in, *fn.value));
  if (fn.body) return result_of_block(in, call);
  std::string operation = operation_name(*call.fn.decl);
  if (!operation.empty()) return run_operation(in, operation, call);
  return not_supported(in, fn.signature.name.span, "a function without a body");
}

// Each call inside a call is one on the compiler's own stack, under what it stands in there; branches and loops in one another are for later passes, too.
constexpr size_t kMostFrames = 256;
constexpr int kMostControl = 512;

bool is_too_deep(Instance& in, const Invocation& call) {
  const bool has_many = in.frames.size() >= kMostFrames, is_within_many = in.control_depth >= kMostControl;
  if (!has_many && !is_within_many && !is_stack_low()) return false;
  const int64_t most = has_many ? int64_t(kMostFrames) : is_within_many ? kMostControl : int64_t(in.frames.size());
  if (!in.session.diagnostics.has_errors()) in.at(call.site.expr.span).error(diag::NestedTooDeep, most);
  return true;
}

bool is_recursive(Instance& in, const Invocation& call) {
  for (const Frame& frame : in.frames) {
    if (frame.decl != call.fn.decl) continue;
    in.at(call.site.expr.span).error(diag::RecursiveFunction, call.fn.fn().signature.name.text);
    return true;
  }
  return false;
}

}  // namespace

Value convert_result(Instance& in, const Operand& result) {
  auto* fn = in.frame().decl ? in.frame().decl->as<ast::Fn>() : nullptr;
  return fn ? as_result(in, fn->signature.result, result) : result.value;
}

namespace {

// The contract of a function, where the call decides it.
bool keeps_requirements(Instance& in, const Invocation& call) {
  bool is_fine = true;
  for (const ast::Expr* expr : call.fn.fn().signature.requirements) {
    Value test = condition(in, *expr);
    auto* c = test.as<Const>();
    if (test.is_poison() || (c && c->number.i)) continue;
    is_fine = false;
    if (c) in.at(expr->span).error(diag::StaticAssertFailed, "this call breaks the contract: " + std::string(in.text(expr->span)));
    else not_supported(in, expr->span, "a contract of a function over what is known at run time only");
  }
  return is_fine;
}

// Calls that call twice what calls twice: a kernel grows by powers, and long before its operations are too many the time is.
bool has_too_many_calls(Instance& in, Span span) {
  constexpr size_t kMostCalls = 10'000;
  if (++in.calls <= kMostCalls) return false;
  std::string what = "a kernel of more than " + std::to_string(kMostCalls) + " calls";
  if (!in.session.diagnostics.has_errors()) not_allowed(in, span, what, "here: functions are inlined where they are called");
  return true;
}

// While a function of the library is inlined into a program, all that is made stands at the call.
class LibraryGuard {
 public:
  LibraryGuard(Instance& in, const Invocation& call) : in_(in), held_(in.builder.held_span()) {
    const ast::Fn& fn = call.fn.fn();
    if (held_.valid() || !call.fn.module->is_library || in.module().is_library || !(fn.value || fn.body)) return;
    Span span = call.site.expr.span;
    in.builder.hold_span(span);
    in.kernel.library_calls.push_back({span, fn.signature.name.span, std::string(fn.signature.name.text)});
  }
  ~LibraryGuard() { in_.builder.hold_span(held_); }
  LibraryGuard(const LibraryGuard&) = delete;

 private:
  Instance& in_;
  Span held_;
};

Value run_call(Instance& in, Invocation& call) {
  if (is_too_deep(in, call) || is_recursive(in, call) || has_too_many_calls(in, call.site.expr.span) || is_too_long(in, call.site.expr.span, "functions are inlined where they are called")) return Poison{};
  LibraryGuard library(in, call);
  in.frames.push_back({.module = call.fn.module, .decl = call.fn.decl, .call = call.site.expr.span,
                       .first_scope = in.scopes.size(), .first_loop = in.loops.size(),
                       .first_variable = in.variables.size(), .control_depth = in.control_depth,
                       .depth = in.depth});
  Value result = Poison{};
  {
    ScopeGuard scope(in);
    Restore<bool> dead(in.is_dead, false);
    bool is_bound = bind_generics(in, call);
    const auto& parameters = call.fn.fn().signature.parameters;
    Binder binder{in, call};
    for (size_t i = 0; is_bound && i < parameters.size(); ++i)
      is_bound = binder.bind(parameters[i], call.arguments[i]);
    is_bound = is_bound && keeps_requirements(in, call);
    if (is_bound) begin_with_zeros_if_always_set(in, call.fn.fn());
    if (is_bound && (!call.fn.fn().body || prepare_returns(in, *call.fn.fn().body))) result = run_body(in, call);
    if (is_bound && !binder.write_back()) result = Poison{};
  }
  in.frames.pop_back();
  return result;
}

// Are all numbers of the call literals, and is there a type to be found from them?
bool may_stay_literal(const Instance& in, const Invocation& call) {
  const auto& signature = call.fn.fn().signature;
  bool has_open_type = std::ranges::any_of(call.generics, [](const auto& given) { return !given.has_value(); });
  return has_open_type && !call.arguments.empty() && std::ranges::all_of(call.arguments, [&](const BoundArgument& a) {
    const ast::Parameter& p = signature.parameters[size_t(&a - call.arguments.data())];
    bool is_place = a.operand.value.is_element() && p.direction != ast::Direction::In;
    bool is_truth = a.operand.value.is_scalar() && !is_place && element_of(in, a.operand.value) == Scalar::Bool;
    bool is_default = a.operand.value.is<Nothing>() && p.default_value;
    return is_default || is_truth || is_literal(a.operand.value);
  });
}

// Is the result of a type that the arguments decide?
bool has_open_result(const Invocation& call) {
  const ast::Signature& signature = call.fn.fn().signature;
  auto* type = signature.result ? signature.result->as<ast::ShapedType>() : nullptr;
  return type && type->path.size() == 1 &&
         std::ranges::any_of(signature.generics, [&](const auto& generic) { return generic.name.text == type->path[0].text; });
}

// The call in `int`, or in f64 where a literal is a float: a literal as well. None where that is no number: it is then made for the type that
// literals have by themselves, and what the attempt emitted and said goes with it.
std::optional<Value> run_on_literals(Instance& in, Invocation call) {
  const Diagnostics before = in.session.diagnostics;
  const ir::RegionId code = in.kernel.new_region();
  call.keeps_literals = true;
  Value value = Poison{};
  {
    RegionGuard region(in, code);
    value = run_call(in, call);
  }
  if (!value.is<Const>() && !value.is<Dynamic>()) {
    in.session.diagnostics = before;
    return std::nullopt;
  }
  const Scalar type = element_of(in, value);
  const bool is_open = has_open_result(call) && (type == Scalar::F64 || type == Scalar::Index);
  if (auto* c = value.as<Const>()) return Value(Const{type, c->number, is_open, is_open ? c->odd : std::nullopt});
  splice(in, code);
  return Value(Dynamic{value.as<Dynamic>()->id, is_open});
}

}  // namespace

Value invoke(Instance& in, Invocation& call) {
  if (may_stay_literal(in, call))
    if (auto value = run_on_literals(in, call)) return *value;
  return run_call(in, call);
}

}  // namespace tilec::sema
