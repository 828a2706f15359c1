#include "prove/loop_solver.h"

#include "prove/solver.h"

namespace tilec::prove {

std::optional<ir::LoopTimes> best_schedule(const ir::LoopProblem& problem, const ir::LoopTimes& known) {
  return solver_library().schedule(problem, known);
}

}  // namespace tilec::prove
