// A memory layout made for one writer and one reader.
#pragma once
#include <optional>

#include "layout/access.h"

namespace tilec::layout {

// Elements that both sides hold in the same first registers stay together (up to 16 bytes); the lanes of one turn fall
// on different banks for the writer and for the reader. It is built, not searched: coordinates that both sides step
// through get banks first, the others share banks in pairs, one of the writer's with one of the reader's.
// None when the two do not cover the tile by the same bits.
std::optional<MemLayout> swizzle_for(const RegLayout& writer, const RegLayout& reader, int element_bits,
                                     Banks banks = {});

// The same, and one whose units are the neighbours along a row that either side holds first, where the other holds fewer of them
// together. What they cost is for the caller to count.
std::vector<MemLayout> swizzles_for(const RegLayout& writer, const RegLayout& reader, int element_bits, Banks banks = {});

}  // namespace tilec::layout
