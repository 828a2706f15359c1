#include "ir/overlap.h"

#include <algorithm>

namespace tilec::ir {

ValueId root_buffer(const Kernel& kernel, ValueId buffer) {
  while (const op::Subview* view = kernel.defined_by<op::Subview>(buffer)) buffer = view->buffer;
  return buffer;
}

bool may_overlap(const Kernel& kernel, ValueId a, ValueId b) {
  a = root_buffer(kernel, a), b = root_buffer(kernel, b);
  const Param *one = kernel.param_of(a), *other = kernel.param_of(b);
  bool is_written = one && other && (one->access != Access::In || other->access != Access::In);
  return a == b || (is_written && (one->may_alias || other->may_alias));
}

bool is_never_written(const Kernel& kernel, ValueId buffer) {
  const Param* param = kernel.param_of(buffer);
  return param && param->access == Access::In && std::ranges::none_of(kernel.params, [&](const Param& other) {
    return other.value != buffer && may_overlap(kernel, buffer, other.value);
  });
}

}  // namespace tilec::ir
