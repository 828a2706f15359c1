// May two buffers be the same memory?
#pragma once
#include "ir/kernel.h"

namespace tilec::ir {

// The allocation or parameter behind any views.
ValueId root_buffer(const Kernel& kernel, ValueId buffer);

// One memory, or two parameters of which one is marked `alias` and one is written.
bool may_overlap(const Kernel& kernel, ValueId a, ValueId b);

// A parameter of which no part changes while the kernel runs.
bool is_never_written(const Kernel& kernel, ValueId buffer);

}  // namespace tilec::ir
