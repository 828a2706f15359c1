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
// What is outside of all of them.
using Beyond = std::vector<Edge>;
// What is beyond any of them. None: it is not known which elements lie outside.
using Edges = std::vector<Beyond>;
prove::Formula outside(const Edges& edges, const prove::Linear& coordinate);
template <class F> void each_edge(Edges& edges, F&& f) {
  for (Beyond& beyond : edges)
    for (Edge& edge : beyond) f(edge);
}
template <class F> bool all_edges(const Edges& edges, F&& f) {
  return std::ranges::all_of(edges, [&](const Beyond& beyond) { return std::ranges::all_of(beyond, f); });
}
void unite(Edges& edges, const Edges& others);

// The read that brought padding: of which tensor, its text, and where it names the padding, if it does.
struct PadOrigin {
  ir::ValueId buffer;
  Span read, pad;
};

// Read: it came from a read, or was computed of what did. Set: the program put numbers of its own there. Free: a variable holds what it was
// given before, a number that is the same along the axis, as what was to be added there is padding. Mixed: one or the other.
enum class PaddingKind : uint8_t { Read, Set, Free, Mixed };

struct AxisPadding {
  bool is_padded = false;
  PaddingKind kind = PaddingKind::Read;
  Edges edges;
  bool is_filled = false;    // all that is outside of the edges is padding
  Known numbers;             // that stand there
  Known told;                // of Mixed: those that the program has set, which are not masked
  PadOrigin origin;
  bool is_as_read = false;   // nothing has been computed of them since
  bool is_scanned = false;   // they are what a scan has come to: a row or column of them, which an index takes, is no padding
  // What the whole tile may hold instead, the same number everywhere, so that none of it is padding: before the first turn of a loop,
  // or where a branch was not taken. It ends where the padding would. Of what may be free: the number that it is then.
  Known plain;
  // Of an axis that is not padded: it is made of numbers alone, the same all along the axis, and may take up any tile. May be: or of data.
  bool is_free = false, may_be_free = false;
  // Of what is free: in the first turn of a loop, before it is assigned to, that is all that lies outside of these.
  Edges at_first;
  ir::RegionId loop;
  // Assignments that leave something else in free elements than the reference says, as long as nobody sees that.
  std::set<ir::OpId> lapsed;
  // What may stand beyond the edges.
  Known met() const { return joined(numbers, plain); }
  bool can_be_masked() const { return is_filled && !edges.empty() && at_first.empty(); }
  bool has_low() const { return !all_edges(edges, [](const Edge& e) { return !e.has_low; }); }
  Known set_by_program() const { return kind == PaddingKind::Set ? numbers : told; }
  bool holds_data() const { return !is_padded && !is_free; }
  void lose_edges() { edges.clear(), at_first.clear(), is_filled = false; }
  friend bool operator==(const AxisPadding& a, const AxisPadding& b) {
    return a.is_padded == b.is_padded && a.kind == b.kind && a.edges == b.edges && a.is_filled == b.is_filled && a.numbers == b.numbers && a.told == b.told && a.is_scanned == b.is_scanned &&
           a.plain == b.plain && a.is_free == b.is_free && a.may_be_free == b.may_be_free && a.at_first == b.at_first && a.lapsed == b.lapsed;
  }
};

struct TileState {
  Known inside;
  Known corner;  // outside along two axes or more
  // Behind those that the tile has, one of a single element, at 0, along which it is padding as a whole or not at all: `t[:, c]` lies beyond an
  // edge or inside, as c tells.
  std::vector<AxisPadding> axes;
  size_t rank() const { return axes.size() - 1; }
  AxisPadding& whole() { return axes.back(); }
  const AxisPadding& whole() const { return axes.back(); }
  bool is_padded() const { return std::ranges::any_of(axes, &AxisPadding::is_padded); }
  // Without padding, the same number everywhere, which need not be known.
  bool is_uniform() const { return std::ranges::all_of(axes, &AxisPadding::is_free); }
  friend bool operator==(const TileState&, const TileState&) = default;
};

TileState plain_state(const Known& inside, size_t rank, bool is_free = false);
// An axis that is padded twice: what one of them says.
void meet(AxisPadding& axis, const AxisPadding& other);
// The same of a tile that a matrix product gave, or that is made of one.
TileState of_product(TileState state);
// Outside of `axis`, as the other operand is there: padding where that is padded as well, else what it holds.
Known facing(const TileState& other, const AxisPadding& axis);
// One or the other.
TileState joined(const TileState& a, const TileState& b);
// Some elements are of the one, others are `part`, which runs from end to end along the axes of which `covers` tells so.
TileState joined_in_parts(const TileState& rest, const TileState& part, const std::vector<bool>& covers);
// What grew from `before` to `now` may be anything; an axis whose padding is new keeps its numbers. Edges that still change are lost.
TileState widened(const TileState& before, TileState now, const Known& anything);
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
// Does it change with what the loop changes?
bool hangs_on(const Edges& edges, const prove::Prover& prover, ir::RegionId loop);

// A loop with an index that grows from `low`; `last` is what it is in the last turn, where the step is 1.
struct Counting {
  prove::AtomId index;
  prove::Linear low;
  std::optional<prove::Linear> last;
};
// What a turn leaves, at the start of the next one and behind the loop. Edges that hang on its index are what they were in the turn that told:
// those of padding in the last one; what is free lies beyond the edges of all turns, which reach furthest in the first or in the last. Edges
// that hang on something else that the loop changes are lost.
// `is_anew`: a turn makes it without what the one before has left.
TileState at_next_turn(TileState state, const prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting, bool is_anew = false);
TileState behind_loop(TileState state, const prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting, bool is_anew = false);
// `edges` in the turn in which the index is `by`.
void put(Edges& edges, prove::AtomId index, const prove::Linear& by);
// Of what a loop carries: what it begins with, or what a turn has left. Edges that are those of the first in the first turn are kept.
TileState joined_turns(const TileState& first, const TileState& before, const TileState& turned, const std::optional<Counting>& counting);

}  // namespace tilec::passes
