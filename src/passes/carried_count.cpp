#include "passes/carried_count.h"

#include <algorithm>

#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

void yield_too(Kernel& kernel, RegionId region, ValueId value) {
  kernel.op(kernel.region(region).ops.back()).as<op::Yield>().values.push_back(value);
}

}  // namespace

std::optional<CarriedCount> CarriedCount::between(Kernel& kernel, RegionId outermost, RegionId innermost) {
  CarriedCount count;
  for (RegionId region = innermost; region != outermost;) {
    Nest nest{{}, {}, region};
    each_op_in_region(kernel, outermost, [&](RegionId outer, OpId id) {
      each_region(kernel.op(id).data, [&](RegionId inner) {
        if (inner == region) nest.region = outer, nest.op = id;
      });
    });
    bool is_known = nest.op.valid() && (kernel.op(nest.op).is<op::For>() || kernel.op(nest.op).is<op::If>());
    if (!is_known) return std::nullopt;
    region = nest.region;
    count.nests_.push_back(nest);
  }
  std::ranges::reverse(count.nests_);
  return count;
}

ValueId CarriedCount::open(Kernel& kernel) {
  ValueId count;
  insert_before(kernel, nests_.front().region, first(), [&](Builder& b) { count = b.index(0); });
  for (Nest& nest : nests_) {
    nest.before = count;
    if (!kernel.op(nest.op).is<op::For>()) continue;
    kernel.op(nest.op).as<op::For>().inits.push_back(count);
    count = kernel.new_arg(nest.inner, scalar_type(Scalar::Index), "turns");
  }
  return count;
}

void CarriedCount::close(Kernel& kernel, ValueId after) {
  for (size_t i = nests_.size(); i-- > 0;) {
    const Nest& nest = nests_[i];
    each_region(std::as_const(kernel.op(nest.op).data), [&](RegionId inner) { yield_too(kernel, inner, inner == nest.inner ? after : nest.before); });
    after = add_result(kernel, nest.op, scalar_type(Scalar::Index));
  }
}

}  // namespace tilec::passes
