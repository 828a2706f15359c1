#include "sema/assigned_when.h"

#include "sema/scalar.h"

namespace tilec::sema {

Assignments assigned_where(const Instance& in, ir::ValueId condition, bool is_true) {
  const ir::OpId made_by = in.kernel.value(condition).op;
  auto* u = made_by.valid() ? in.kernel.op(made_by).get<op::Unary>() : nullptr;
  if (u && u->fn == ir::UnaryFn::Not) return assigned_where(in, u->x, !is_true);
  auto it = in.assigned_when.find(condition);
  return it == in.assigned_when.end() ? Assignments() : it->second[is_true];
}

void assign(Instance& in, const Assignments& held) {
  for (const auto& [variable, value] : held)
    if (!in.variable(variable).current.valid()) in.variable(variable).current = value;
}

void take_out(Arm& arm, const Assignments& held) {
  for (const auto& [variable, value] : held)
    if (arm.values[variable.index] == value) arm.values[variable.index] = {};
}

std::vector<VariableId> yield_assigned(Instance& in, const std::vector<ir::ValueId>& before, Arm& arm, const Assignments& held, Arm& other) {
  for (const auto& [variable, value] : held)
    if (!arm.values[variable.index].valid()) arm.values[variable.index] = value;
  std::vector<VariableId> assigned;
  RegionGuard region(in, other.region);
  for (uint32_t i = 0; i < before.size(); ++i) {
    if (before[i].valid() || !arm.values[i].valid() || other.values[i].valid()) continue;
    other.values[i] = zero(in, in.variables[i].type);
    assigned.push_back({i});
  }
  return assigned;
}

}  // namespace tilec::sema
