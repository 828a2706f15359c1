// What the splitting of a thread-level region needs to know of it.
#pragma once
#include <initializer_list>
#include <map>
#include <set>

#include "ir/kernel.h"

namespace tilec::lower {

bool has_barrier(const ir::Kernel& kernel, const ir::Op& op);

// Which values of a `simt` region may differ from thread to thread: what derives from the thread, lanes, loads, atomics.
class Uniformity {
 public:
  Uniformity(const ir::Kernel& kernel, ir::RegionId body);
  bool is_divergent(ir::ValueId v) const { return divergent_.contains(v); }
  // The branch behind which threads disagree on `v`, or nowhere where they read different numbers.
  Span parting(ir::ValueId v) const {
    auto found = divergent_.find(v);
    return found == divergent_.end() ? Span{} : found->second;
  }

 private:
  bool visit(ir::RegionId region);
  bool visit_while(const ir::Op& op, const ir::op::While& loop);
  bool mark(ir::ValueId v, Span parting);
  Span parting(std::initializer_list<ir::ValueId> values) const;  // of the first that has one
  const ir::Kernel& kernel_;
  std::map<ir::ValueId, Span> divergent_;  // with the parting
};

// The threads of a block as warps that run one after the other.
struct Threads {
  int64_t count, warps;
  ir::ValueId thread;  // the region's argument
  Uniformity uniform;
  std::map<ir::ValueId, ir::ValueId> arrays;  // of values that live across barriers
  std::map<ir::ValueId, int64_t> locals;      // elements a thread of its own arrays
  ir::ValueId warp = {};                      // the warp that runs now
};

}  // namespace tilec::lower
