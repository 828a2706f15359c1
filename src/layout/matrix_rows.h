// Instructions that deal rows of shared memory to the lanes of a warp: what of a tile they can fill.
#pragma once
#include <optional>
#include <span>

#include "layout/mem_layout.h"
#include "layout/reg_layout.h"

namespace tilec::layout {

// A matrix is eight rows of 16 bytes, each of which a lane names; each lane gets four bytes of it.
struct MatrixRows {
  RegLayout rows;           // where the row that a lane names begins: lane 8 j + r has row r of matrix j
  int count = 1, each = 1;  // matrices of one instruction; elements of a lane of each
  bool transposed = false;  // a lane's elements lie in rows below each other
};

// How the tile that `reg` spreads over registers is read out of an array that `mem` lays out, its corner at `offsets` along the
// array's last axes; none where some lane would not find its elements in its rows. Elements of 1, 2 or 4 bytes.
std::optional<MatrixRows> matrix_rows(const MemLayout& mem, const RegLayout& reg, int element_bytes, std::span<const int64_t> offsets);

// Turns at the banks that this takes for one warp: one for each matrix whose rows fall on different banks.
int64_t matrix_turns(const MemLayout& mem, const MatrixRows& matrices, int element_bytes, std::span<const int64_t> offsets);

}  // namespace tilec::layout
