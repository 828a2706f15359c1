// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include <functional>

#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Known>;

// What an element has to do with padding. Set: the program puts a number of its own in the place of padding, where the place alone
// decides. Mixed: it is padding, or is not, as a path decides.
enum class Taint : uint8_t { Clean, Set, Mixed, Padding };

// What it is made of, along the axis at hand: numbers that are the same all along it, elements of tiles, or one or the other. Placed: of the
// element's place and of numbers, which counts like data, but not beside what a variable has kept beyond an edge.
enum class Made : uint8_t { Free, Maybe, Placed, Data };
inline bool counts(Made made) { return made >= Made::Placed; }
// Of what is made of both.
inline Made most(Made a, Made b) {
  const Made more = std::max(a, b);
  return more == Made::Placed && std::min(a, b) == Made::Maybe ? Made::Data : more;
}
struct Marks {
  Taint taint = Taint::Clean;
  Made made = Made::Free;
  bool is_of_element = false;  // computed of an element of a tile or of memory, not of places alone
  bool is_beyond = false;      // of one that holds numbers alone beyond an edge
  // Which inputs those are, and which ones are data there: a bit each. Read: data that no variable has taken up.
  uint32_t kept = 0, data = 0, read = 0;
  bool is_assigned = false;    // to a variable, of what it held
  uint32_t variable = 0;       // the bit of the input that it is, or that this is assigned to
  // Has it to do with elements that count no more than padding does, and with nothing else?
  bool is_left_out() const { return taint >= Taint::Mixed || (is_beyond && made != Made::Data && !data); }
  friend bool operator==(const Marks&, const Marks&) = default;
};

// An assignment, `select(inside(by), next, old)`, where `by` is padding: what is assigned, or a condition that decides whether it is.
struct Assignment {
  ir::OpId inside;
  ir::ValueId by, next, old;
  Marks held = {};  // by `old`
  bool is_same = false, may_be_same = false;  // what is assigned is the number that was held: sure, or as far as one may hope
  uint32_t kept = 0;    // `by` is no padding, but what these inputs have kept beyond an edge, and no data but what is assigned to
  bool is_set = false;  // `by` is no padding, but what the program has set in its place
  std::set<ir::ValueId> untouched = {};  // what a loop carries that has to do with no padding
  std::set<ir::ValueId> carried = {};  // what a turn of a loop leaves to the next, or the last one behind it, and may be padding
};
// What comes of it. Next: what is assigned, which is padding. Told: what is assigned, a number that the program has written. Old: it is left as it
// is. Either: likewise, but the number may be another one.
enum class Keeping : uint8_t { Next, Told, Old, Either };
using Keeps = std::function<Keeping(const Assignment&)>;

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
};

// What conditions were found to be under an assumption, which is asked again in every round of a loop and for every set of padded inputs.
using Decisions = std::map<std::pair<ir::ValueId, std::string>, std::optional<bool>>;

// `known` holds the numbers of values around and of the body's element arguments, `marks` those of its arguments.
// Where the prover decides a condition under `assumption`, only the side that is taken counts. Without `keeps`, assignments take place.
MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known, MarksOf marks,
                          const prove::Formula& assumption, const Keeps& keeps = {});

// The operand of a sum and the like that the other one, as far as it is known, leaves as it is; none where it may change.
ir::ValueId unchanged(ir::BinaryFn fn, ir::ValueId left, ir::ValueId right, const Numbers& a, const Numbers& b);

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Known scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
