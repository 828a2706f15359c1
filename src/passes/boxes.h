// Copies that an engine makes box by box, into shared tiles and out of them: which it can make, as far as that is known before a call.
#pragma once
#include <string>

#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Why the machine's engine cannot copy this region of a parameter into a shared tile; empty: it can, where the call's address and
// strides suit it. The tile has its layout, and is filled as a whole.
std::string why_no_box(const ir::Kernel& kernel, const ir::op::Copy& copy, const Machine& machine);

// The same of a region of `tensor`, along `axes` of it, that goes through the shared tile, whichever way.
std::string why_no_box(const ir::Kernel& kernel, ir::ValueId tensor, const ir::Axes& axes, ir::ValueId tile, const Machine& machine);

// Staged: gives the engine the copies out of shared tiles that it can make (`copy_class`). What it writes is there when the launch
// ends, and no sooner: nothing else of the launch may touch it, but for additions, which come in any order.
void choose_stores(ir::Kernel& kernel, ir::RegionId launch, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
