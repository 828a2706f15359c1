// The layouts of a matrix product's operands, from that of its accumulator.
#pragma once
#include <vector>

#include "layout/build.h"

namespace tilec::layout {

// How `units` (warps, or groups of them) share an accumulator of rows x columns atoms: along the rows first, then along
// the columns; what is left over computes the same again.
struct Deal {
  int rows = 1, columns = 1, replicas = 1;
};
Deal deal(int units, int row_atoms, int column_atoms);
// The same, so that a unit reads as little of both operands as can be: an atom has `m` rows of the left one and `n` columns of
// the right one. Of equals the one with more rows.
Deal deal_least_read(int units, int row_atoms, int column_atoms, int m, int n);
RegLayout accumulator(const RegLayout& atom, const Shape& shape, Deal deal);

// The steps of the warps beyond the atom's own, read off an accumulator made of `atom`.
std::vector<WarpStep> warp_steps(const RegLayout& accumulator, const RegLayout& atom);
// What each lane holds of the left (m x k) or right (k x n) operand, or of its transpose, when the accumulator's warps compute
// their own parts. `shape` is the operand's as it is written.
enum class Side : uint8_t { Left, Right };
RegLayout operand(const RegLayout& accumulator, const RegLayout& atom_accumulator, const RegLayout& atom_operand, Side side,
                  bool is_transposed, const Shape& shape);
// Does each warp hold the rows (or columns) of the operand, as it is before any transposition, that its accumulators need, in
// registers that are the same for all warps?
bool feeds(const RegLayout& operand, const RegLayout& atom_operand, const RegLayout& accumulator, const RegLayout& atom_accumulator, Side side);

}  // namespace tilec::layout
