// Shared tiles through which an engine stores what warps hold, each its own rows.
#pragma once
#include "ir/kernel.h"

namespace tilec::ir {

// Rows of a tile in registers that each warp holds alone and as a whole: warp w has those from w times as many on. 0: rows are not
// dealt so, or an engine cannot begin at them.
int64_t rows_of_a_warp(const layout::RegLayout& layout);

// The same of a shared tile that goes on from round to round of a loop, if only stores of all of it write it, and nobody reads it but an
// engine's copy behind each of them: then warps need not meet for it. 0: it is no such tile.
int64_t rows_of_own(const Kernel& kernel, ValueId buffer);

// Of other such tiles of the same type: so many are sent, at the least, between the last copy from the tile that `store` writes, wherever that
// stands, and the store.
int64_t sent_since(const Kernel& kernel, const op::Store& store);

}  // namespace tilec::ir
