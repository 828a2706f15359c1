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
// What is outside of any of them. None: it is not known which elements lie outside.
using Edges = std::vector<Edge>;
prove::Formula outside(const Edges& edges, const prove::Linear& coordinate);

// The read that brought padding: of which tensor, its text, and where it names the padding, if it does.
struct PadOrigin {
  ir::ValueId buffer;
  Span read, pad;
};

// Read: it came from a read, or was computed of what did. Set: the program put numbers of its own there. First: what a loop carries,
// where no turn so far has brought anything from inside; there the number stands that the loop began with.
enum class PaddingKind : uint8_t { Read, Set, First };

// Of what a loop carries, along an axis that is not padded: has a turn brought something there? Of First padding Maybe says that no turn may
// have brought anything at all.
enum class Reach : uint8_t { Touched, Maybe, Untouched };

struct AxisPadding {
  bool is_padded = false;
  PaddingKind kind = PaddingKind::Read;
  Edges edges;
  bool is_filled = false;    // all that is outside of the edges is padding
  Known numbers;             // that stand there
  PadOrigin origin;
  bool is_as_read = false;   // nothing has been computed of them since
  // What the whole tile may hold instead, the same number everywhere, so that none of it is padding: before the first turn of a loop,
  // or where a branch was not taken.
  Known plain;
  Reach reach = Reach::Touched;
  // What may stand beyond the edges.
  Known met() const { return joined(numbers, plain); }
  bool can_be_masked() const { return is_filled && !edges.empty(); }
  bool has_low() const { return std::any_of(edges.begin(), edges.end(), [](const Edge& e) { return e.has_low; }); }
  bool is_first() const { return is_padded && kind == PaddingKind::First; }
  void lose_edges() { edges.clear(), is_filled = false; }
  friend bool operator==(const AxisPadding& a, const AxisPadding& b) {
    return a.is_padded == b.is_padded && a.reach == b.reach && a.kind == b.kind && a.edges == b.edges && a.is_filled == b.is_filled && a.numbers == b.numbers &&
           a.plain == b.plain;
  }
};

struct TileState {
  Known inside;
  Known corner;  // outside along two axes or more
  bool is_uniform = false;  // without padding, the same number everywhere, which need not be known
  std::vector<AxisPadding> axes;
  bool is_padded() const {
    return std::any_of(axes.begin(), axes.end(), [](const AxisPadding& a) { return a.is_padded; });
  }
  friend bool operator==(const TileState&, const TileState&) = default;
};

TileState plain_state(const Known& inside, int rank, bool is_uniform = false);
// The same of a tile that a matrix product gave, or that is made of one.
TileState of_product(TileState state);
// One or the other.
TileState joined(const TileState& a, const TileState& b);
// Some elements are of the one, others are `part`, which runs from end to end along the axes of which `covers` tells so.
TileState joined_in_parts(const TileState& rest, const TileState& part, const std::vector<bool>& covers);
// What grew from `before` to `now` may be anything; an axis whose padding is new keeps its numbers.
TileState widened(const TileState& before, TileState now, const Known& anything);
// Of the same tile after anything may have been written to some elements.
TileState tainted(TileState state, const Known& by);
// The region of `state` (a buffer's) at `offsets`, as a tile whose axis k runs along axes[k].
TileState part_of(const TileState& state, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// The buffer state that writing `part` to such a region leaves in the region.
TileState placed(const TileState& part, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// The extents, along each axis of what it is a part of, of a part of such a shape whose axis k runs along axes[k].
std::vector<int64_t> sizes_along(int rank, const ir::Axes& axes, std::span<const int64_t> shape);
// Does it change with what the loop changes?
bool hangs_on(const Edges& edges, const prove::Prover& prover, ir::RegionId loop);
// A loop with an index that grows from `low`.
struct Counting {
  prove::AtomId index;
  prove::Linear low;
};
// Edges that hang on what a loop changes do not outlast its turn. What no turn has reached is what lies outside in the first turn,
// where later ones reach less far.
TileState outlasting(TileState state, prove::Prover& prover, ir::RegionId loop, const std::optional<Counting>& counting);

}  // namespace tilec::passes
