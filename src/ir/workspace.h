// What holds of memory that a call hands its launches.
#pragma once
#include <cstdint>

namespace tilec::ir {

// Bytes, of whose multiples each workspace begins at one: TILE_WORKSPACE_ALIGNMENT of the support code.
constexpr int64_t kWorkspaceAlignment = 256;

}  // namespace tilec::ir
