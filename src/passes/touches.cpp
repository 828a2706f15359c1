#include "passes/touches.h"

#include "passes/products.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Collector {
  const Kernel& kernel;
  std::vector<MemoryTouch> touches;

  void note(ValueId buffer, bool writes) {
    if (buffer.valid() && kernel.type(buffer).is_buffer()) touches.push_back({root_buffer(kernel, buffer), writes});
  }
  void reads(ValueId buffer) { note(buffer, false); }
  void writes(ValueId buffer) { note(buffer, true); }

  void visit(const Op& op) {
    if (auto* o = op.get<op::Load>()) reads(o->buffer);
    if (auto* o = op.get<op::Store>()) writes(o->buffer);
    if (auto* o = op.get<op::Copy>()) reads(o->src), writes(o->dst);
    if (auto* o = op.get<op::CopyAsync>()) reads(o->src), writes(o->dst);
    if (auto* o = op.get<op::Gemm>()) reads(o->a), reads(o->b);
    if (auto* o = op.get<op::GemmAsync>()) reads(o->a), reads(o->b);
    if (auto* o = op.get<op::ElementLoad>()) reads(o->buffer);
    if (auto* o = op.get<op::ElementStore>()) writes(o->buffer);
    if (auto* o = op.get<op::Atomic>()) writes(o->buffer);
    if (op.is<op::Map>() || op.is<op::Simt>())
      each_region(op.data, [&](RegionId r) { each_op(kernel, r, [&](OpId id) { visit(kernel.op(id)); }); });
  }
};

}  // namespace

std::vector<MemoryTouch> touches_of(const Kernel& kernel, OpId op) {
  Collector collector{kernel, {}};
  collector.visit(kernel.op(op));
  return collector.touches;
}

}  // namespace tilec::passes
