// Which way a number goes as an index of its block rises.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// Rises: it never falls, and is not known to stay. Unknown: it may do anything.
enum class Trend : uint8_t { Stays, Rises, Falls, Unknown };
Trend trend_of(const ir::Kernel& kernel, ir::ValueId number, ir::ValueId index);

}  // namespace tilec::passes
