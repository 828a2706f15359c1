// The door to Z3. Started with the first question that reaches it; bounded by a deterministic count of steps, so that the same
// program gets the same answer on every machine.
#pragma once
#include <memory>

#include "prove/problem.h"

namespace tilec::prove {

class Solver {
 public:
  Solver();
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  enum class Result : uint8_t { Follows, Fails, Unknown };
  // Fails: `model` holds values for which the facts hold and the goal does not, as far as 64 bits hold them.
  Result ask(const Terms& terms, const Problem& problem, Model& model);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilec::prove
