#include "sema/same_call.h"

#include <algorithm>

namespace tilec::sema {

using namespace ir;

namespace {

// What a value of the body is to a caller. What is computed has no name, and is compared by its operation alone.
std::string text_of(const Kernel& kernel, ValueId v) {
  for (const Dim& dim : kernel.dims)
    if (dim.value == v) return dim.name;
  if (auto number = kernel.constant(v)) return std::to_string(number->i);
  const Op* op = kernel.definition(v);
  if (!op) return "?";
  std::string text(name(op->kind()));
  if (const auto* binary = op->get<op::Binary>()) text += std::string(name(binary->fn));
  each_operand(op->data, [&](ValueId x) { text += " " + text_of(kernel, x); });
  return "(" + text + ")";
}

std::string texts_of(const Kernel& kernel, const std::vector<ValueId>& values) {
  std::string text;
  for (ValueId v : values) text += (text.empty() ? "" : ", ") + text_of(kernel, v);
  return text;
}

bool is_same(const Kernel& a, const Param& x, const Kernel& b, const Param& y) {
  const Type &left = a.type(x.value), &right = b.type(y.value);
  return x.access == y.access && x.may_alias == y.may_alias && x.may_be_null == y.may_be_null && left.element == right.element &&
         left.is_buffer() == right.is_buffer() && texts_of(a, x.extents) == texts_of(b, y.extents) && texts_of(a, x.strides) == texts_of(b, y.strides);
}

}  // namespace

std::string difference_of_calls(const Kernel& a, const Kernel& b) {
  if (a.params.size() != b.params.size())
    return "one has " + std::to_string(a.params.size()) + " parameters, the other " + std::to_string(b.params.size());
  for (size_t i = 0; i < a.params.size(); ++i) {
    const Param &x = a.params[i], &y = b.params[i];
    if (x.name != y.name) return "a parameter is `" + x.name + "` in one, `" + y.name + "` in the other";
    if (!is_same(a, x, b, y)) return "`" + x.name + "` is not the same parameter in both";
  }
  auto is_same_dim = [](const Dim& x, const Dim& y) { return x.name == y.name && x.fixed == y.fixed; };
  if (!std::ranges::equal(a.dims, b.dims, is_same_dim)) return "their dims are not the same";
  auto is_same_contract = [](const Requirement& x, const Requirement& y) { return x.text == y.text; };
  if (!std::ranges::equal(a.requirements, b.requirements, is_same_contract)) return "they do not require the same";
  return "";
}

}  // namespace tilec::sema
