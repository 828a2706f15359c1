// Which products of pipelined loops run a turn behind, and how far copies run ahead. The one interface of loop schedulers: a problem
// (`loop_graph.h`) goes in, times come out, of modulo scheduling (`modulo.h`) or, where the kernel asks for it, of the exact search
// (`prove/loop_solver.h`), and are written into the schedule. `check/loop_times.h` accepts them or not.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// The loops of a launch, behind the choice of roles. What the source pins stays.
void schedule_loops(ir::Kernel& kernel, const ir::op::Launch& launch, const Machine& machine);

// As the schedule places a product: turns behind, or none where it says nothing.
std::optional<int64_t> stage_of_product(const ir::Kernel& kernel, ir::OpId product);

// Registers of a lane that tiles may have, of the warps that compute.
int64_t registers_for_tiles(const ir::Schedule& schedule, const Machine& machine);

}  // namespace tilec::passes
