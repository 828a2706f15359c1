// Ways to a tensor: shared tiles through which an engine stores what warps hold in registers, each the rows that it holds alone (`ir/own_rows.h`).
#pragma once
#include "ir/builder.h"
#include "machine/machine.h"

namespace tilec::passes {

// A way for tiles of this type to where `store` puts them, made in front of `at` in the region `launch`. Invalid: warps do not hold whole rows of such a
// tile, the engine cannot store it, or shared memory has no room for it beside what the rings take.
ir::ValueId way_for(ir::Kernel& kernel, const Machine& machine, ir::RegionId launch, ir::OpId at, const ir::op::Store& store, const ir::Type& tile);

// What `store` says, by that way.
void send(ir::Builder& b, const ir::Kernel& kernel, const ir::op::Store& store, ir::ValueId way);

}  // namespace tilec::passes
