#include "passes/rebuild.h"

#include "passes/cleanup.h"

namespace tilec::passes {

using ir::OpId;
using ir::RegionId;
using ir::ValueId;

void Rebuilder::run() {
  rebuild_region(kernel_.body);
  remap_interface(kernel_, [this](ValueId v) { return current(v); });
}

void Rebuilder::bind(ValueId from, ValueId to) {
  const ir::Type &old_type = kernel_.type(from), &new_type = kernel_.type(to);
  if (old_type.varying && !new_type.varying) {  // a folded constant is uniform; who asked for lanes gets lanes
    if (!kernel_.constant(to)) to = builder_.value(ir::op::Convert{to}, old_type);
  }
  if (from.index >= to_.size()) to_.resize(kernel_.values.size());
  to_[from.index] = to;
}

void Rebuilder::rebuild_op(OpId id) {
  ir::each_operand(kernel_.op(id).data, [&](ValueId& v) { v = current(v); });
  builder_.set_span(kernel_.op(id).span);
  if (rewrite(id)) return;
  kernel_.region(builder_.region()).ops.push_back(id);
  std::vector<RegionId> regions;
  ir::each_region(kernel_.op(id).data, [&](RegionId r) { regions.push_back(r); });
  for (RegionId r : regions) rebuild_region(r);
}

void Rebuilder::rebuild_region(RegionId region) {
  RegionId outer = builder_.region();
  std::vector<OpId> ops = std::move(kernel_.region(region).ops);
  kernel_.region(region).ops.clear();
  builder_.set_region(region);
  enter_region();
  for (OpId id : ops) rebuild_op(id);
  leave_region();
  builder_.set_region(outer);
}

std::vector<ValueId> Rebuilder::splice(RegionId region) {
  std::vector<OpId> ops = std::move(kernel_.region(region).ops);
  kernel_.region(region).ops.clear();
  std::vector<ValueId> yielded;
  for (OpId id : ops) {
    if (const auto* yield = kernel_.op(id).get<ir::op::Yield>()) {
      for (ValueId v : yield->values) yielded.push_back(current(v));
    } else {
      rebuild_op(id);
    }
  }
  return yielded;
}

}  // namespace tilec::passes
