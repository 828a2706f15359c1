// Where a comparison turns as a loop goes on.
//
// One side rises or falls with the loop's index through sums, differences and products with constants, the other stays: then
// there is a number below which the comparison says one thing and from which on it says the other. `int` does not overflow
// in an iteration that runs, so the comparison is solved for the index step by step; what the solution would need beyond 64
// bits is clamped, and where clamping would change the answer the point goes to the end of the range.
#pragma once
#include <functional>
#include <optional>

#include "ir/builder.h"

namespace tilec::passes {

struct Turning {
  enum class Step : uint8_t { Plus, Minus, From, Times };  // x + by, x - by, by - x, x * by with a constant by > 0
  struct Undo {
    Step step;
    ir::ValueId by;
  };
  bool is_at_most = true;  // x <= limit, or x >= limit, where x is the side that moves
  bool is_opposite = false;  // the comparison is true where that is false
  ir::ValueId limit;
  std::vector<Undo> steps;  // from x inwards to the index
  // What the comparison says below its turning point; from there on it says the opposite.
  bool says_before() const;
};

// None where the comparison is no such one. `stays(v)`: the loop does not change v.
std::optional<Turning> find_turn(const ir::Kernel& kernel, ir::ValueId comparison, ir::ValueId index, const std::function<bool(ir::ValueId)>& stays);

// The least index from which on the comparison has turned, for all indices below the greatest `int`.
ir::ValueId turning_point(ir::Builder& builder, const Turning& turn);

// All that the turning point is computed from.
std::vector<ir::ValueId> sources(const Turning& turn);

}  // namespace tilec::passes
