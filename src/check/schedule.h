// The checker of schedules. It follows the rings of each role through blocks of several sizes and knows nothing of how they
// came about.
#pragma once
#include <string>
#include <vector>

#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::check {

// What is wrong: turns taken or passed on out of order or twice, a turn that is read before it is filled, roles that wait
// for each other for ever, turns that nobody reads, more warps than the machine has. Empty: nothing.
std::vector<std::string> flaws_of(const ir::Kernel& staged, const Machine& machine);

// The same as a pass over the Staged form: an error where the source pins the schedule, a broken law where we made it.
void check_schedule(const ir::Kernel& staged, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
