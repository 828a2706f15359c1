// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include <functional>

#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Known>;

// What an element has to do with padding. Set: the program puts a number of its own in the place of padding, where the place alone
// decides.
enum class Taint : uint8_t { Clean, Set, Padding };

// An operation that combines what a loop carries with padding, and so keeps the former.
struct Meeting {
  ir::OpId op;
  ir::ValueId kept, padding;
  bool is_hoped = false;  // the padding changes nothing, as far as one may hope
  bool is_padding = false;  // so is what a loop carries: does it stay, where others stay?
  // Of a branch: which result, and the side that all its results keep, if they do and it does nothing else.
  size_t result = 0;
  std::optional<bool> side = {};
};
// Stays: as if nothing had been combined. Waits: no turn has brought anything there, and what stands there is of no account.
enum class Keeping : uint8_t { Not, Stays, Waits };
// Not asked where padding is sure to change nothing.
using MayKeep = std::function<Keeping(const Meeting&)>;

struct MapResults {
  std::vector<Known> numbers;    // of each yielded value
  std::vector<Taint> taints;
  std::vector<bool> is_kept;     // made of what a loop carries, and of no padding
  std::vector<bool> is_brought;  // made of what a turn brings
  NumbersOf known;                         // of every value that was met
  std::map<ir::ValueId, Taint> taint_of;
};

// What conditions were found to be under an assumption, which is asked again in every round of a loop and for every set of padded inputs.
using Decisions = std::map<std::pair<ir::ValueId, std::string>, std::optional<bool>>;

// `known` holds the numbers of values around and of the body's element arguments, `taints` those of arguments that are not clean,
// `carried` the arguments that loops carry, `brought` those that are a turn's.
// Where the prover decides a condition under `assumption`, only the side that is taken counts.
MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known,
                          std::map<ir::ValueId, Taint> taints, std::set<ir::ValueId> carried, std::set<ir::ValueId> brought,
                          const prove::Formula& assumption, const MayKeep& may_keep = {});

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Known scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
