// Modulo scheduling: when each part of a loop's turn begins, so that turns follow each other as closely as units and dependences let
// them. Iterative, as B. R. Rau described it: the part on the longest path goes first, to the earliest place where its unit is free, and
// pushes out what it has to where there is none.
#pragma once
#include <optional>

#include "ir/loop_times.h"

namespace tilec::passes {

// `stages`: how many turns each part is behind, but those of threads that follow such products, which are free. None: no schedule within
// the limits of registers and memory was found.
std::optional<ir::LoopTimes> modulo_schedule(const ir::LoopProblem& problem, const std::vector<int64_t>& stages);

// Of all stages that the problem allows, those with the shortest turn; of such within a twentieth, those that leave a group most to wait.
std::optional<ir::LoopTimes> modulo_schedule(const ir::LoopProblem& problem);

}  // namespace tilec::passes
