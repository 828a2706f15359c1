#include "passes/versions.h"

namespace tilec::passes {

using namespace ir;

ValueId add_versions(Builder& b, ValueId buffer, int64_t depth) {
  Kernel& kernel = b.kernel();
  Type type = kernel.type(buffer);
  type.shape.insert(type.shape.begin(), depth);
  type.layout = kernel.layouts.intern(layout::stacked(kernel.layouts.mem(type.layout), int(depth)));
  const std::string hint = kernel.value(buffer).hint;
  return b.value(op::Alloc{{}, hint}, type, hint);
}

ValueId add_ring(Builder& b, const std::string& name, int64_t depth) {
  Type ring = plain_type(TypeKind::Ring);
  ring.shape = {depth};
  return b.value(op::RingAlloc{1, name}, ring);
}

ValueId view_version(Builder& b, ValueId buffer, ValueId versions, ValueId version) {
  const Type type = b.kernel().type(buffer);
  const std::string hint = b.kernel().value(buffer).hint;
  std::vector<ValueId> offsets(type.shape.size() + 1, b.index(0));
  offsets[0] = version;
  Axes axes;
  for (size_t axis = 1; axis < offsets.size(); ++axis) axes.push_back(int64_t(axis));
  return b.value(op::Subview{versions, offsets, axes, BoundsList(offsets.size(), Bounds::Inside)}, type, hint);
}

ValueId copy_ahead(Builder& b, op::Copy copy, ValueId versions, ValueId version, CopyClass copy_class) {
  copy.dst_offsets.insert(copy.dst_offsets.begin(), version);
  for (int64_t& axis : copy.dst_axes) ++axis;
  BoundsList inside(copy.dst_offsets.size(), Bounds::Inside);
  return b.value(op::CopyAsync{copy.src, copy.src_offsets, copy.src_axes, copy.src_bounds, versions, copy.dst_offsets, copy.dst_axes,
                               inside, copy.shape, copy.pad, copy_class, {}, copy.label},
                 plain_type(TypeKind::Token));
}

void drop_alloc(Kernel& kernel, RegionId region, ValueId buffer) {
  OpId alloc = kernel.value(buffer).op;
  std::erase(kernel.region(region).ops, alloc);
  each_op(kernel, region, [&](OpId id) {
    each_region(kernel.op(id).data, [&](RegionId r) { std::erase(kernel.region(r).ops, alloc); });
  });
}

}  // namespace tilec::passes
