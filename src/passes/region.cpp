#include "passes/region.h"

namespace tilec::passes {

using namespace ir;

Box box_of(ValueId base, std::span<const ValueId> offsets, const Axes& axes, std::span<const int64_t> shape) {
  Box box{base, offsets, std::vector<int64_t>(offsets.size(), 1), std::vector<bool>(offsets.size(), false)};
  for (size_t i = 0; i < axes.size(); ++i) {
    box.sizes[axes[i]] = shape[i];
    box.is_axis[axes[i]] = true;
  }
  return box;
}

std::string name_of(const Kernel& kernel, ValueId v) {
  if (const Param* param = kernel.param_of(v)) return param->name;
  if (auto* alloc = kernel.defined_by<op::Alloc>(v); alloc && !alloc->name.empty()) return alloc->name;
  if (auto* view = kernel.defined_by<op::Subview>(v)) return name_of(kernel, view->buffer);
  if (auto* load = kernel.defined_by<op::Load>(v); load && kernel.value(v).hint.empty()) return name_of(kernel, load->buffer);
  return kernel.value(v).hint.empty() ? std::string(kNoName) : kernel.value(v).hint;
}

bool is_device_memory(const Type& type) { return type.space == Space::Global || type.space == Space::Workspace; }

std::string example_text(const prove::Prover& prover, const prove::Model& model) {
  std::string text = prove::text_of(prover.named(model));
  return text.empty() ? "" : "for " + text + " ";
}

}  // namespace tilec::passes
