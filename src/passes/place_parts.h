// Parts of register tiles: the layout in which a part is read and written without leaving its lane, and what else to do.
#pragma once
#include <map>

#include "ir/kernel.h"
#include "layout/reg_layout.h"

namespace tilec::passes {

// What an index is known to be a multiple of; 0 for zero. Loop variables are multiples of what their loop begins with and
// steps by.
class Divisors {
 public:
  Divisors(const ir::Kernel& kernel, ir::RegionId body);
  int64_t of(ir::ValueId index) const;

 private:
  const ir::Kernel& kernel_;
  std::map<ir::RegionId, ir::OpId> loop_of_;  // by body
  mutable std::map<ir::ValueId, int64_t> known_;
  int64_t derive(ir::ValueId index) const;
};

// A part of `tile`: offsets along all its axes, and for each axis of the part the tile's. None where its elements lie in
// other lanes than those that the part would have them in.
struct PartOfTile {
  ir::ValueId tile;
  const std::vector<ir::ValueId>& offsets;
  const ir::Axes& axes;
  const std::vector<int64_t>& shape;
};
std::optional<layout::RegLayout> part_layout(const ir::Kernel& kernel, const Divisors& divisors, const PartOfTile& part,
                                             const layout::RegLayout& tile);

// Makes an `extract` or `insert` a load from a shared tile that holds the whole one.
void go_through_memory(ir::Kernel& kernel, ir::RegionId region, ir::OpId id);

}  // namespace tilec::passes
