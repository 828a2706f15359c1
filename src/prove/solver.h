// The way to Z3. What asks it is a library that is loaded with the first question that comes so far: most programs have none.
// Bounded by a deterministic count of steps, so that the same program gets the same answer on every machine.
#pragma once
#include <memory>
#include <optional>

#include "base/part.h"
#include "ir/loop_times.h"
#include "prove/problem.h"

namespace tilec::prove {

class Solver {
 public:
  enum class Result : uint8_t { Follows, Fails, Unknown };
  // Fails: `model` holds values for which the facts hold and the goal does not, as far as 64 bits hold them.
  Result ask(const Terms& terms, const Problem& problem, Model& model);

 private:
  std::shared_ptr<void> state_;  // made with the first question
};

// What the library gives under the name `tilec_solver`.
struct SolverLibrary {
  PartHeader header;
  std::shared_ptr<void> (*begin)();
  Solver::Result (*ask)(void* state, const Terms& terms, const Problem& problem, Model& model);
  std::optional<ir::LoopTimes> (*schedule)(const ir::LoopProblem& problem, const ir::LoopTimes& known);  // see loop_solver.h
};
const SolverLibrary& solver_library();
constexpr size_t kSolverLayout =
    sizeof(Problem) + (sizeof(Terms) << 10) + (sizeof(Atom) << 20) + (sizeof(Formula) << 30) + (sizeof(Model) << 40) + (sizeof(ir::LoopProblem) << 50);

}  // namespace tilec::prove
