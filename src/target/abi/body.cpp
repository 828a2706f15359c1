// What the host's part of a kernel is made of: the operations behind a value, and shapes as products.
#include <unordered_set>

#include "base/check.h"
#include "target/abi/abi.h"

namespace tilec::target {

using namespace ir;

std::vector<ValueId> shape_operands(const Kernel& kernel, const Op& op) {
  if (const auto* x = op.get<op::Extent>()) return extent_of(kernel, x->buffer, x->axis).factors;
  if (const auto* x = op.get<op::Stride>()) return stride_of(kernel, x->buffer, x->axis).factors;
  return {};
}

std::vector<OpId> body_ops_for(const Kernel& kernel, const std::vector<ValueId>& roots) {
  std::unordered_set<uint32_t> needed;
  for (ValueId v : roots) needed.insert(v.index);
  std::vector<OpId> ops;
  const std::vector<OpId>& all = kernel.region(kernel.body).ops;
  auto need = [&](ValueId v) { needed.insert(v.index); };
  for (size_t i = all.size(); i-- > 0;) {
    const Op& op = kernel.op(all[i]);
    if (op.is<op::Launch>() || op.is<op::Alloc>() || op.is<op::Yield>()) continue;
    bool is_needed = false;
    for (ValueId v : op.results) is_needed |= needed.contains(v.index);
    if (!is_needed) continue;
    ops.push_back(all[i]);
    each_operand(op.data, need);
    each_region(op.data, [&](RegionId region) {
      for (ValueId v : captured_values(kernel, region)) need(v);
    });
    for (ValueId v : shape_operands(kernel, op)) need(v);
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

std::vector<ValueId> captured_values(const Kernel& kernel, RegionId region) {
  std::unordered_set<uint32_t> inside, seen;
  std::vector<ValueId> captured;
  auto add = [&](ValueId v) {
    if (v.valid() && !inside.contains(v.index) && seen.insert(v.index).second) captured.push_back(v);
  };
  auto enter = [&](RegionId r) {
    for (ValueId v : kernel.region(r).args) inside.insert(v.index);
  };
  enter(region);
  each_op(kernel, region, [&](OpId id) {
    const Op& op = kernel.op(id);
    for (ValueId v : op.results) inside.insert(v.index);
    each_region(op.data, enter);
    each_operand(op.data, add);
    for (ValueId v : shape_operands(kernel, op)) add(v);
  });
  return captured;
}

namespace {

// The extents of a buffer of device memory: its parameter's, or those of the `alloc` of a workspace.
const std::vector<ValueId>& extents_of(const Kernel& kernel, ValueId buffer) {
  if (const Param* param = kernel.param_of(buffer)) return param->extents;
  const auto* alloc = kernel.defined_by<op::Alloc>(buffer);
  INVARIANT(alloc, "a buffer is a parameter or made by alloc");
  return alloc->extents;
}

void multiply(Product& product, const Kernel& kernel, ValueId buffer, int64_t axis) {
  const Type& type = kernel.type(buffer);
  auto times = [&](int64_t number) {
    if (__builtin_mul_overflow(product.constant, number, &product.constant)) product.constant = -1;
  };
  if (type.shape[axis] != kDynamic) return times(type.shape[axis]);
  // The extents of an `alloc` are given for dynamic axes alone, or for every axis.
  const std::vector<ValueId>& extents = extents_of(kernel, buffer);
  size_t position = axis;
  if (extents.size() != type.shape.size())
    position = std::count(type.shape.begin(), type.shape.begin() + axis, kDynamic);
  INVARIANT(position < extents.size(), "a dynamic axis has an extent");
  if (auto constant = kernel.constant(extents[position])) times(constant->i);
  else product.factors.push_back(extents[position]);
}

}  // namespace

Product extent_of(const Kernel& kernel, ValueId buffer, int64_t axis) {
  Product product;
  multiply(product, kernel, buffer, axis);
  return product;
}

Product stride_of(const Kernel& kernel, ValueId buffer, int64_t axis) {
  Product product;
  const Param* param = kernel.param_of(buffer);
  if (param && !param->strides.empty()) {
    if (auto constant = kernel.constant(param->strides[axis])) product.constant = constant->i;
    else product.factors.push_back(param->strides[axis]);
    return product;
  }
  for (int64_t inner = axis + 1; inner < kernel.type(buffer).rank(); ++inner) multiply(product, kernel, buffer, inner);
  return product;
}

Product bytes_of(const Kernel& kernel, OpId alloc) {
  ValueId buffer = kernel.op(alloc).result();
  Product product;
  for (int64_t axis = 0; axis < kernel.type(buffer).rank(); ++axis) multiply(product, kernel, buffer, axis);
  if (__builtin_mul_overflow(product.constant, int64_t(byte_width(kernel.type(buffer).element)), &product.constant)) product.constant = -1;
  return product;
}

}  // namespace tilec::target
