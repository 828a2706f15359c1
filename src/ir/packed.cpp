#include "ir/packed.h"

#include <algorithm>

namespace tilec::ir {

int64_t packed_bytes(const Kernel& kernel, RegionId launch) {
  int64_t bytes = 0;
  each_op(kernel, launch, [&](OpId id) {
    auto* alloc = kernel.op(id).get<op::Alloc>();
    if (!alloc || alloc->offset == kUnplaced) return;
    const Type& type = kernel.type(kernel.op(id).result());
    bytes = std::max(bytes, alloc->offset + type.element_count() * byte_width(type.element));
  });
  return bytes;
}

}  // namespace tilec::ir
