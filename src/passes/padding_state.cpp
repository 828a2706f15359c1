#include "passes/padding_state.h"

namespace tilec::passes {

using prove::Formula;
using prove::Linear;

Formula Edge::outside(const Linear& coordinate) const {
  Formula above = at_least(coordinate, limit);
  return has_low ? prove::any_of({less(coordinate, first), above}) : above;
}

Formula outside(const Edges& edges, const Linear& coordinate) {
  std::vector<Formula> any;
  for (const Edge& edge : edges) any.push_back(edge.outside(coordinate));
  return prove::any_of(std::move(any));
}

TileState plain_state(const Known& inside, int rank, bool is_uniform) {
  return {inside, {}, is_uniform || inside.sure.exact, std::vector<AxisPadding>(rank)};
}

namespace {

// Of a tile that is padded along the axis and of one that is not: what stands there in that one is no padding. What is the same number
// everywhere could as well end at the edge.
AxisPadding joined_with_plain(AxisPadding axis, const AxisPadding& plain, const TileState& tile) {
  if (axis.kind == PaddingKind::First && plain.reach != Reach::Touched) axis.reach = Reach::Maybe;
  if (tile.is_uniform) axis.plain = joined(axis.plain, tile.inside);
  else axis.is_filled = false;
  return axis;
}

AxisPadding joined(const AxisPadding& a, const AxisPadding& b) {
  AxisPadding axis = a;
  if (a.edges != b.edges) axis.lose_edges();
  axis.is_filled &= b.is_filled;
  axis.is_as_read &= b.is_as_read;
  axis.numbers = joined(a.numbers, b.numbers);
  axis.plain = joined(a.plain, b.plain);
  if (a.kind != b.kind) axis.kind = PaddingKind::Read;
  if (a.reach != b.reach) axis.reach = Reach::Maybe;
  return axis;
}

}  // namespace

TileState of_product(TileState state) {
  state.inside = of_product(state.inside);
  if (state.corner.is_some()) state.corner = of_product(state.corner);
  for (AxisPadding& axis : state.axes)
    if (axis.is_padded) axis.numbers = of_product(axis.met()), axis.plain = {};
  return state;
}

TileState joined(const TileState& a, const TileState& b) {
  if (a.axes.size() != b.axes.size()) return a.inside.is_some() ? a : b;
  TileState result{joined(a.inside, b.inside), joined(a.corner, b.corner), a.is_uniform && b.is_uniform, a.axes};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const AxisPadding &x = a.axes[i], &y = b.axes[i];
    if (x.is_padded && y.is_padded) result.axes[i] = joined(x, y);
    else if (x.is_padded) result.axes[i] = joined_with_plain(x, y, b);
    else if (y.is_padded) result.axes[i] = joined_with_plain(y, x, a);
    else if (x.reach != y.reach) result.axes[i].reach = Reach::Maybe;
  }
  return result;
}

TileState joined_in_parts(const TileState& rest, const TileState& part, const std::vector<bool>& covers) {
  TileState result = joined(rest, part);
  result.is_uniform = result.inside.sure.exact.has_value();
  for (size_t i = 0; i < std::min(rest.axes.size(), part.axes.size()); ++i) {
    AxisPadding& axis = result.axes[i];
    if (!axis.is_padded) continue;
    // Beyond the edge, padding and elements lie side by side along another axis.
    bool is_mixed = false;
    for (size_t other = 0; other < covers.size(); ++other) is_mixed |= other != i && !covers[other];
    if (!rest.axes[i].is_padded || !part.axes[i].is_padded) axis.is_filled &= covers[i];
    const AxisPadding &x = rest.axes[i], &y = part.axes[i];
    const bool is_same = x.is_padded && y.is_padded && x.edges == y.edges;
    if (is_mixed) axis.numbers = axis.met();
    if (is_mixed && !is_same && x.is_padded) axis.numbers = joined(axis.numbers, part.inside);
    if (is_mixed && !is_same && y.is_padded) axis.numbers = joined(axis.numbers, rest.inside);
    axis.plain = {};
  }
  return result;
}

TileState widened(const TileState& before, TileState now, const Known& anything) {
  if (now.inside != before.inside) now.inside = joined(now.inside, anything);
  if (now.corner != before.corner) now.corner = joined(now.corner, anything);
  for (size_t i = 0; i < std::min(now.axes.size(), before.axes.size()); ++i) {
    AxisPadding& axis = now.axes[i];
    if (before.axes[i].is_padded && (axis.numbers != before.axes[i].numbers || axis.plain != before.axes[i].plain))
      axis.numbers = joined(axis.numbers, anything);
  }
  return now;
}

TileState tainted(TileState state, const Known& by) {
  state.inside = joined(state.inside, by), state.is_uniform = false;
  if (state.corner.is_some()) state.corner = joined(state.corner, by);
  for (AxisPadding& axis : state.axes)
    if (axis.is_padded) {
      axis.lose_edges(), axis.is_as_read = false, axis.kind = PaddingKind::Read;
      axis.numbers = joined(axis.met(), by), axis.plain = {};
    }
  return state;
}

TileState part_of(const TileState& state, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result{state.inside, state.corner, state.is_uniform, {}};
  for (size_t d = 0; d < state.axes.size(); ++d)
    // One element along a padded dimension may be padding itself.
    if (state.axes[d].is_padded && std::find(axes.begin(), axes.end(), int64_t(d)) == axes.end())
      result.inside = joined(result.inside, state.axes[d].met());
  for (int64_t d : axes) {
    AxisPadding axis = state.axes[d];
    for (Edge& edge : axis.edges) edge = edge.moved(-offsets[d]);
    result.axes.push_back(axis);
  }
  return result;
}

TileState placed(const TileState& part, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result = plain_state(part.inside, int(offsets.size()), part.is_uniform);
  result.corner = part.corner;
  for (size_t k = 0; k < axes.size(); ++k) {
    AxisPadding& axis = result.axes[axes[k]];
    axis = part.axes[k];
    for (Edge& edge : axis.edges) edge = edge.moved(offsets[axes[k]]);
  }
  return result;
}

std::vector<int64_t> sizes_along(int rank, const ir::Axes& axes, std::span<const int64_t> shape) {
  std::vector<int64_t> sizes(size_t(rank), 1);
  for (size_t k = 0; k < axes.size(); ++k) sizes[size_t(axes[k])] = shape[k];
  return sizes;
}

bool hangs_on(const Edges& edges, const prove::Prover& prover, ir::RegionId loop) {
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return prover.depends_on(edge.limit, loop) || (edge.has_low && prover.depends_on(edge.first, loop));
  });
}

TileState outlasting(TileState state, prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting) {
  for (AxisPadding& axis : state.axes) {
    if (!hangs_on(axis.edges, prover, loop)) continue;
    // If something was brought in each turn, it was in the first.
    bool may_stay = axis.kind == PaddingKind::First && axis.reach == Reach::Touched && counting && !axis.has_low();
    for (Edge& edge : axis.edges) {
      may_stay = may_stay && edge.limit.factor_of(counting->index) < 0;
      if (may_stay) edge.limit = prove::substitute(edge.limit, counting->index, counting->low), edge.first = 0;
    }
    if (!may_stay || hangs_on(axis.edges, prover, loop)) axis.lose_edges();
  }
  return state;
}

}  // namespace tilec::passes
