#include "prove/solver.h"

namespace tilec::prove {

const SolverLibrary& solver_library() {
  static const auto& library = load_part_as<SolverLibrary>("solver", kSolverLayout);
  return library;
}

Solver::Result Solver::ask(const Terms& terms, const Problem& problem, Model& model) {
  if (!state_) state_ = solver_library().begin();
  return solver_library().ask(state_.get(), terms, problem, model);
}

}  // namespace tilec::prove
