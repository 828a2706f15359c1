// Which indices of its block a number of a launch depends on.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace tilec::passes {

// Sets of axes of a launch, a bit for each. Blocks of a cluster that go on from block to block do so together: the number of a block
// depends on no axis, and its indices depend on one each.
class BlockAxes {
 public:
  BlockAxes(const ir::Kernel& kernel, const ir::op::Launch& launch);
  uint64_t of(ir::ValueId v) const { return axes_[v.index]; }
  uint64_t of(const std::vector<ir::ValueId>& values) const;
  // What decides whether, or how often, the operations of a region run.
  uint64_t control_of(ir::RegionId region) const { return control_[region.index]; }

 private:
  bool visit(ir::RegionId region, uint64_t control);
  bool visit(const ir::Op& op, uint64_t control);
  bool add(ir::ValueId v, uint64_t axes);

  const ir::Kernel& kernel_;
  std::vector<uint64_t> axes_, control_;
};

}  // namespace tilec::passes
