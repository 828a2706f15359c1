// Stores that belong to an earlier round of blocks that go on.
#pragma once
#include <string_view>

namespace tilec::ir {

// The label of such a store, which no program can give. Nothing else of the launch touches its elements, they lie inside the tensor, and the
// tensor's rows are known to begin where lanes move as much at once as they can.
constexpr std::string_view kLateStore = "of an earlier round";

}  // namespace tilec::ir
