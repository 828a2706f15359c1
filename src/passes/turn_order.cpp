#include "passes/turn_order.h"

#include <algorithm>

namespace tilec::passes {

using namespace ir;

bool ends_flights(const Kernel& kernel, const Launched& launched, OpId id) {
  switch (kernel.op(id).kind()) {
    case OpKind::GemmAsync: case OpKind::AwaitGemm: case OpKind::Barrier: case OpKind::Simt: case OpKind::Roles: case OpKind::TakeTurn:
    case OpKind::PassTurn: case OpKind::Release: return true;
    default: return launched.group_atom(id) != nullptr;
  }
}

bool depends(const Kernel& kernel, const Launched& launched, OpId id, OpId product) {
  bool found = false;
  std::vector<MemoryTouch> reads = touches_of(kernel, product);
  each_inside(kernel, id, [&](OpId inner) {
    found |= ends_flights(kernel, launched, inner) && !kernel.op(inner).is<op::Release>();
    each_operand(kernel.op(inner).data, [&](ValueId v) { found |= v == kernel.op(product).result(); });
    for (const MemoryTouch& touch : touches_of(kernel, inner))
      for (const MemoryTouch& read : reads)
        found |= touch.writes && may_overlap(kernel, touch.buffer, read.buffer) && !launched.ring_of(touch.buffer).valid();
  });
  return found;
}

OpId wait_for(const Kernel& kernel, const Launched& launched, std::span<const OpId> ops, ValueId buffer, OpId reader) {
  ValueId ring = launched.ring_of(buffer);
  OpId found;
  for (OpId id : ops) {
    if (id == reader) break;
    const op::Wait* wait = kernel.op(id).get<op::Wait>();
    if (ring.valid() && wait && wait->ring == ring) found = id;
  }
  return found;
}

bool writes_one_of(const Kernel& kernel, const Launched& launched, OpId id, std::span<const MemoryTouch> touches) {
  bool found = false;
  each_inside(kernel, id, [&](OpId inner) {
    found |= ends_flights(kernel, launched, inner) && !launched.group_atom(inner) && !kernel.op(inner).is<op::Release>();
    for (const MemoryTouch& written : touches_of(kernel, inner))
      for (const MemoryTouch& touch : touches)
        found |= written.writes && may_overlap(kernel, written.buffer, touch.buffer) && !launched.ring_of(touch.buffer).valid();
  });
  return found;
}

}  // namespace tilec::passes
