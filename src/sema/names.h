// What a name means: scopes, then the file, then the prelude, then the scalar types.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// The value of a name; Poison and a report when it is not declared. A variable gives its current value.
Value value_of_name(Instance& in, const ast::Name& name);
// Is `name = value;` about a name that nothing declares here? Reports it, with how a variable is declared.
bool is_undeclared_target(Instance& in, const ast::Name& name, Span value, bool has_operator);
// `module.name`
Value value_of_member(Instance& in, const Module& module, const ast::Name& name);
// What a parameter that is none of `names` may be called.
void suggest_parameter(Report& report, const ast::Name& given, std::span<const std::string_view> names);
// The functions that a method may mean: those of the file, then those of the prelude.
FnSet functions_named(Instance& in, std::string_view name);
// The functions that a call by a name, or by that of a module, `math.gelu(x)`, may mean. Reports nothing.
FnSet functions_called(Instance& in, const ast::Call& call);
// The parameter that an argument of such a call is for; null where there is none.
const ast::Parameter* parameter_of(const FnRef& fn, const ast::Call& call, const ast::Argument& argument);
// The value of a variable now; Poison and a report when it may not have been written.
Value read_variable(Instance& in, VariableId id, Span span);
// A scalar type by name: `f16`, or a compile-time parameter. None and a report when it names something else.
std::optional<Scalar> scalar_of_path(Instance& in, const std::vector<ast::Name>& path);
// The value that a path such as `ep.Mode` means.
Value value_of_path(Instance& in, const std::vector<ast::Name>& path);
// The value of a `const`, worked out once.
Value value_of_constant(Session& session, const Module& module, const ast::Decl& decl);

}  // namespace tilec::sema
