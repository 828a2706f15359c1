// The boxes that an engine copies out of parameters and into them: each shape of them is described to the engine once a call.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "layout/engine_rows.h"

namespace tilec::target {

struct BoxAbi {
  int param = 0;
  int swizzle = 0;                // bytes of a line in which 16-byte chunks are permuted; 0: none are
  std::vector<int64_t> extents;   // along the axes of the tensor
  std::optional<Scalar> adds;     // its elements, where they are added to the tensor's
  friend bool operator==(const BoxAbi&, const BoxAbi&) = default;
};

// What the launcher tells the engine of each box's tensor, then whether it could, a byte for each.
constexpr int64_t kDescriptorBytes = 128, kDescriptorAlignment = 64;
constexpr int64_t described_bytes(size_t boxes) { return int64_t(boxes) * (kDescriptorBytes + 1); }

// The array of shared memory that the engine writes, or reads.
layout::EngineRows rows_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy);
layout::EngineRows rows_of(const ir::Kernel& kernel, const ir::op::StoreBox& store);
BoxAbi box_of(const ir::Kernel& kernel, const ir::op::CopyBox& copy);
BoxAbi box_of(const ir::Kernel& kernel, const ir::op::StoreBox& store);
// Those of a launch, each once.
std::vector<BoxAbi> boxes_of(const ir::Kernel& kernel, ir::RegionId launch);

}  // namespace tilec::target
