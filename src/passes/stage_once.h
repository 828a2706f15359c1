// Shared tiles that are filled once, in front of the loops that read them, by the role that copies.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Does a role that is not for the rest name the copy?
bool is_filled_by_role(const ir::Kernel& kernel, const ir::op::Copy& copy);

// Hands each such tile of a launch over through a ring, where the schedule places its copy in a role of its own and the engine makes it: so it is
// under way while the other role begins, and is filled again as soon as its last reader has done with it. As many versions as `pinned` says;
// where it does not, two for blocks that go on if there is room, else one. `found`: takes the pipelines that `pinned` has not.
void stage_once(ir::Kernel& kernel, const Machine& machine, ir::RegionId launch, const std::vector<ir::Pipeline>& pinned, std::vector<ir::Pipeline>& found);

}  // namespace tilec::passes
