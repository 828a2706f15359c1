// The best schedule of a loop, by constraints: the turn is as short as it can be, of those that are, a group by itself is fastest.
// Stages, begins and depths are found together, within the limits of registers and shared memory.
#pragma once
#include <optional>

#include "ir/loop_times.h"

namespace tilec::prove {

// `known`: of some scheduler, no worse than which the answer is to be; the search ends there, or after a number of steps that is the same
// on every machine. None: nothing better was found.
std::optional<ir::LoopTimes> best_schedule(const ir::LoopProblem& problem, const ir::LoopTimes& known);

}  // namespace tilec::prove
