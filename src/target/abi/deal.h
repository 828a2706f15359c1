// Launches whose blocks take the next number from a counter, whose address is the kernel's last parameter.
#pragma once
#include "ir/kernel.h"

namespace tilec::target {

inline bool takes_blocks(const ir::Kernel& kernel, ir::RegionId launch) {
  bool found = false;
  each_op(kernel, launch, [&](ir::OpId id) { found |= kernel.op(id).is<ir::op::TakeBlock>(); });
  return found;
}

}  // namespace tilec::target
