// Boxes of a buffer, and whether some cover another.
#pragma once
#include "passes/region.h"

namespace tilec::passes {

// The elements from low[d] to low[d] + size[d] - 1 along every dimension.
struct Area {
  std::vector<prove::Linear> low;
  std::vector<int64_t> size;
  friend bool operator==(const Area&, const Area&) = default;
};

Area whole_area(const ir::Type& buffer);
// The area of the underlying buffer that an area of a view is; `buffer` becomes that buffer.
Area in_buffer(prove::Prover& prover, const ir::Kernel& kernel, ir::ValueId& buffer, Area area);

// Is every element of `needed` that a buffer of these extents has in one of `areas`, at a place where the facts hold?
bool covers(prove::Prover& prover, const prove::Facts& facts, std::span<const int64_t> extents, std::span<const Area> areas,
            const Area& needed);

// What an area written in every turn of an index from `first` to `last` in steps covers together; nothing where they leave
// gaps or the shape is not a box.
struct Turns {
  prove::Linear index;
  int64_t first, last, step;
};
std::optional<Area> over_turns(const Area& area, const Turns& turns);

}  // namespace tilec::passes
