// Helpers for passes that insert operations into a kernel.
#pragma once
#include <functional>

#include "ir/builder.h"

namespace tilec::passes {

// Calls `emit` with a builder whose operations come to stand before (after) operation `at` of `region`.
void insert_before(ir::Kernel& kernel, ir::RegionId region, ir::OpId at, const std::function<void(ir::Builder&)>& emit);
void insert_after(ir::Kernel& kernel, ir::RegionId region, ir::OpId at, const std::function<void(ir::Builder&)>& emit);

// Calls f(region, operation) for a snapshot of every operation under `region`, so that f may insert.
void each_op_in_region(const ir::Kernel& kernel, ir::RegionId region, const std::function<void(ir::RegionId, ir::OpId)>& f);

// The regions of the launches, in the order of the program.
std::vector<ir::RegionId> launch_bodies(const ir::Kernel& kernel);

// How often a loop with these bounds runs.
ir::ValueId trip_count(ir::Builder& builder, const ir::op::For& loop);

// One more result of an operation.
ir::ValueId add_result(ir::Kernel& kernel, ir::OpId id, const ir::Type& type);

// Gives `v` another type in place.
void retype(ir::Kernel& kernel, ir::ValueId v, ir::Type type);

}  // namespace tilec::passes
