// Definite assignment by conditions: where `a && f(q)` is true `f` has run, and `q` holds what `f` left there, although it holds
// nothing where `a` is false.
#pragma once
#include "sema/branch.h"

namespace tilec::sema {

// What variables without a value hold where the condition is so.
Assignments assigned_where(const Instance& in, ir::ValueId condition, bool is_true);
// Gives it to those that have none still.
void assign(Instance& in, const Assignments& held);
// Takes from the end of `arm` what it has by `held` alone.
void take_out(Arm& arm, const Assignments& held);
// Variables that have a value at the end of `arm`, or by `held` there, and none before: `other` yields zeros for them, which nobody
// looks at.
std::vector<VariableId> yield_assigned(Instance& in, const std::vector<ir::ValueId>& before, Arm& arm, const Assignments& held, Arm& other);

}  // namespace tilec::sema
