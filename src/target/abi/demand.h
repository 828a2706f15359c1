// What a warp's program needs of each value: all lanes, or the first lane alone. A varying address whose lanes lie a known
// stride apart needs its first lane only; the vector of indices is then never made.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace tilec::target {

struct Demand {
  std::vector<uint8_t> bits;  // by value: kLanes, kFirst
  static constexpr uint8_t kLanes = 1, kFirst = 2;
  bool lanes(ir::ValueId v) const { return bits[v.index] & kLanes; }
  bool first(ir::ValueId v) const { return bits[v.index] & kFirst; }
  bool any(ir::ValueId v) const { return bits[v.index] != 0; }
};
// Is the first lane's index enough to reach what the lanes reach, where they lie a known stride apart?
enum class Addresses : uint8_t { ByFirstLane, OfEachLane };
// Demands inside `region`, and of what it captures.
Demand demand_of(const ir::Kernel& kernel, ir::RegionId region, Addresses addresses = Addresses::ByFirstLane);

// Of operations of the host, for some of what they compute.
Demand demand_of(const ir::Kernel& kernel, const std::vector<ir::OpId>& ops, const std::vector<ir::ValueId>& roots);

// Is an access reached from its first lane's index?
bool starts_at_first_lane(const ir::Type& buffer, const ir::Type& index, int64_t lane_stride);
// Has the operation an effect beyond its results?
bool has_effect(const ir::Op& op);

}  // namespace tilec::target
