// Edges as operations: which places lie beyond them.
#pragma once
#include "ir/builder.h"
#include "passes/padding_state.h"

namespace tilec::passes {

// The ends of edges, in front of the code that asks for them.
struct Ends {
  ir::ValueId first, limit;  // first: none where nothing lies before
};
// Beyond all of them, where the condition holds; none: it does.
struct OutsideOf {
  std::vector<Ends> ends;
  ir::ValueId when;
};
using Outside = std::vector<OutsideOf>;  // of one of them
Outside written(prove::Prover& prover, ir::Builder& b, const Edges& edges);
ir::ValueId is_outside(ir::Builder& b, const Outside& outside, ir::ValueId coordinate);

}  // namespace tilec::passes
