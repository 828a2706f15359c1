#include "layout/product.h"

#include "layout/transform.h"

namespace tilec::layout {

namespace {

// The largest divisor of `units` that divides `atoms`, or, when none but one does, that does not exceed it.
int share(int units, int atoms) {
  for (int n = units; n > 1; --n)
    if (units % n == 0 && atoms % n == 0) return n;
  for (int n = units; n > 1; --n)
    if (units % n == 0 && n <= atoms) return n;
  return 1;
}

}  // namespace

Deal deal(int units, int row_atoms, int column_atoms) {
  Deal result;
  result.rows = share(units, row_atoms);
  result.columns = share(units / result.rows, column_atoms);
  result.replicas = units / result.rows / result.columns;
  return result;
}

Deal deal_least_read(int units, int row_atoms, int column_atoms, int m, int n) {
  auto share_of = [](int atoms, int count) { return (atoms + count - 1) / count; };
  Deal best = deal(units, row_atoms, column_atoms);
  auto read = [&](const Deal& d) { return share_of(row_atoms, d.rows) * m + share_of(column_atoms, d.columns) * n; };
  for (int rows = best.rows - 1; rows > 0; --rows) {
    if (units % rows) continue;
    Deal other{.rows = rows, .columns = share(units / rows, column_atoms)};
    other.replicas = units / other.rows / other.columns;
    if (other.replicas <= best.replicas && read(other) < read(best)) best = other;
  }
  return best;
}

RegLayout accumulator(const RegLayout& atom, const Shape& shape, Deal deal) {
  std::vector<WarpStep> steps;
  for (WarpStep step : {WarpStep{0, deal.rows}, WarpStep{1, deal.columns}, WarpStep{kReplica, deal.replicas}})
    if (step.count > 1) steps.push_back(step);
  return tiled(atom, shape, steps);
}

std::vector<WarpStep> warp_steps(const RegLayout& accumulator, const RegLayout& atom) {
  std::vector<WarpStep> steps;
  for (size_t bit = atom.warp.size(); bit < accumulator.warp.size(); ++bit) {
    Vec v = accumulator.warp[bit];
    int axis = v == 0 ? kReplica : axis_part(v, 2, 0) ? 0 : 1;
    steps.push_back({axis, 2});
  }
  for (const Grid& grid : accumulator.grids)
    if (grid.place == GridPlace::Warp) steps.push_back({grid.axis, grid.count});
  return steps;
}

RegLayout operand(const RegLayout& accumulator, const RegLayout& atom_accumulator, const RegLayout& atom_operand, Side side,
                  bool is_transposed, const Shape& shape) {
  constexpr std::array kSwap{1, 0};
  int follows = side == Side::Left ? 0 : 1;  // the accumulator's axis that the operand shares, which it has at the same place
  std::vector<WarpStep> steps;
  for (const WarpStep& step : warp_steps(accumulator, atom_accumulator)) steps.push_back({step.axis == follows ? follows : kReplica, step.count});
  RegLayout plain = tiled(atom_operand, is_transposed ? Shape{shape[1], shape[0]} : shape, steps);
  return is_transposed ? normalized(transpose(plain, kSwap)) : plain;
}

}  // namespace tilec::layout
