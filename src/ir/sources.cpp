#include "ir/sources.h"

namespace tilec::ir {

void each_source(const Kernel& kernel, ValueId v, std::set<ValueId>& seen, const std::function<void(ValueId)>& f) {
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    f(next);
    if (const Op* op = kernel.definition(next)) each_maker(*op, [&](ValueId operand) { open.push_back(operand); });
  }
}

void each_source(const Kernel& kernel, ValueId v, const std::function<void(ValueId)>& f) {
  std::set<ValueId> seen;
  each_source(kernel, v, seen, f);
}

std::vector<ValueId> carried_sources(const Kernel& kernel, const Op& loop, RegionId region, size_t place) {
  auto yielded = [&](RegionId part, size_t i) { return kernel.terminator(part).as<op::Yield>().values[i]; };
  if (auto* counted = loop.get<op::For>()) {
    if (place == 0) return {counted->low, counted->high, counted->step};
    return {counted->inits[place - 1], yielded(counted->body, place - 1)};
  }
  auto* tested = loop.get<op::While>();
  if (!tested) return {};
  if (region == tested->condition) return {tested->inits[place], yielded(tested->body, place)};
  return {yielded(tested->condition, place + 1)};  // behind the condition itself
}

bool depends_on(const Kernel& kernel, ValueId v, ValueId source) {
  std::set<ValueId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    if (next == source) return true;
    const Op* op = seen.insert(next).second ? kernel.definition(next) : nullptr;
    if (op) each_maker(*op, [&](ValueId operand) { open.push_back(operand); });
  }
  return false;
}

}  // namespace tilec::ir
