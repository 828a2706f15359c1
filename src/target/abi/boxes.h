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
  bool is_packed = false;         // a tensor that does not suit the engine is copied into rows that do before the launch
  friend bool operator==(const BoxAbi&, const BoxAbi&) = default;
};

// The function of an image that makes such copies, and the threads of its blocks. It takes a struct of 64-bit words by value: the
// addresses that it copies from and to, bytes of a row, units of 16 bytes of a row of the copy and of all rows, where the tensor's memory
// begins and ends, whether its rows have one axis, then four extents and four strides in bytes, that of the rows' fastest axis first.
// Each turn of a block copies kPackSteps units a thread.
constexpr const char* kPackName = "tile_pack";
constexpr int kPackThreads = 256, kPackSteps = 2, kPackAxes = 4, kPackWords = 8 + 2 * kPackAxes;

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
bool has_packed_boxes(const ir::Kernel& kernel);

}  // namespace tilec::target
