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
    std::vector<Formula> all{beyond.when};
    for (const Edge& edge : beyond.edges) all.push_back(edge.outside(coordinate));
    any.push_back(prove::all_of(std::move(all)));
  }
  return prove::any_of(std::move(any));
}

void unite(Edges& edges, const Edges& others) {
  for (const Beyond& beyond : others)
    if (std::ranges::find(edges, beyond) == edges.end()) edges.push_back(beyond);
}

Edges guarded(Edges edges, const Formula& when) {
  for (Beyond& beyond : edges) beyond.when = prove::all_of({beyond.when, when});
  std::erase_if(edges, [](const Beyond& beyond) { return beyond.when.is_false(); });
  return edges;
}

Edges unguarded(const Edges& edges) {
  Edges all;
  for (const Beyond& beyond : edges) unite(all, {{beyond.edges}});
  return all;
}

TileState plain_state(const Known& inside, size_t rank, bool is_free) {
  return {inside, {}, std::vector<AxisPadding>(rank + 1, AxisPadding{.is_free = is_free})};
}

Known any_of(const std::vector<Plain>& all) {
  Known any;
  for (const Plain& one : all) any = joined(any, one.number);
  return any;
}

Runs both(const Runs& a, const Runs& b) { return a == b ? a : Runs{prove::all_of({a.when, b.when}), a.is_exact && b.is_exact}; }
Runs free_runs(const AxisPadding& axis) { return axis.is_free ? Runs{prove::truth(true)} : axis.may_be_free ? axis.free_when : Runs(); }
Uniform both(const Uniform& a, const Uniform& b) {
  if (a.is_never() || b.is_never()) return {};
  return {prove::all_of({a.when, b.when}), a.is_lost || b.is_lost, a.is_placed || b.is_placed, joined(a.number, b.number), a.may_be_placed || b.may_be_placed, a.may_be_data || b.may_be_data};
}

void meet(AxisPadding& axis, const AxisPadding& other) {
  if (!axis.is_padded) return void(axis = other);
  axis.is_filled &= other.is_filled && !other.edges.empty() && !axis.edges.empty();
  axis.is_scanned &= other.is_scanned;
  unite(axis.edges, other.edges);
  if (axis.kind != other.kind) axis.may_take_up = axis.has_free() || other.has_free(), axis.kind = PaddingKind::Mixed, axis.told = joined(axis.set_by_program(), other.set_by_program());
  axis.lapsed.insert(other.lapsed.begin(), other.lapsed.end());
  if (!axis.is_filled) axis.lose_edges();
  axis.numbers = joined(axis.numbers, other.numbers);
  axis.uniform = both(axis.uniform, other.uniform);
}

namespace {

using When = std::optional<Formula>;
When otherwise(const When& when) { return when ? When(negation(*when)) : When(); }
Formula either(const Formula& a, const Formula& b) { return a == b ? a : prove::any_of({a, b}); }
Formula both(const Formula& a, const Formula& b) { return a == b ? a : prove::all_of({a, b}); }

// Of one or the other, what is so in these runs of each. Where it is not known which one it is: in the runs in which both are.
Formula chosen(const Formula& a, const Formula& b, const When& when) {
  if (a == b) return a;
  if (!when) return prove::truth(false);
  return either(both(a, *when), both(b, negation(*when)));
}

Runs chosen(const Runs& a, const Runs& b, const When& when) {
  if (a == b) return a;
  if (!when) return {either(a.when, b.when), false};
  return {chosen(a.when, b.when, when), a.is_exact && b.is_exact};
}

// Conditions and edges more than so many are no more kept apart.
constexpr int kMostLeaves = 11;
constexpr size_t kMostEdges = 4;

void bound(AxisPadding& axis) {
  for (size_t i = 1; i < axis.edges.size();) {
    auto same = std::ranges::find(axis.edges.begin(), axis.edges.begin() + ptrdiff_t(i), axis.edges[i].edges, &Beyond::edges);
    if (same == axis.edges.begin() + ptrdiff_t(i)) {
      ++i;
      continue;
    }
    same->when = either(same->when, axis.edges[i].when);
    axis.edges.erase(axis.edges.begin() + ptrdiff_t(i));
  }
  if (axis.edges.size() > kMostEdges || std::ranges::any_of(axis.edges, [](const Beyond& b) { return prove::leaves(b.when) > kMostLeaves; })) axis.lose_guards();
  if (axis.edges.size() > kMostEdges) axis.lose_edges();
  if (prove::leaves(axis.free_when.when) > kMostLeaves) axis.free_when = some_runs();
  if (prove::leaves(axis.uniform.when) > kMostLeaves) axis.uniform.when = prove::truth(false), axis.uniform.is_lost = true;
}

// Of more numbers it is not known which one it is.
constexpr size_t kMostPlain = 3;

std::vector<Plain> chosen(const std::vector<Plain>& x, const std::vector<Plain>& y, const When& when) {
  const std::vector<Plain>& one_of = x.empty() ? y : x;
  if (one_of.size() == 1 && (x.empty() || y.empty() || (y.size() == 1 && x[0].number == y[0].number))) return {{one_of[0].number}};
  std::vector<Plain> all;
  auto add = [&](const Plain& one, const When& is_so) {
    const Formula now = is_so ? both(one.when, *is_so) : one.when;
    auto same = std::ranges::find(all, one.number, &Plain::number);
    if (same == all.end()) all.push_back({one.number, now});
    else same->when = either(same->when, now);
  };
  for (const Plain& one : x) add(one, when);
  for (const Plain& one : y) add(one, otherwise(when));
  std::erase_if(all, [](const Plain& one) { return one.when.is_false(); });
  for (Plain& one : all)
    if (prove::leaves(one.when) > kMostLeaves) one.when = prove::truth(true);
  if (all.size() > kMostPlain) all = {{any_of(all)}};
  if (all.size() == 1) all[0].when = prove::truth(true);
  return all;
}

// What may be free along an axis, of one or the other.
void join_freedom(AxisPadding& axis, const AxisPadding& x, const Known& a, const AxisPadding& y, const Known& b, const When& when) {
  const bool is_either = x.is_free || x.may_be_free || y.is_free || y.may_be_free;
  axis.is_free = !axis.is_padded && x.is_free && y.is_free;
  axis.may_be_free = !axis.is_free && is_either;
  // Beside places, numbers alone are none, or else placed as well.
  auto is_no_data = [](const AxisPadding& of) { return of.is_placed || of.is_free; };
  const bool is_of_places = x.is_placed || y.is_placed;
  axis.is_placed = is_no_data(x) && is_no_data(y) && is_of_places;
  axis.may_be_placed = !axis.is_placed && (is_of_places || x.may_be_placed || y.may_be_placed);
  axis.free_when = axis.may_be_free ? chosen(free_runs(x), free_runs(y), when) : Runs();
  auto numbers = [](const AxisPadding& of, const Known& inside) { return of.is_free ? std::vector<Plain>{{inside}} : of.plain; };
  axis.plain = axis.may_be_free ? chosen(numbers(x, a), numbers(y, b), when) : std::vector<Plain>();
}

// Of a tile that is padded along the axis and of one that is not: what stands there in that one is no padding. What is free there as well may take
// up what comes, but counts.
AxisPadding joined_with_plain(AxisPadding axis, const AxisPadding& plain, const Known& inside, const When& is_padded) {
  if (axis.kind == PaddingKind::Free && plain.is_free) {
    axis.uniform.is_lost |= !is_padded;
    if (is_padded) axis.uniform.when = either(axis.uniform.when, negation(*is_padded));
    axis.uniform.number = joined(axis.uniform.number, inside), axis.numbers = joined(axis.numbers, inside);
  } else if (is_padded && axis.at_first.empty()) {
    axis.edges = guarded(axis.edges, *is_padded), axis.uniform.when = both(axis.uniform.when, *is_padded);
    if (axis.edges.empty()) axis.is_filled = false;
  } else {
    axis.is_filled = false, axis.uniform.is_lost |= !axis.uniform.when.is_false();
  }
  return axis;
}

AxisPadding joined(const AxisPadding& a, const AxisPadding& b, const When& when) {
  AxisPadding axis = a;
  axis.is_filled &= b.is_filled;
  const bool is_told = when && axis.is_filled && a.at_first.empty() && b.at_first.empty() && !a.edges.empty() && !b.edges.empty();
  if (a.edges != b.edges && is_told) {
    axis.edges = guarded(a.edges, *when);
    unite(axis.edges, guarded(b.edges, negation(*when)));
  } else if (a.edges != b.edges && unguarded(a.edges) == unguarded(b.edges)) {
    axis.lose_guards();
  } else if (a.edges != b.edges) {
    axis.lose_edges();
  }
  axis.uniform.is_placed |= b.uniform.is_placed, axis.uniform.may_be_placed |= b.uniform.may_be_placed, axis.uniform.may_be_data |= b.uniform.may_be_data;
  axis.uniform.is_lost |= b.uniform.is_lost || (!when && a.uniform.when != b.uniform.when);
  axis.uniform.when = chosen(a.uniform.when, b.uniform.when, when), axis.uniform.number = joined(a.uniform.number, b.uniform.number);
  axis.is_as_read &= b.is_as_read, axis.is_scanned &= b.is_scanned;
  axis.numbers = joined(a.numbers, b.numbers);
  if (a.kind != b.kind) axis.kind = PaddingKind::Mixed;
  if (axis.kind == PaddingKind::Mixed) axis.told = joined(a.set_by_program(), b.set_by_program()), axis.may_take_up = a.has_free() || b.has_free();
  if (a.at_first.empty()) axis.at_first = b.at_first, axis.loop = b.loop;
  else if (!b.at_first.empty() && (b.at_first != a.at_first || b.loop != a.loop)) axis.lose_edges();
  if (axis.edges.empty()) axis.at_first.clear();
  axis.lapsed.insert(b.lapsed.begin(), b.lapsed.end());
  return axis;
}

}  // namespace

TileState of_product(TileState state) {
  state.inside = of_product(state.inside);
  if (state.corner.is_some()) state.corner = of_product(state.corner);
  for (AxisPadding& axis : state.axes)
    if (axis.is_padded) axis.numbers = of_product(axis.numbers), axis.told = axis.told.is_some() ? axis.numbers : Known(), axis.uniform.number = of_product(axis.uniform.number);
  return state;
}

Known facing(const TileState& other, const AxisPadding& axis) {
  return axis.is_padded ? joined(ordinary(other.inside), axis.numbers) : ordinary(other.inside);
}

AxisPadding standing_anywhere(AxisPadding axis) {
  if (axis.stands()) axis.stand_anywhere();
  return axis;
}

AxisPadding joined_axis(const AxisPadding& x, const Known& a, const AxisPadding& y, const Known& b, const std::optional<Formula>& when) {
  const bool is_plain = !x.is_padded && !y.is_padded && !x.may_be_free && !y.may_be_free;
  const bool is_same = x.stands() && y.stands() && x.is_filled && y.is_filled && x.edges == y.edges;
  if (!is_same && (x.stands() || y.stands())) return joined_axis(standing_anywhere(x), a, standing_anywhere(y), b, when);
  if (is_plain && x.is_free == y.is_free && x.is_placed == y.is_placed && x.may_be_placed == y.may_be_placed && x.asides == y.asides) return x;
  AxisPadding axis;
  if (x.is_padded && y.is_padded) axis = joined(x, y, when);
  else if (x.is_padded) axis = joined_with_plain(x, y, b, when);
  else if (y.is_padded) axis = joined_with_plain(y, x, a, otherwise(when));
  if (x.unwritten != y.unwritten) axis.unwritten.reset();
  join_freedom(axis, x, a, y, b, when);
  bound(axis);
  return axis;
}

namespace {

TakenUp joined(TakenUp a, TakenUp b) { return a == b ? a : TakenUp::InSomeRuns; }

}  // namespace

TileState joined(const TileState& a, const TileState& b, const std::optional<Formula>& when) {
  if (a.axes.size() != b.axes.size()) return a.inside.is_some() ? a : b;
  if (when && (when->is_true() || when->is_false())) return when->is_true() ? a : b;
  TileState result{joined(a.inside, b.inside), joined(a.corner, b.corner), {}, joined(a.without_reads(), b.without_reads())};
  for (size_t i = 0; i < a.axes.size(); ++i) result.axes.push_back(joined_axis(a.axes[i], a.inside, b.axes[i], b.inside, when));
  return result;
}

namespace {

// A part along which other axis it does not run from end to end.
std::optional<size_t> across(const Place& place, size_t axis) {
  std::optional<size_t> found;
  for (size_t d = 0; d < place.extents.size(); ++d) {
    if (place.covers(d)) continue;
    if (found || d == axis || place.offsets.empty() || !place.offsets[d].is_constant()) return std::nullopt;
    found = d;
  }
  return found;
}

// What is left where parts that end at one place are written one after the other.
void note_unwritten(AxisPadding& axis, const AxisPadding& rest, const AxisPadding& part, size_t along, const Place& place) {
  const std::optional<size_t> d = across(place, along);
  axis.unwritten.reset();
  if (!d || !part.is_padded || !part.is_filled) return;
  const bool goes_on = rest.is_padded && rest.unwritten && rest.unwritten->axis == *d && rest.edges == part.edges && rest.kind == part.kind;
  if (rest.is_padded && !goes_on) return;
  std::vector<std::pair<int64_t, int64_t>> left;
  const int64_t from = place.offsets[*d].constant, to = from + place.sizes[*d];
  for (auto [low, high] : goes_on ? rest.unwritten->ranges : std::vector{std::pair(int64_t(0), place.extents[*d])}) {
    if (low < std::min(high, from)) left.emplace_back(low, std::min(high, from));
    if (std::max(low, to) < high) left.emplace_back(std::max(low, to), high);
  }
  axis.is_filled = left.empty();
  if (!left.empty()) axis.unwritten = Unwritten{*d, std::move(left)};
}

// Beside data, some may be places that padding has left as they were.
bool has_places(const AxisPadding& axis) { return axis.may_be_placed || axis.stands(); }

// In runs in which it was the same all along, it is data.
AxisPadding in_parts(AxisPadding axis) {
  if (axis.stands()) return standing_anywhere(std::move(axis));
  if (axis.uniform.is_lost) axis.lose_edges();
  axis.edges = guarded(std::move(axis.edges), negation(axis.uniform.when));
  if (axis.edges.empty()) axis.is_filled = false;
  axis.uniform = {};
  return axis;
}

}  // namespace

TileState joined_in_parts(const TileState& rest, const TileState& part, const Place& place) {
  TileState result = joined(rest, part);
  // Of what was read and what was not, side by side, some was read.
  result.taken_up = std::min(rest.without_reads(), part.without_reads());
  for (size_t i = 0; i < std::min(rest.axes.size(), part.axes.size()); ++i) {
    AxisPadding& axis = result.axes[i];
    const bool is_covered = i < place.extents.size() ? place.covers(i) : place.covers_all();
    if (!axis.is_padded && !is_covered) axis.count(), axis.may_be_placed = has_places(rest.axes[i]) || has_places(part.axes[i]);
    if (!axis.is_padded) continue;
    // Beyond the edge, padding and elements lie side by side along another axis.
    bool is_mixed = false;
    for (size_t other = 0; other < place.extents.size(); ++other) is_mixed |= other != i && !place.covers(other);
    const AxisPadding &x = rest.axes[i], &y = part.axes[i];
    if (!x.is_padded || !y.is_padded) axis.is_filled &= is_covered;
    const bool is_same = x.is_padded && y.is_padded && x.edges == y.edges;
    if (is_mixed && !is_same && x.is_padded) axis.numbers = joined(axis.numbers, part.inside);
    if (is_mixed && !is_same && y.is_padded) axis.numbers = joined(axis.numbers, rest.inside);
    axis.count();
    // What was the same all along it was given to it at once.
    if (!is_covered) axis = in_parts(std::move(axis));
    if (x.is_free || y.is_free) axis.may_be_free = true, axis.free_when = some_runs(), axis.plain = {{x.is_free ? rest.inside : part.inside}};
    if (is_covered && i < place.extents.size()) note_unwritten(axis, x, y, i, place);
  }
  return result;
}

TileState tainted(TileState state, const Known& by) {
  state.inside = joined(state.inside, by);
  if (state.corner.is_some()) state.corner = joined(state.corner, by);
  for (AxisPadding& axis : state.axes) {
    axis.count();
    if (!axis.is_padded) continue;
    axis.lose_edges(), axis.uniform = {}, axis.is_as_read = axis.is_scanned = false;
    axis.kind = axis.kind == PaddingKind::Free ? PaddingKind::Mixed : PaddingKind::Read;
    axis.numbers = joined(axis.numbers, by), axis.told = {};
  }
  return state;
}

AxisPadding moved(AxisPadding axis, const Linear& by) {
  axis.unwritten.reset();
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
  TileState result{state.inside, state.corner, {}, state.taken_up};
  for (int64_t d : axes) result.axes.push_back(moved(state.axes[size_t(d)], -offsets[size_t(d)]));
  AxisPadding whole = state.whole();
  for (size_t d : others(state.rank(), axes)) {
    if (state.axes[d].is_padded && state.axes[d].is_scanned) result.inside = joined(result.inside, state.axes[d].numbers);
    else if (state.axes[d].is_padded) meet(whole, moved(state.axes[d], -offsets[d]));
    else if (!whole.is_padded && !state.axes[d].is_free) whole = {};
  }
  result.axes.push_back(std::move(whole));
  return result;
}

TileState placed(const TileState& part, std::span<const Linear> offsets, const ir::Axes& axes) {
  TileState result = plain_state(part.inside, offsets.size(), part.is_uniform());
  result.corner = part.corner, result.taken_up = part.taken_up;
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

}  // namespace tilec::passes
