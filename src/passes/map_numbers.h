// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include <functional>

#include "passes/decider.h"
#include "passes/marks.h"
#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Known>;

// An assignment, `select(inside(by), next, old)`, where `by` is padding: what is assigned, or a condition that decides whether it is.
struct Assignment {
  ir::OpId inside;
  ir::ValueId by, next, old;
  Marks held = {};  // by `old`
  bool is_same = false, may_be_same = false;  // what is assigned is the number that was held: sure, or as far as one may hope
  uint32_t kept = 0;    // `by` is no padding, but what these inputs have kept beyond an edge, and no data but what is assigned to
  bool may_be_read = false;  // and not kept: in some runs it is made of data that were read
  bool is_set = false;  // `by` is no padding, but what the program has set in its place
  bool is_late = false;  // in some turns of a loop, as the first, it is taken for what it is
  std::set<ir::ValueId> untouched = {};  // what a loop carries that has to do with no padding
  std::set<ir::ValueId> carried = {};  // what a turn of a loop leaves to the next, or the last one behind it, and may be padding
};
// What comes of it. Next: what is assigned, which is padding. Told: what is assigned, a number that the program has written. Old: it is left as it
// is. Either: likewise, but the number may be another one.
enum class Keeping : uint8_t { Next, Told, Old, Either };
using Keeps = std::function<Keeping(const Assignment&)>;

// Gives what takes back all that is noted of assignments from here on: of the rounds of a loop the last one counts alone.
using Noting = std::function<std::function<void()>()>;

using MarksOf = std::map<ir::ValueId, Marks>;
struct MapResults {
  std::vector<Known> numbers;  // of each yielded value
  std::vector<Marks> marks;
  NumbersOf known;             // of every value that was met
  MarksOf marks_of;
  // Element stores and atomics that padding has to do with: a condition or the ends of a loop around them, their place, what an atomic is given;
  // reads, which may report that they lie outside, at a place that padding tells; and loops that go on as long as it says. Whether a test of
  // the place is around as well.
  std::map<ir::OpId, bool> effects;
  std::set<ir::OpId> unsure;  // effects that padding has to do with in some runs
  std::set<ir::RegionId> turned;  // the first regions of loops that have a turn
};

// `known` holds the numbers of values around and of the body's element arguments, `marks` those of its arguments.
// Where the prover decides a condition under `assumption`, only the side that is taken counts. Without `keeps`, assignments take place.
MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known, MarksOf marks,
                          const prove::Formula& assumption, const Keeps& keeps = {}, const Noting& noting = {});

// The operand of a sum and the like that the other one, as far as it is known, leaves as it is; none where it may change.
ir::ValueId unchanged(ir::BinaryFn fn, ir::ValueId left, ir::ValueId right, const Numbers& a, const Numbers& b);

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Known scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
