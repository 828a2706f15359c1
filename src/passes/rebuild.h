// The walk that rewriting passes share: regions are rebuilt operation by operation, in order, through one Builder.
//
// A rewrite is asked about every operation, whose operands are already the new ones. It either builds what stands in
// its place and binds its results, or keeps it. Regions of a kept operation are rewritten as well.
#pragma once
#include "ir/builder.h"

namespace tilec::passes {

class Rebuilder {
 public:
  explicit Rebuilder(ir::Kernel& kernel) : kernel_(kernel), builder_(kernel, kernel.body) {}
  virtual ~Rebuilder() = default;
  void run();

 protected:
  // Inheritance, because the walk and the rewrite call each other at every region.
  // True: the operation was replaced (its results are bound, or unused). False: it stays.
  virtual bool rewrite(ir::OpId id) = 0;
  // Entered after a region's arguments exist and left before the operations after it: for what is known only inside.
  virtual void enter_region() {}
  virtual void leave_region() {}

  void rebuild_region(ir::RegionId region);
  // The operations of a region, rewritten in place into the region that is being built; gives what its yield yields.
  std::vector<ir::ValueId> splice(ir::RegionId region);
  void bind(ir::ValueId from, ir::ValueId to);
  ir::ValueId current(ir::ValueId v) const { return v.index < to_.size() && to_[v.index].valid() ? to_[v.index] : v; }

  ir::Kernel& kernel_;
  ir::Builder builder_;

 private:
  void rebuild_op(ir::OpId id);
  std::vector<ir::ValueId> to_;  // by old value; invalid: itself
};

}  // namespace tilec::passes
