// What keeps operations of a region in their order, as far as products in flight are concerned.
#pragma once
#include <span>

#include "passes/flights.h"
#include "passes/touches.h"

namespace tilec::passes {

// Calls f(operation) for one and for all inside it.
template <class F>
void each_inside(const ir::Kernel& kernel, ir::OpId id, F&& f) {
  f(id);
  each_region(kernel.op(id).data, [&](ir::RegionId r) { each_op(kernel, r, f); });
}

// It counts flights of its own, or lets threads of other warps go on.
bool ends_flights(const ir::Kernel& kernel, const Launched& launched, ir::OpId id);
// On the product's result, or on that it has read what is to be written?
bool depends(const ir::Kernel& kernel, const Launched& launched, ir::OpId id, ir::OpId product);
// Of the operations of a region, the one that waits until a ring hands the buffer to readers at that place; or none.
ir::OpId wait_for(const ir::Kernel& kernel, const Launched& launched, std::span<const ir::OpId> ops, ir::ValueId buffer, ir::OpId reader);
// Memory that is touched so, and that no ring hands over.
bool writes_one_of(const ir::Kernel& kernel, const Launched& launched, ir::OpId id, std::span<const MemoryTouch> touches);

}  // namespace tilec::passes
