#pragma once
#include "prove/loop_solver.h"

namespace tilec::prove {

std::optional<ir::LoopTimes> schedule_loop(const ir::LoopProblem& problem, const ir::LoopTimes& known);

}  // namespace tilec::prove
