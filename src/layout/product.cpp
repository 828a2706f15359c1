#include "layout/product.h"

#include <algorithm>
#include <map>

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

namespace {

// The bits of the shared axis beyond the atom's, dealt as the accumulator deals them: to the same warps, the rest to registers.
RegLayout dealt_alike(RegLayout plain, const RegLayout& atom, const RegLayout& accumulator, int axis) {
  Vec along = axis_mask(2, axis), of_atom = (Vec{1} << atom.bits(axis)) - 1;
  auto is_repeat = [&](Vec v) { return (v & along) != 0 && (axis_part(v, 2, axis) & of_atom) == 0; };
  Basis repeats;
  std::copy_if(accumulator.reg.begin(), accumulator.reg.end(), std::back_inserter(repeats), is_repeat);
  std::sort(repeats.begin(), repeats.end());
  bool has_places = plain.warp.size() == accumulator.warp.size() && std::ranges::count_if(plain.reg, is_repeat) == std::ssize(repeats);
  if (!has_places) return plain;
  for (size_t bit = atom.warp.size(); bit < plain.warp.size(); ++bit) plain.warp[bit] = accumulator.warp[bit] & along;
  auto next = repeats.begin();
  for (Vec& v : plain.reg)
    if (is_repeat(v)) v = *next++;
  return plain;
}

}  // namespace

RegLayout operand(const RegLayout& accumulator, const RegLayout& atom_accumulator, const RegLayout& atom_operand, Side side,
                  bool is_transposed, const Shape& shape) {
  constexpr std::array kSwap{1, 0};
  int follows = side == Side::Left ? 0 : 1;  // the accumulator's axis that the operand shares, which it has at the same place
  std::vector<WarpStep> steps;
  for (const WarpStep& step : warp_steps(accumulator, atom_accumulator)) steps.push_back({step.axis == follows ? follows : kReplica, step.count});
  RegLayout plain = tiled(atom_operand, is_transposed ? Shape{shape[1], shape[0]} : shape, steps);
  plain = dealt_alike(std::move(plain), atom_operand, accumulator, follows);
  return is_transposed ? normalized(transpose(plain, kSwap)) : plain;
}

bool feeds(const RegLayout& operand, const RegLayout& atom_operand, const RegLayout& accumulator, const RegLayout& atom_accumulator, Side side) {
  int follows = side == Side::Left ? 0 : 1;
  auto held = divide(operand, atom_operand), needed = divide(accumulator, atom_accumulator);
  if (!held || !needed || held->rest.warps() != needed->rest.warps()) return false;
  std::map<int, int64_t> repeat_at;
  for (int64_t repeat = 0; repeat < held->rest.registers(); ++repeat) repeat_at.emplace(held->rest.coordinate(repeat, 0, 0)[follows], repeat);
  for (int64_t repeat = 0; repeat < needed->rest.registers(); ++repeat) {
    auto found = repeat_at.find(needed->rest.coordinate(repeat, 0, 0)[follows]);
    if (found == repeat_at.end()) return false;
    for (int warp = 0; warp < needed->rest.warps(); ++warp)
      if (held->rest.coordinate(found->second, 0, warp)[follows] != needed->rest.coordinate(repeat, 0, warp)[follows]) return false;
  }
  return true;
}

}  // namespace tilec::layout
