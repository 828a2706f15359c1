// Arrays of shared memory as engines know them, which copy boxes and multiply matrices without asking a thread for addresses.
#pragma once
#include <optional>

#include "layout/mem_layout.h"

namespace tilec::layout {

// Rows of `width` elements one behind the other, their 16-byte chunks permuted by the row in lines of `swizzle` bytes (0: as they
// come); `count` such panels side by side, `panel` elements apart, make the rows of the array. Leading axes stack whole arrays.
struct EngineRows {
  int swizzle = 0;
  int width = 0;
  int count = 1;
  int64_t panel = 0;
};

// None: engines do not know this layout. Of an array of one axis it is the only row.
std::optional<EngineRows> engine_rows(const MemLayout& layout, int element_bits);

// The axis along which a region of whole rows falls into `parts` equal ones, each of which engines can move by itself. None: there is
// no such axis.
std::optional<size_t> split_axis(const std::vector<int64_t>& region, const EngineRows& rows, int element_bits, int64_t parts);

}  // namespace tilec::layout
