// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Known>;

// What an element has to do with padding. Set: the program puts a number of its own in the place of padding, where the place alone
// decides.
enum class Taint : uint8_t { Clean, Set, Padding };

struct MapResults {
  std::vector<Known> numbers;    // of each yielded value
  std::vector<Taint> taints;
  // The values that it is equal to, as far as what is sure, or hoped, leaves it as it is: x of x + 0.
  std::vector<ir::ValueId> sure, hoped;
  // What is left without padding: the operand that is made of what loops carry, of a sum, a product and the like whose other one has
  // to do with padding.
  std::vector<ir::ValueId> left;
  NumbersOf known;                         // of every value that was met
  std::map<ir::ValueId, Taint> taint_of;
};

// What conditions were found to be under an assumption, which is asked again in every round of a loop and for every set of padded inputs.
using Decisions = std::map<std::pair<ir::ValueId, std::string>, std::optional<bool>>;

// `known` holds the numbers of values around and of the body's element arguments, `taints` those of arguments that are not clean,
// `carried` the arguments that loops carry.
// Where the prover decides a condition under `assumption`, only the side that is taken counts.
MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known,
                          std::map<ir::ValueId, Taint> taints, std::set<ir::ValueId> carried, const prove::Formula& assumption);

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Known scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
