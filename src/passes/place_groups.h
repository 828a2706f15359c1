// Tiles that must share a layout form a group: what a loop carries, what a map reads and writes at its own index, an
// accumulator and its product. A group takes the layout of the hardest demand in it.
#pragma once
#include <span>

#include "ir/kernel.h"

namespace tilec::passes {

class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) {
    for (size_t i = 0; i < count; ++i) parent_[i] = uint32_t(i);
  }
  uint32_t root(ir::ValueId v) {
    uint32_t i = v.index;
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // Puts together all tiles that one of the operations holds together.
  void unite_all(const ir::Kernel& kernel, std::span<const ir::OpId> ops);

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace tilec::passes
