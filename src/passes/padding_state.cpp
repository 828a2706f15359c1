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
  for (const Beyond& beyond : edges) {
    std::vector<Formula> all;
    for (const Edge& edge : beyond) all.push_back(edge.outside(coordinate));
    any.push_back(prove::all_of(std::move(all)));
  }
  return prove::any_of(std::move(any));
}

void unite(Edges& edges, const Edges& others) {
  for (const Beyond& beyond : others)
    if (std::ranges::find(edges, beyond) == edges.end()) edges.push_back(beyond);
}

TileState plain_state(const Known& inside, size_t rank, bool is_free) {
  return {inside, {}, std::vector<AxisPadding>(rank + 1, AxisPadding{.is_free = is_free})};
}

void meet(AxisPadding& axis, const AxisPadding& other) {
  if (!axis.is_padded) return void(axis = other);
  axis.is_filled &= other.is_filled && !other.edges.empty() && !axis.edges.empty();
  axis.is_scanned &= other.is_scanned;
  unite(axis.edges, other.edges);
  if (axis.kind != other.kind) axis.kind = PaddingKind::Mixed, axis.told = joined(axis.set_by_program(), other.set_by_program());
  axis.lapsed.insert(other.lapsed.begin(), other.lapsed.end());
  if (!axis.is_filled) axis.lose_edges();
  axis.numbers = joined(axis.numbers, other.numbers), axis.plain = joined(axis.plain, other.plain);
}

namespace {

// Of a tile that is padded along the axis and of one that is not: what stands there in that one is no padding. What is the same number
// everywhere could as well end at the edge.
AxisPadding joined_with_plain(AxisPadding axis, const AxisPadding& plain, const TileState& tile) {
  if (plain.is_free) axis.plain = joined(axis.plain, tile.inside);
  else axis.is_filled = false;
  return axis;
}

AxisPadding joined(const AxisPadding& a, const AxisPadding& b) {
  AxisPadding axis = a;
  if (a.edges != b.edges) axis.lose_edges();
  axis.is_filled &= b.is_filled;
  axis.is_as_read &= b.is_as_read, axis.is_scanned &= b.is_scanned;
  axis.numbers = joined(a.numbers, b.numbers);
  axis.plain = joined(a.plain, b.plain);
  auto is = [&](PaddingKind kind) { return a.kind == kind || b.kind == kind; };
  // What was set and what is free stand both, and are refused where they would count.
  if (a.kind != b.kind) axis.kind = is(PaddingKind::Free) && is(PaddingKind::Set) ? PaddingKind::Set : PaddingKind::Mixed;
  if (axis.kind == PaddingKind::Mixed) axis.told = joined(a.set_by_program(), b.set_by_program());
  if (a.at_first.empty()) axis.at_first = b.at_first, axis.loop = b.loop;
  else if (!b.at_first.empty() && (b.at_first != a.at_first || b.loop != a.loop)) axis.lose_edges();
  if (axis.edges.empty()) axis.at_first.clear();
  axis.lapsed.insert(b.lapsed.begin(), b.lapsed.end());
  return axis;
}

AxisPadding joined_unpadded(const AxisPadding& x, const Known& a, const AxisPadding& y, const Known& b) {
  AxisPadding axis{.is_free = x.is_free && y.is_free, .may_be_free = x.may_be_free || y.may_be_free || x.is_free != y.is_free};
  if (!axis.may_be_free) return axis;
  axis.plain = joined(x.is_free ? a : x.plain, y.is_free ? b : y.plain);
  return axis;
}

}  // namespace

TileState of_product(TileState state) {
  state.inside = of_product(state.inside);
  if (state.corner.is_some()) state.corner = of_product(state.corner);
  for (AxisPadding& axis : state.axes)
    if (axis.is_padded) axis.numbers = of_product(axis.met()), axis.told = axis.told.is_some() ? axis.numbers : Known(), axis.plain = {};
  return state;
}

Known facing(const TileState& other, const AxisPadding& axis) {
  return axis.is_padded ? joined(ordinary(other.inside), axis.met()) : ordinary(other.inside);
}

TileState joined(const TileState& a, const TileState& b) {
  if (a.axes.size() != b.axes.size()) return a.inside.is_some() ? a : b;
  TileState result{joined(a.inside, b.inside), joined(a.corner, b.corner), a.axes};
  for (size_t i = 0; i < a.axes.size(); ++i) {
    const AxisPadding &x = a.axes[i], &y = b.axes[i];
    AxisPadding& axis = result.axes[i];
    if (x.is_padded && y.is_padded) axis = joined(x, y);
    else if (x.is_padded) axis = joined_with_plain(x, y, b);
    else if (y.is_padded) axis = joined_with_plain(y, x, a);
    else axis = joined_unpadded(x, a.inside, y, b.inside);
  }
  return result;
}

TileState joined_in_parts(const TileState& rest, const TileState& part, const std::vector<bool>& covers) {
  TileState result = joined(rest, part);
  const bool covers_all = std::ranges::find(covers, false) == covers.end();
  for (size_t i = 0; i < std::min(rest.axes.size(), part.axes.size()); ++i) {
    AxisPadding& axis = result.axes[i];
    const bool is_covered = i < covers.size() ? covers[i] : covers_all;
    if (!axis.is_padded && !is_covered) axis.is_free = axis.may_be_free = false, axis.plain = {};
    if (!axis.is_padded) continue;
    // Beyond the edge, padding and elements lie side by side along another axis.
    bool is_mixed = false;
    for (size_t other = 0; other < covers.size(); ++other) is_mixed |= other != i && !covers[other];
    if (!rest.axes[i].is_padded || !part.axes[i].is_padded) axis.is_filled &= is_covered;
    const AxisPadding &x = rest.axes[i], &y = part.axes[i];
    const bool is_same = x.is_padded && y.is_padded && x.edges == y.edges;
    if (is_mixed) axis.numbers = axis.met();
    if (is_mixed && !is_same && x.is_padded) axis.numbers = joined(axis.numbers, part.inside);
    if (is_mixed && !is_same && y.is_padded) axis.numbers = joined(axis.numbers, rest.inside);
    axis.plain = {};
    if (is_covered || !(x.is_free || y.is_free)) continue;
    axis.may_be_free = true, axis.plain = x.is_free ? rest.inside : part.inside;
  }
  return result;
}

TileState widened(const TileState& before, TileState now, const Known& anything) {
  if (now.inside != before.inside) now.inside = joined(now.inside, anything);
  if (now.corner != before.corner) now.corner = joined(now.corner, anything);
  for (size_t i = 0; i < std::min(now.axes.size(), before.axes.size()); ++i) {
    AxisPadding& axis = now.axes[i];
    if (before.axes[i].is_padded && (axis.edges != before.axes[i].edges || axis.at_first != before.axes[i].at_first)) axis.lose_edges();
    if (before.axes[i].is_padded && before.axes[i].edges.empty()) axis.lose_edges();
    if (before.axes[i].is_padded && (axis.numbers != before.axes[i].numbers || axis.plain != before.axes[i].plain))
      axis.numbers = joined(axis.numbers, anything);
    if (axis.told != before.axes[i].told && before.axes[i].told.is_some()) axis.told = joined(axis.told, anything);
  }
  return now;
}

TileState tainted(TileState state, const Known& by) {
  state.inside = joined(state.inside, by);
  if (state.corner.is_some()) state.corner = joined(state.corner, by);
  for (AxisPadding& axis : state.axes) {
    axis.is_free = axis.may_be_free = false;
    if (!axis.is_padded) axis.plain = {};
    if (!axis.is_padded) continue;
    axis.lose_edges(), axis.is_as_read = axis.is_scanned = false;
    axis.kind = axis.kind == PaddingKind::Free ? PaddingKind::Mixed : PaddingKind::Read;
    axis.numbers = joined(axis.met(), by), axis.told = axis.plain = {};
  }
  return state;
}

AxisPadding moved(AxisPadding axis, const Linear& by) {
  for (Edges* edges : {&axis.edges, &axis.at_first}) each_edge(*edges, [&](Edge& edge) { edge = edge.moved(by); });
  return axis;
}

namespace {

std::vector<size_t> others(size_t rank, const ir::Axes& axes) {
  std::vector<size_t> all;
  for (size_t d = 0; d < rank; ++d)
    if (std::ranges::find(axes, int64_t(d)) == axes.end()) all.push_back(d);
  return all;
}

}  // namespace

TileState part_of(const TileState& state, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result{state.inside, state.corner, {}};
  for (int64_t d : axes) result.axes.push_back(moved(state.axes[size_t(d)], -offsets[size_t(d)]));
  AxisPadding whole = state.whole();
  for (size_t d : others(state.rank(), axes)) {
    if (state.axes[d].is_padded && state.axes[d].is_scanned) result.inside = joined(result.inside, state.axes[d].met());
    else if (state.axes[d].is_padded) meet(whole, moved(state.axes[d], -offsets[d]));
    else if (!whole.is_padded && !state.axes[d].is_free) whole = {};
  }
  result.axes.push_back(std::move(whole));
  return result;
}

TileState placed(const TileState& part, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result = plain_state(part.inside, offsets.size(), part.is_uniform());
  result.corner = part.corner;
  for (size_t k = 0; k < axes.size(); ++k) result.axes[size_t(axes[k])] = moved(part.axes[k], offsets[size_t(axes[k])]);
  const std::vector<size_t> rest = others(offsets.size(), axes);
  if (rest.empty()) result.whole() = part.whole();
  if (rest.empty() || !part.whole().is_padded) return result;
  // Where it stands it is padding all along, or not at all.
  AxisPadding& across = result.axes[rest[0]] = moved(part.whole(), offsets[rest[0]]);
  if (rest.size() > 1) across.lose_edges();
  return result;
}

std::vector<int64_t> sizes_along(int rank, const ir::Axes& axes, std::span<const int64_t> shape) {
  std::vector<int64_t> sizes(size_t(rank), 1);
  for (size_t k = 0; k < axes.size(); ++k) sizes[size_t(axes[k])] = shape[k];
  return sizes;
}

bool hangs_on(const Edges& edges, const prove::Prover& prover, ir::RegionId loop) {
  return !all_edges(edges, [&](const Edge& edge) {
    return !prover.depends_on(edge.limit, loop) && !(edge.has_low && prover.depends_on(edge.first, loop));
  });
}

void put(Edges& edges, prove::AtomId index, const Linear& by) {
  each_edge(edges, [&](Edge& edge) {
    edge.limit = prove::substitute(edge.limit, index, by);
    if (edge.has_low) edge.first = prove::substitute(edge.first, index, by);
  });
}

namespace {

// Which way the edges of what is free go as the index grows: beyond those of all turns lies what is beyond the furthest.
enum class Going : uint8_t { Inward, Outward, Lost };
Going going(const Edges& edges, prove::AtomId index) {
  bool shrinks = false, grows = false;
  const bool is_simple = all_edges(edges, [&](const Edge& edge) {
    const int64_t factor = edge.limit.factor_of(index);
    shrinks |= factor < 0, grows |= factor > 0;
    return !edge.has_low || edge.first.factor_of(index) == 0;
  });
  return !is_simple || (shrinks && grows) ? Going::Lost : grows ? Going::Outward : Going::Inward;
}

// `latest`: what the index was in the turn that was the last so far.
TileState told(TileState state, const prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting, const std::optional<Linear>& latest,
               bool is_anew) {
  for (AxisPadding& axis : state.axes) {
    if (hangs_on(axis.at_first, prover, loop)) axis.lose_edges();
    if (!hangs_on(axis.edges, prover, loop)) continue;
    if (!counting) {
      axis.lose_edges();
      continue;
    }
    const Going way = axis.kind == PaddingKind::Free && !is_anew ? going(axis.edges, counting->index) : Going::Outward;
    Edges fixed = axis.edges;
    put(fixed, counting->index, counting->low);
    if (way == Going::Lost || hangs_on(fixed, prover, loop) || (way == Going::Outward && !latest)) axis.lose_edges();
    else if (way == Going::Inward) axis.edges = std::move(fixed);
    else put(axis.edges, counting->index, *latest);
  }
  return state;
}

}  // namespace

TileState at_next_turn(TileState state, const prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting, bool is_anew) {
  const bool has_step = counting && counting->last;
  return told(std::move(state), prover, loop, counting, has_step ? std::optional(Linear(counting->index) - 1) : std::nullopt, is_anew);
}

TileState behind_loop(TileState state, const prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting, bool is_anew) {
  return told(std::move(state), prover, loop, counting, counting ? counting->last : std::nullopt, is_anew);
}

TileState joined_turns(const TileState& first, const TileState& before, const TileState& turned, const std::optional<Counting>& counting) {
  TileState result = joined(before, turned);
  for (size_t i = 0; counting && i < result.axes.size(); ++i) {
    const AxisPadding &x = before.axes[i], &y = turned.axes[i];
    if (!x.is_padded || !y.is_padded || x.edges == y.edges || x.edges != first.axes[i].edges) continue;
    Edges at_first = y.edges;
    put(at_first, counting->index, counting->low);
    if (!x.edges.empty() && at_first == x.edges) result.axes[i].edges = y.edges, result.axes[i].is_filled = x.is_filled && y.is_filled;
  }
  return result;
}

}  // namespace tilec::passes
