// `for (i, j) in parallel(M, N) { ... }`: one map over the loop's indices.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

// The loop that is being built around this place.
struct Parallel {
  // A fragment that the loop writes: `cell` is its element at this iteration's indices.
  struct Cell {
    VariableId fragment, cell;
    ir::Axes axes;  // for each axis of the fragment the loop index that it is written at
    ir::ValueId before;
  };
  ir::RegionId region;
  std::vector<std::string_view> names;
  std::vector<ir::ValueId> indices;
  Shape extents;
  std::vector<Elementwise::Input> inputs;
  std::vector<Cell> cells;
};

// `s[r, c]` when `s` is a fragment: its element at the loop's indices. None when it is no fragment.
std::optional<Value> fragment_element(Instance& in, const ast::Index& index, Span span);
// The variable that holds `s[r, c]`, where the loop writes that element of a fragment.
std::optional<VariableId> cell_named(Instance& in, const ast::Expr& expr);
// `s[r, c] = value`; false when `s` is no fragment.
bool assign_fragment_element(Instance& in, const ast::Index& index, const ast::Assign& node, Span span);
// The iterations of a finished map must be independent of each other. Reports where they provably are not, or reads and
// writes of one buffer differ.
void check_independence(Instance& in, ir::RegionId region, const Shape& extents);  // parallel_check.cpp
// What an atomic found is another thing in each order of the iterations: reports where it is used. For a map with its yield.
void check_atomics(Instance& in, ir::RegionId region);  // parallel_check.cpp

}  // namespace tilec::sema
