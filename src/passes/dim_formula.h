// Numbers of a block as formulas over the dims of its kernel.
#pragma once
#include "ir/formula.h"
#include "ir/kernel.h"

namespace tilec::passes {

// Indices of blocks and of loops stand for their mean; what is read from a tensor for what bounds it from above; what is not known for a few.
class DimFormula {
 public:
  DimFormula(const ir::Kernel& kernel, const ir::op::Launch& launch) : kernel_(kernel), launch_(launch) {}
  ir::Formula of(ir::ValueId v) { terms_ = 0; return walk(v); }

 private:
  ir::Formula walk(ir::ValueId v);
  // From a tensor, as it is or bounded by a constant from below?
  bool is_read(ir::ValueId v) const;
  ir::Formula argument(ir::ValueId v);
  ir::Formula binary(const ir::op::Binary& b);

  const ir::Kernel& kernel_;
  const ir::op::Launch& launch_;
  int terms_ = 0;
};

}  // namespace tilec::passes
