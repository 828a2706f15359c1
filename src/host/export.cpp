#include "host/export.h"

namespace tilec::host {

namespace {

// What a body value is to a reader: a dim, a number, or nothing with a name.
std::string text_of(const ir::Kernel& kernel, ir::ValueId value) {
  for (const ir::Dim& dim : kernel.dims)
    if (dim.value == value) return dim.name;
  auto number = kernel.constant(value);
  return number ? std::to_string(number->i) : "";
}

Parameter parameter_of(const ir::Kernel& kernel, const ir::Param& param) {
  const ir::Type& type = kernel.type(param.value);
  Parameter out{.name = param.name, .doc = param.doc, .type_text = param.type_text, .is_tensor = type.is_buffer(),
                .element = type.element, .access = param.access, .may_alias = param.may_alias,
                .may_be_null = param.may_be_null};
  for (ir::ValueId extent : param.extents) out.extents.push_back(text_of(kernel, extent));
  for (ir::ValueId stride : param.strides) out.strides.push_back(text_of(kernel, stride));
  return out;
}

std::string place_of(const SourceMap* sources, Span span) {
  if (!sources || !span.valid()) return "";
  LineColumn at = sources->place(span);
  return std::string(sources->name(span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

bool has_workspace(const ir::Kernel& kernel) {
  return std::ranges::any_of(kernel.region(kernel.body).ops,
                             [&](ir::OpId op) { return kernel.op(op).is<ir::op::Alloc>(); });
}

}  // namespace

Export export_of(const ir::Kernel& kernel, const SourceMap* sources) {
  Export out{.name = kernel.name, .doc = kernel.doc, .source = place_of(sources, kernel.span)};
  for (const ir::Param& param : kernel.params) out.parameters.push_back(parameter_of(kernel, param));
  for (const ir::Dim& dim : kernel.dims) out.dimensions.push_back({dim.name, dim.fixed});
  for (const ir::Requirement& requirement : kernel.requirements)
    out.contracts.push_back({requirement.text, place_of(sources, requirement.span)});
  out.has_workspace = has_workspace(kernel);
  return out;
}

}  // namespace tilec::host
