// Shared tiles that are filled once, in front of the loops that read them, by the role that copies.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Hands each such tile of a launch over through a ring of one slot, where the schedule places its copy in a role of its own and the
// engine makes it: so it is under way while the other role begins, and is filled again as soon as its last reader has done with it.
// Does a role that is not for the rest name the copy?
bool is_filled_by_role(const ir::Kernel& kernel, const ir::op::Copy& copy);

void stage_once(ir::Kernel& kernel, const Machine& machine, ir::RegionId launch);

}  // namespace tilec::passes
