// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Numbers>;

struct MapResults {
  std::vector<Numbers> numbers;       // of each yielded value
  std::vector<ir::ValueId> same;      // the value that it is equal to, as far as what is known leaves it as it is: x of x + 0
  NumbersOf known;                    // of every value that was met
};

// `known` holds the numbers of values around and of the body's element arguments. Where the prover decides a condition under
// `assumption`, only the side that is taken counts.
MapResults run_on_numbers(prove::Prover& prover, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known,
                                    const prove::Formula& assumption);

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Numbers scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
