// What padding a tile holds: along each axis, which elements lie outside of the tensor that the tile was read from, and which
// numbers stand there.
#pragma once
#include "passes/map_numbers.h"
#include "passes/region.h"

namespace tilec::passes {

// Coordinates below `first` (if has_low) and from `limit` on lie outside.
struct Edge {
  prove::Linear first, limit;
  bool has_low = false;
  Edge moved(const prove::Linear& by) const { return {has_low ? first + by : first, limit + by, has_low}; }
  prove::Formula outside(const prove::Linear& coordinate) const;
  friend bool operator==(const Edge&, const Edge&) = default;
};
// What is outside of all of them, in the runs in which it holds: others have no padding there.
struct Beyond {
  std::vector<Edge> edges;
  prove::Formula when = prove::truth(true);
  friend bool operator==(const Beyond&, const Beyond&) = default;
};
// What is beyond any of them. None: it is not known which elements lie outside.
using Edges = std::vector<Beyond>;
prove::Formula outside(const Edges& edges, const prove::Linear& coordinate);
template <class F> void each_edge(Edges& edges, F&& f) {
  for (Beyond& beyond : edges)
    for (Edge& edge : beyond.edges) f(edge);
}
template <class F> bool all_edges(const Edges& edges, F&& f) {
  return std::ranges::all_of(edges, [&](const Beyond& beyond) { return std::ranges::all_of(beyond.edges, f); });
}
void unite(Edges& edges, const Edges& others);
// In the runs in which that holds.
Edges guarded(Edges edges, const prove::Formula& when);
// In all of them: there is no padding elsewhere.
Edges unguarded(const Edges& edges);


// The read that brought padding: of which tensor, its text, and where it names the padding, if it does.
struct PadOrigin {
  ir::ValueId buffer;
  Span read, pad;
};

// Two reads that end, or begin, at different places: what is made of both leaves out elements of one.
struct Apart {
  PadOrigin one, other;
};

// Read: it came from a read, or was computed of what did. Set: the program put numbers of its own there. Free: a variable holds what it was
// given before, a number that is the same along the axis, as what was to be added there is padding. Mixed: one or the other.
enum class PaddingKind : uint8_t { Read, Set, Free, Mixed };

// Of a tile that is written part by part: along one of its other axes, what has not been written yet, from and to.
struct Unwritten {
  size_t axis = 0;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  friend bool operator==(const Unwritten&, const Unwritten&) = default;
};

// Runs in which something is so; not exact: at most in these.
struct Runs {
  prove::Formula when = prove::truth(false);
  bool is_exact = true;
  friend bool operator==(const Runs&, const Runs&) = default;
};
inline Runs some_runs() { return {prove::truth(true), false}; }

// A number that what may be free is, at most in these runs.
struct Plain {
  Known number;
  prove::Formula when = prove::truth(true);
  friend bool operator==(const Plain&, const Plain&) = default;
};
// Any of them.
Known any_of(const std::vector<Plain>& all);

// In these runs a tile that is free beyond its edges is the same all along the axis, and counts: before the first turn of a loop, or where a
// branch was not taken, nothing but that number was assigned to it. Lost: it is not known in which. Placed: it is made of places as well, so
// that it counts, whatever comes.
struct Uniform {
  prove::Formula when = prove::truth(false);
  bool is_lost = false, is_placed = false;
  Known number;
  bool may_be_placed = false;  // or is, in some of these runs; it takes up what comes all the same
  bool may_be_data = false;    // or has been combined with data, in some of these runs
  bool is_never() const { return when.is_false() && !is_lost; }
  bool has_places() const { return (is_placed || may_be_placed) && !is_never(); }
  friend bool operator==(const Uniform&, const Uniform&) = default;
};

// Beyond these edges, if they are known, it is made of what variables have kept, and of no data but those of one tile: assigned to that, it leaves it as it is.
struct Aside {
  ir::ValueId of;
  Edges edges;
  friend bool operator==(const Aside&, const Aside&) = default;
};

struct AxisPadding {
  bool is_padded = false;
  PaddingKind kind = PaddingKind::Read;
  Edges edges;
  bool is_filled = false;    // all that is outside of the edges is padding
  Known numbers;             // that stand there
  Known told;                // of Mixed: those that the program has set, which are not masked
  PadOrigin origin;
  std::optional<Apart> apart;
  bool is_as_read = false;   // nothing has been computed of them since
  bool may_take_up = false;  // of Mixed: some are free
  bool is_scanned = false;   // they are what a scan has come to: a row or column of them, which an index takes, is no padding
  Uniform uniform;  // of what is free
  // Of what is no padding: it is made of numbers alone, the same all along the axis, and may take up any tile. May be: or of data; when, as far as
  // it is known, and the numbers that it is then.
  bool is_free = false, may_be_free = false;
  bool is_placed = false, may_be_placed = false;  // of places and numbers alone, where it is not free; or of data
  Runs free_when;
  std::vector<Plain> plain;
  std::vector<Aside> asides;  // of what is no padding, or free
  std::optional<Unwritten> unwritten;  // but for this, all that is outside of the edges is padding
  // Of what is free: in the first turn of a loop, before it is assigned to, that is all that lies outside of these.
  Edges at_first;
  ir::RegionId loop;
  bool was_fixed = false;  // by a loop, whose turns all leave it as the first did
  // Assignments that leave something else in free elements than the reference says, as long as nobody sees that.
  std::set<ir::OpId> lapsed;
  bool can_be_masked() const { return is_filled && !edges.empty() && at_first.empty() && !uniform.is_lost; }
  // Where the number that it is in some runs changes nothing, it may as well end.
  void end_if(bool is_neutral) {
    if (is_neutral) uniform = {};
  }
  // Where it is no padding, and not free.
  Made made_of() const { return is_placed ? Made::Placed : may_be_placed ? Made::Counting : Made::Data; }
  // Beyond the edges it is made of places and numbers alone, in all runs, which padding has left as it was: it counts.
  bool stands() const { return is_padded && kind == PaddingKind::Free && uniform.is_placed && !uniform.is_lost && uniform.when.is_true(); }
  // It stands beyond its edges; or anywhere, where these are not known, which leaves "places or data" of it.
  void stand_anywhere() { *this = {}, may_be_placed = true; }
  void stand() { kind = PaddingKind::Free, is_padded = true, uniform = {prove::truth(true), false, true, numbers}; }
  // Where it does not count.
  Edges left_out() const { return uniform.when.is_false() ? edges : guarded(edges, prove::negation(uniform.when)); }
  bool has_low() const { return !all_edges(edges, [](const Edge& e) { return !e.has_low; }); }
  bool has_free() const { return kind == PaddingKind::Free || (kind == PaddingKind::Mixed && may_take_up); }
  Known set_by_program() const { return kind == PaddingKind::Set ? numbers : told; }
  // What is no padding is data.
  void count() { is_free = may_be_free = is_placed = may_be_placed = false, free_when = {}, plain = {}; }
  // It is padding at most beyond these edges.
  void lose_guards() { edges = unguarded(edges), is_filled = false; }
  void lose_edges() { edges.clear(), at_first.clear(), is_filled = false; }
  friend bool operator==(const AxisPadding& a, const AxisPadding& b) {
    return a.is_padded == b.is_padded && a.kind == b.kind && a.edges == b.edges && a.is_filled == b.is_filled && a.numbers == b.numbers && a.told == b.told && a.may_take_up == b.may_take_up && a.is_scanned == b.is_scanned &&
           a.plain == b.plain && a.is_free == b.is_free && a.may_be_free == b.may_be_free && a.is_placed == b.is_placed && a.may_be_placed == b.may_be_placed && a.free_when == b.free_when && a.uniform == b.uniform &&
           a.was_fixed == b.was_fixed && a.unwritten == b.unwritten && a.at_first == b.at_first && a.lapsed == b.lapsed && a.asides == b.asides;
  }
};

// Are its elements none that were read, but what variables have taken up?
enum class TakenUp : uint8_t { No, InSomeRuns, Yes };
inline TakenUp taken_up(const Marks& made) { return made.is_assigned || !made.read ? TakenUp::Yes : made.is_read() ? TakenUp::No : TakenUp::InSomeRuns; }

struct TileState {
  Known inside;
  Known corner;  // outside along two axes or more
  // Behind those that the tile has, one of a single element, at 0, along which it is padding as a whole or not at all: `t[:, c]` lies beyond an
  // edge or inside, as c tells.
  std::vector<AxisPadding> axes;
  TakenUp taken_up = TakenUp::No;
  size_t rank() const { return axes.size() - 1; }
  AxisPadding& whole() { return axes.back(); }
  const AxisPadding& whole() const { return axes.back(); }
  bool is_padded() const { return std::ranges::any_of(axes, &AxisPadding::is_padded); }
  // Without padding, the same number everywhere, which need not be known.
  bool is_uniform() const { return std::ranges::all_of(axes, &AxisPadding::is_free); }
  // Numbers alone were not read either.
  TakenUp without_reads() const { return is_uniform() ? TakenUp::Yes : taken_up; }
  friend bool operator==(const TileState&, const TileState&) = default;
};

TileState plain_state(const Known& inside, size_t rank, bool is_free = false);
// Of what is made of two: where both are.
Uniform both(const Uniform& a, const Uniform& b);
Runs both(const Runs& a, const Runs& b);
// In which an axis is free.
Runs free_runs(const AxisPadding& axis);
// An axis that is padded twice: what one of them says.
void meet(AxisPadding& axis, const AxisPadding& other);
// The same of a tile that a matrix product gave, or that is made of one.
TileState of_product(TileState state);
// Outside of `axis`, as the other operand is there: padding where that is padded as well, else what it holds.
Known facing(const TileState& other, const AxisPadding& axis);
// One or the other: `a` where the condition holds, if it is known.
TileState joined(const TileState& a, const TileState& b, const std::optional<prove::Formula>& when = {});
// What stands beyond its edges, as if these were not known; everything else as it is.
AxisPadding standing_anywhere(AxisPadding axis);
// Along an axis, of tiles that hold such numbers inside.
AxisPadding joined_axis(const AxisPadding& x, const Known& a, const AxisPadding& y, const Known& b, const std::optional<prove::Formula>& when);
// Where a part of a tile lies: where it begins, if it is known, and how long it and the tile are, along each axis.
struct Place {
  std::vector<prove::Linear> offsets;
  std::vector<int64_t> sizes, extents;
  bool covers(size_t axis) const { return sizes[axis] == extents[axis]; }
  bool covers_all() const { return sizes == extents; }
};
// Elements at that place are `part`, all others are of `rest`.
TileState joined_in_parts(const TileState& rest, const TileState& part, const Place& place);
// Of the same tile after anything may have been written to some elements.
TileState tainted(TileState state, const Known& by);
// What is beyond its edges along an axis, as seen from coordinates that are `by` less.
AxisPadding moved(AxisPadding axis, const prove::Linear& by);
// The region of `state` (a buffer's) at `offsets`, as a tile whose axis k runs along axes[k].
TileState part_of(const TileState& state, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// The buffer state that writing `part` to such a region leaves in the region.
TileState placed(const TileState& part, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// The extents, along each axis of what it is a part of, of a part of such a shape whose axis k runs along axes[k].
std::vector<int64_t> sizes_along(int rank, const ir::Axes& axes, std::span<const int64_t> shape);
}  // namespace tilec::passes
