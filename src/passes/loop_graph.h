// What a turn of a pipelined loop asks of the units, as a problem for a scheduler.
//   Typed form, behind `select-atoms`; products of groups alone are work of their own, all else is done by threads
#pragma once
#include <optional>

#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

struct LoopGraph {
  ir::LoopProblem problem;
  std::vector<ir::OpId> products;  // by number of the work; invalid: threads'
};

// None: the loop has no products of groups, or loops inside, or the machine does not say how fast it is.
std::optional<LoopGraph> loop_graph(const ir::Kernel& kernel, const ir::op::Launch& launch, const ir::op::For& loop, const Machine& machine);

// The name by which a schedule speaks of a product: its label, or the variable that takes it.
std::string name_of_product(const ir::Kernel& kernel, ir::OpId product);

}  // namespace tilec::passes
