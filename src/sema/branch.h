// Two ways that meet again: what variables hold behind them.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// One way, in a region that has no end yet.
struct Arm {
  ir::RegionId region;
  std::vector<ir::ValueId> values;  // of the variables at its end
  bool is_dead = false;             // control does not come out at its end
};
Arm run_arm(Instance& in, const std::function<void()>& body);

// The variables that differ behind two arms, with what each yields for them. What is the same on both sides, or has no value on one
// of them, is the variables' current value now; `before` are those in front of both, and `alike` what both sides have changed to the same.
struct Merged {
  std::vector<VariableId> changed, alike;
  std::vector<ir::Type> types;
  std::vector<ir::ValueId> then_values, else_values;
};
Merged merge(Instance& in, const std::vector<ir::ValueId>& before, Arm& a, Arm& b);
// Behind the `if` that yields `results` for what has changed: what variables hold, kept by what the condition has to do with.
void set_merged(Instance& in, ir::ValueId condition, const std::vector<ir::ValueId>& before, const Merged& merged, std::span<const ir::ValueId> results);

}  // namespace tilec::sema
