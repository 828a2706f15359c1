// Copies that fill shared tiles for readers behind them, and may run before their turn.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace tilec::passes {

struct Fill {
  ir::OpId op;
  ir::ValueId buffer;  // a shared tile, filled by this copy alone
};

// Of one region of a launch: the body of a loop, or one that runs as it stands.
class Fills {
 public:
  // `index`: of the loop, whose value in another round is known there; invalid: there is none.
  Fills(const ir::Kernel& kernel, ir::RegionId launch, ir::RegionId region, ir::ValueId index)
      : kernel_(kernel), launch_(launch), region_(region), index_(index) {}

  // In the order of the region.
  std::vector<Fill> find() const;
  // Made in the region, so that it has another value in another round?
  bool is_inside(ir::ValueId v) const;

 private:
  bool may_run_ahead(ir::OpId id, const ir::op::Copy& copy) const;
  bool fills_all(const ir::op::Copy& copy) const;
  bool is_written(ir::ValueId source) const;
  bool is_known_ahead(const std::vector<ir::ValueId>& values) const;
  bool is_handed_over(ir::OpId copy, ir::ValueId buffer) const;

  const ir::Kernel& kernel_;
  ir::RegionId launch_, region_;
  ir::ValueId index_;
};

// Of the operations of `region` itself, the first (the last) that uses `buffer`, or holds one that does; `but` is none of them.
ir::OpId first_user(const ir::Kernel& kernel, ir::RegionId region, ir::ValueId buffer, ir::OpId but);
ir::OpId last_user(const ir::Kernel& kernel, ir::RegionId region, ir::ValueId buffer, ir::OpId but);

}  // namespace tilec::passes
