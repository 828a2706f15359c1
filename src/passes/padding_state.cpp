#include "passes/padding_state.h"

namespace tilec::passes {

using prove::Formula;
using prove::Linear;

Formula Edge::outside(const Linear& coordinate) const {
  Formula above = at_least(coordinate, limit);
  return has_low ? prove::any_of({less(coordinate, first), above}) : above;
}

TileState plain_state(const Numbers& inside, int rank) { return {inside, std::vector<AxisPadding>(rank)}; }

TileState joined(const TileState& a, const TileState& b) {
  if (a.axes.size() != b.axes.size()) return a.inside.kinds ? a : b;
  TileState result{joined(a.inside, b.inside), a.axes};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const AxisPadding &x = a.axes[i], &y = b.axes[i];
    if (!x.is_padded && !y.is_padded) continue;
    AxisPadding& axis = result.axes[i];
    axis = x.is_padded ? x : y;
    if (x.is_padded && y.is_padded && x.edge != y.edge) axis.edge.reset();
    // Where only one is padded, what stands there in the other is no padding.
    if (x.is_padded && y.is_padded) axis.numbers = joined(x.numbers, y.numbers);
  }
  return result;
}

TileState widened(const TileState& before, TileState now, const Numbers& anything) {
  if (now.inside != before.inside) now.inside = joined(now.inside, anything);
  for (size_t i = 0; i < std::min(now.axes.size(), before.axes.size()); ++i) {
    AxisPadding& axis = now.axes[i];
    if (before.axes[i].is_padded && axis.numbers != before.axes[i].numbers) axis.numbers = joined(axis.numbers, anything);
  }
  return now;
}

TileState tainted(TileState state, const Numbers& by) {
  state.inside = joined(state.inside, by);
  for (AxisPadding& axis : state.axes)
    if (axis.is_padded) axis.edge.reset(), axis.numbers = joined(axis.numbers, by);
  return state;
}

TileState part_of(const TileState& state, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result{state.inside, {}};
  for (size_t d = 0; d < state.axes.size(); ++d)
    // One element along a padded dimension may be padding itself.
    if (state.axes[d].is_padded && std::find(axes.begin(), axes.end(), int64_t(d)) == axes.end())
      result.inside = joined(result.inside, state.axes[d].numbers);
  for (int64_t d : axes) {
    AxisPadding axis = state.axes[d];
    if (axis.edge) axis.edge = axis.edge->moved(-offsets[d]);
    result.axes.push_back(axis);
  }
  return result;
}

TileState placed(const TileState& part, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result = plain_state(part.inside, int(offsets.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    AxisPadding& axis = result.axes[axes[k]];
    axis = part.axes[k];
    if (axis.edge) axis.edge = axis.edge->moved(offsets[axes[k]]);
  }
  return result;
}

TileState outlasting(TileState state, const prove::Prover& prover, ir::RegionId loop) {
  for (AxisPadding& axis : state.axes)
    if (axis.edge && (prover.depends_on(axis.edge->first, loop) || prover.depends_on(axis.edge->limit, loop))) axis.edge.reset();
  return state;
}

}  // namespace tilec::passes
