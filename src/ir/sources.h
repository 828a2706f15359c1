// What a value is computed from.
#pragma once
#include <set>

#include "ir/kernel.h"

namespace tilec::ir {

// Calls `f` with the operands that the results are made of: all of them, but for what an `inside` names beside.
template <class F> void each_maker(const Op& op, F&& f) {
  if (auto* inside = op.get<op::Inside>()) return f(inside->x);
  each_operand(op.data, f);
}

// Calls `f` with `v` and with every value that it is computed from, each once, however many ways lead to it. `seen` may be kept
// from call to call, for values of several.
void each_source(const Kernel& kernel, ValueId v, std::set<ValueId>& seen, const std::function<void(ValueId)>& f);
void each_source(const Kernel& kernel, ValueId v, const std::function<void(ValueId)>& f);

// What the argument at `place` of that region of a loop is, in one turn or another: what the loop begins with, and what a turn yields.
// Of the index of a `for`, its bounds and its step.
std::vector<ValueId> carried_sources(const Kernel& kernel, const Op& loop, RegionId region, size_t place);

// Is `v` that value, or computed from it?
bool depends_on(const Kernel& kernel, ValueId v, ValueId source);

}  // namespace tilec::ir
