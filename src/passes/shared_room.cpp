#include "passes/shared_room.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kBytesOfBarriers = 64;  // of a slot of a ring, and for the place at which an array begins

}  // namespace

int64_t shared_bytes(const Kernel& kernel, ValueId buffer) {
  const Type& type = kernel.type(buffer);
  return (type.layout.valid() ? kernel.layouts.mem(type.layout).size() : type.element_count()) * byte_width(type.element);
}

int64_t room_beside(const Kernel& kernel, const Machine& machine, RegionId launch) {
  int64_t room = machine.shared_bytes - kernel.schedule.facts.scratch_bytes - 2 * kBytesOfBarriers;
  each_op(kernel, launch, [&](OpId id) {
    const Op& op = kernel.op(id);
    if (op.is<op::RingAlloc>()) room -= kBytesOfBarriers * kernel.type(op.result()).shape[0];
    if (op.is<op::Alloc>() && kernel.type(op.result()).space == Space::Shared) room -= shared_bytes(kernel, op.result());
  });
  return room;
}

}  // namespace tilec::passes
