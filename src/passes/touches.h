// Which memory an operation reads and writes.
#pragma once
#include "ir/kernel.h"
#include "ir/overlap.h"

namespace tilec::passes {

struct MemoryTouch {
  ir::ValueId buffer;  // the allocation or parameter behind any views
  bool writes = false;
};

// Of the operation itself and, for one that runs as a unit (a map, thread-level code), of everything inside it.
std::vector<MemoryTouch> touches_of(const ir::Kernel& kernel, ir::OpId op);

}  // namespace tilec::passes
