// What a loop carries: at the start of a turn, and behind the last one.
#pragma once
#include "passes/padding_state.h"

namespace tilec::passes {

// A loop with an index that grows from `low`; `last` is what it is in the last turn, where the step is 1.
struct Counting {
  prove::AtomId index;
  prove::Linear low;
  std::optional<prove::Linear> last;
};

// Is this the first turn?
prove::Formula is_first(const Counting& counting);

struct Turns {
  prove::Prover& prover;
  ir::RegionId loop;
  std::optional<Counting> counting;
  // In the first round that meets a condition which hangs on the turn, it is taken for what it says of all turns alike. What was found so is no result.
  bool may_guess = false, has_guessed = false;
};

// What a turn has left, with what was tried of the edges that it began with, `head`.
TileState with_tries(TileState state, const TileState& head);
// Do they change from turn to turn?
bool hangs_on(const Edges& edges, const Turns& turns);
// What a turn leaves, at the start of the next one and behind the loop. Edges that hang on its index are what they were in the turn that told:
// those of padding in the last one; what is free lies beyond the edges of all turns, which reach furthest in the first or in the last. Edges
// that hang on something else that the loop changes are lost.
TileState at_next_turn(TileState state, Turns& turns);
TileState behind_loop(TileState state, Turns& turns);
// `edges` in the turn in which the index is `by`.
void put(Edges& edges, prove::AtomId index, const prove::Linear& by);
// Of what a loop carries: what it begins with, or what a turn has left. Edges that are those of the first in the first turn are kept.
TileState joined_turns(const TileState& first, const TileState& before, const TileState& turned, const std::optional<Counting>& counting);
// What grew from `before` to `now` may be anything; an axis whose padding is new keeps its numbers. `with_edges`: edges and conditions that
// still change are lost.
TileState widened(const TileState& before, TileState now, const Known& anything, bool with_edges);

}  // namespace tilec::passes
