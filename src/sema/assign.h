// Assignment: to variables, to regions of fragments, to memory.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

void run_assign(Instance& in, const ast::Assign& node, Span span);
// `variable = value`, with the conversions that an assignment allows.
void set_variable(Instance& in, VariableId id, const Operand& value, Span span);
// The variable that a bare name means.
std::optional<VariableId> variable_named(Instance& in, const ast::Expr& expr);
// May it be written here? Reports when it belongs to the code around a launch, a `parallel` or a `simt`.
bool is_in_reach(Instance& in, VariableId id, Span span);

}  // namespace tilec::sema
