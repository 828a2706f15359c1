// The checker of times that a scheduler gives to the work of a loop. It walks through clocks of several turns and shares nothing with
// those who make them.
#pragma once
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "diag/sink.h"
#include "machine/machine.h"

namespace tilec::check {

// What is wrong: work that begins before what it needs has ended, a unit that two do at once, more registers or shared memory than there
// are, copies that come late, stages that may not be. Empty: nothing.
std::vector<std::string> flaws_of(const ir::LoopProblem& problem, const ir::LoopTimes& times);

// The same as a pass, over all loops of a kernel.
void check_times(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
