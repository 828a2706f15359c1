// Schedules for another try: what one that wants more registers than there are can do without. They say all that the first one chose,
// as if they stood in the source, so that whoever prints and pins them gets the same code; what the source pins stays.
#pragma once
#include <optional>
#include <vector>

#include "ir/schedule.h"
#include "machine/machine.h"

namespace tilec::passes {

// The role that computes gets more of the block's registers, by fewer for the one that copies; the most careful first.
std::vector<ir::Schedule> with_more_registers(const ir::Schedule& chosen, const ir::Schedule& pinned, const Machine& machine);
// Each product is awaited where it stands. None where nothing was open.
std::optional<ir::Schedule> without_flights(const ir::Schedule& chosen, const ir::Schedule& pinned);

}  // namespace tilec::passes
