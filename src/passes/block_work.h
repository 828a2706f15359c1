// What the operations of a launch ask of the units of a core, in clocks; `estimate` adds them up, `schedule` asks how long a turn takes.
#pragma once
#include "machine/machine.h"
#include "passes/block_axes.h"
#include "passes/dim_formula.h"

namespace tilec::passes {

// What a block, or a turn of one of its loops, asks of each unit, in clocks of a core that does nothing else.
struct Work {
  ir::Formula products, caches, lanes, waits;
  ir::Formula moved;  // of the caches when all cores ask at once, where clusters have no more blocks than the launch
  ir::Formula first;  // waited more for what other blocks have not read, and for lines of which the engine takes a part

  Work& operator+=(const Work& other);
  Work times(const ir::Formula& n) const { return {products * n, caches * n, lanes * n, waits * n, moved * n, first * n}; }
  ir::Formula greatest() const { return max(max(products, caches), lanes); }
  ir::Formula sum() const { return products + caches + lanes; }
};

class BlockWork {
 public:
  BlockWork(const ir::Kernel& kernel, const ir::op::Launch& launch, const Machine& machine);

  DimFormula& dims() { return dims_; }
  double blocks_of_a_core() const;  // that fit
  Work of(ir::OpId id);             // without what its regions ask for
  bool is_far(ir::ValueId buffer) const { return kernel_.param_of(buffer); }
  double bytes(ir::ValueId v) const;

 private:
  double elements(ir::ValueId v) const { return double(kernel_.type(v).element_count()); }
  double lanes_at_work() const;
  void fill(Work& work, double size, uint64_t depends);
  ir::Formula straddling(const ir::op::Copy& copy);
  ir::Formula readers(uint64_t depends);
  double clocks_of(const ir::op::Gemm& gemm) const;
  double versions_of(ir::ValueId tile) const;

  const ir::Kernel& kernel_;
  const ir::op::Launch& launch_;
  const Machine& machine_;
  const Pace& pace_;
  DimFormula dims_;
  BlockAxes axes_;
  double warps_ = 1;
};

}  // namespace tilec::passes
