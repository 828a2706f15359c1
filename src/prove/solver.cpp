#include "prove/solver.h"

namespace tilec::prove {

Solver::Result Solver::ask(const Terms& terms, const Problem& problem, Model& model) {
  static const auto& library = load_part_as<SolverLibrary>("solver", kSolverLayout);
  if (!state_) state_ = library.begin();
  return library.ask(state_.get(), terms, problem, model);
}

}  // namespace tilec::prove
