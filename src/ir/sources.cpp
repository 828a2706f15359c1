#include "ir/sources.h"

namespace tilec::ir {

void each_source(const Kernel& kernel, ValueId v, std::set<ValueId>& seen, const std::function<void(ValueId)>& f) {
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    f(next);
    if (const Op* op = kernel.definition(next)) each_operand(op->data, [&](ValueId operand) { open.push_back(operand); });
  }
}

void each_source(const Kernel& kernel, ValueId v, const std::function<void(ValueId)>& f) {
  std::set<ValueId> seen;
  each_source(kernel, v, seen, f);
}

bool depends_on(const Kernel& kernel, ValueId v, ValueId source) {
  bool found = false;
  each_source(kernel, v, [&](ValueId x) { found |= x == source; });
  return found;
}

}  // namespace tilec::ir
