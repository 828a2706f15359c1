// Runs the body of a `map` on what is known of numbers instead of on numbers.
#pragma once
#include "passes/numbers.h"
#include "passes/region.h"

namespace tilec::passes {

using NumbersOf = std::map<ir::ValueId, Numbers>;

// `known` holds the numbers of values around and of the body's element arguments. Where the prover decides a condition under
// `assumption`, only the side that is taken counts. One entry for each yielded value.
std::vector<Numbers> run_on_numbers(prove::Prover& prover, const ir::Kernel& kernel, ir::RegionId body, NumbersOf known,
                                    const prove::Formula& assumption);

// A scalar outside of maps: a constant, arithmetic on them, or a parameter with what the contracts say of its sign.
Numbers scalar_numbers(const ir::Kernel& kernel, ir::ValueId v, const NumbersOf& known);

}  // namespace tilec::passes
