#include "passes/uses.h"

namespace tilec::passes {

using namespace ir;

bool uses(const Kernel& kernel, OpId id, ValueId v) {
  bool found = false;
  auto look = [&](OpId one) { each_operand(kernel.op(one).data, [&](ValueId used) { found |= used == v; }); };
  look(id);
  each_region(kernel.op(id).data, [&](RegionId inner) { each_op(kernel, inner, look); });
  return found;
}

}  // namespace tilec::passes
