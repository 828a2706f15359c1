// Calls: which function is meant, what its parameters are bound to, and running it: inlined, or an operation of the IR.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

struct CallSite {
  const ast::Expr& expr;
  std::span<const ast::Argument> generics, arguments;
  Hint hint;
  std::optional<Operand> receiver = {};     // of `x.f(...)`
  const ast::Expr* receiver_expr = nullptr;
};

// What a parameter is bound to.
struct BoundArgument {
  Operand operand;
  const ast::Expr* expr = nullptr;  // where it was written; null for a default
  std::optional<VariableId> variable = {};  // of the caller, that an `inout` or `out` parameter may set
};
// A call with one function chosen and its arguments in the order of the parameters.
struct Invocation {
  FnRef fn;
  CallSite site;
  std::vector<BoundArgument> arguments;
  std::vector<std::optional<Value>> generics;  // as written or inferred, in the order of the signature
  bool keeps_literals = false;                 // numbers are literals alone, and are computed in f64 where one is a float
};

Value call_method(Instance& in, CallSite site, const ast::Name& name, const Operand& receiver);
Value call_functions(Instance& in, const FnSet& functions, const CallSite& site, std::string_view name);
// Runs a function on bound arguments, in a frame of its own.
Value invoke(Instance& in, Invocation& invocation);          // inline.cpp
// Finds the compile-time parameters from the arguments and declares them in the open frame. False after a mistake.
bool bind_generics(Instance& in, Invocation& invocation);    // generics.cpp
// Kinds that are no names.
constexpr std::string_view kOtherKinds = "a function or a tuple as a compile-time parameter";
// Is `value` what the kind of a compile-time parameter asks for? Reports and answers false if not.
bool meets_kind(Instance& in, const ast::GenericParameter& parameter, Value& value, Span span);  // generics.cpp
void report_missing_argument(Instance& in, Span call, std::string_view function, std::string_view parameter);
// The name in `@op("name")`, or "".
std::string operation_name(const ast::Decl& decl);
// Does the parameter take a whole tile or tensor?
bool takes_tile(const ast::Parameter& parameter);

}  // namespace tilec::sema
