// Interned layouts: equality is an integer compare.
#pragma once
#include "base/id.h"

namespace tilec::layout {
using LayoutId = Id<struct LayoutTag>;
struct LayoutTable {};
}  // namespace tilec::layout
