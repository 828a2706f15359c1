// What padding a tile holds: along each axis, which elements lie outside of the tensor that the tile was read from, and which
// numbers stand there.
#pragma once
#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

// Coordinates below `first` (if has_low) and from `limit` on lie outside.
struct Edge {
  prove::Linear first, limit;
  bool has_low = false;
  Edge moved(const prove::Linear& by) const { return {first + by, limit + by, has_low}; }
  prove::Formula outside(const prove::Linear& coordinate) const;
  friend bool operator==(const Edge&, const Edge&) = default;
};

// The read that brought padding: of which tensor, its text, and where it names the padding, if it does.
struct PadOrigin {
  ir::ValueId buffer;
  Span read, pad;
};

struct AxisPadding {
  bool is_padded = false;
  std::optional<Edge> edge;  // none: it is not known which elements lie outside
  Numbers numbers;           // that stand there
  PadOrigin origin;
  bool is_as_read = false;   // nothing has been computed of them since
  friend bool operator==(const AxisPadding& a, const AxisPadding& b) {
    return a.is_padded == b.is_padded && a.edge == b.edge && a.numbers == b.numbers;
  }
};

struct TileState {
  Numbers inside;
  std::vector<AxisPadding> axes;
  bool is_padded() const {
    return std::any_of(axes.begin(), axes.end(), [](const AxisPadding& a) { return a.is_padded; });
  }
  friend bool operator==(const TileState&, const TileState&) = default;
};

TileState plain_state(const Numbers& inside, int rank);
// One or the other.
TileState joined(const TileState& a, const TileState& b);
// What grew from `before` to `now` may be anything; an axis whose padding is new keeps its numbers.
TileState widened(const TileState& before, TileState now, const Numbers& anything);
// Of the same tile after anything may have been written to some elements.
TileState tainted(TileState state, const Numbers& by);
// The region of `state` (a buffer's) at `offsets`, as a tile whose axis k runs along axes[k].
TileState part_of(const TileState& state, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// The buffer state that writing `part` to such a region leaves in the region.
TileState placed(const TileState& part, std::span<const prove::Linear> offsets, const ir::Axes& axes);
// Edges that hang on what a loop changes do not outlast its turn.
TileState outlasting(TileState state, const prove::Prover& prover, ir::RegionId loop);

}  // namespace tilec::passes
