#include "host/manifest.h"

#include "diag/json.h"
#include "host/arguments.h"

namespace tilec::host {

namespace {

constexpr int64_t kAbi = 1;

std::string_view access_text(ir::Access access) {
  constexpr std::string_view kTexts[] = {"in", "out", "inout"};
  return kTexts[size_t(access)];
}

// A number as a number, a name as a name, null where it is computed from dims.
Json extents_json(const std::vector<std::string>& extents) {
  Json out = Json::array();
  for (const std::string& extent : extents) {
    bool is_number = !extent.empty() && extent.find_first_not_of("-0123456789") == std::string::npos;
    out.push(is_number ? Json(int64_t(std::stoll(extent))) : extent.empty() ? Json() : Json(extent));
  }
  return out;
}

Json parameter_json(const Parameter& parameter, int offset) {
  Json out = Json::object();
  out.set("name", parameter.name).set("kind", parameter.is_tensor ? "tensor" : "scalar");
  out.set("type", parameter.type_text).set("element", name(parameter.element)).set("args_offset", offset);
  if (!parameter.doc.empty()) out.set("doc", parameter.doc);
  if (!parameter.is_tensor) return out;
  out.set("access", access_text(parameter.access)).set("alias", parameter.may_alias);
  out.set("nullable", parameter.may_be_null).set("shape", extents_json(parameter.extents));
  if (!parameter.strides.empty()) out.set("strides", extents_json(parameter.strides));
  return out;
}

Json dimensions_json(const Export& exported) {
  Json out = Json::array();
  for (const Dimension& dimension : exported.dimensions) {
    Json row = Json::object();
    row.set("name", dimension.name);
    if (dimension.fixed) row.set("fixed", *dimension.fixed);
    out.push(row);
  }
  return out;
}

Json arguments_json(const Export& exported, const Library& library) {
  Json out = Json::array();
  for (const Argument& argument : arguments(exported, library)) {
    std::string type = argument.type;
    if (type.ends_with(' ')) type.pop_back();
    out.push(Json::object().set("name", argument.name).set("c_type", type));
  }
  return out;
}

Json export_json(const Export& exported, const Library& library) {
  ArgsLayout layout = args_layout(exported);
  Json parameters = Json::array(), contracts = Json::array(), variants = Json::array();
  for (size_t i = 0; i < exported.parameters.size(); ++i)
    parameters.push(parameter_json(exported.parameters[i], layout.parameters[i]));
  for (const Contract& contract : exported.contracts)
    contracts.push(Json::object().set("text", contract.text).set("source", contract.place));
  for (const Variant& variant : exported.variants)
    variants.push(Json::object().set("machine", variant.machine).set("instance", variant.instance).set("clocks", variant.clocks));
  Json args = Json::object();
  args.set("size", layout.size).set("stream_offset", layout.stream);
  if (exported.has_workspace) args.set("workspace_offset", layout.workspace);
  Json out = Json::object();
  out.set("name", exported.name).set("signature", exported.signature).set("source", exported.source);
  if (!exported.doc.empty()) out.set("doc", exported.doc);
  out.set("parameters", parameters).set("dims", dimensions_json(exported)).set("requires", contracts);
  out.set("arguments", arguments_json(exported, library)).set("args_struct", args);
  return out.set("workspace", exported.has_workspace).set("variants", variants);
}

Json images_json(const Library& library) {
  Json out = Json::array();
  for (const Image& image : library.images) {
    Json row = Json::object().set("machine", image.machine).set("text_bytes", int64_t(image.text_bytes));
    if (image.code_bytes) row.set("code_bytes", int64_t(image.code_bytes)).set("by", image.by);
    out.push(row);
  }
  return out;
}

}  // namespace

std::string manifest_text(const Library& library) {
  Json kernels = Json::array();
  for (const Export& exported : library.exports) kernels.push(export_json(exported, library));
  Json out = Json::object();
  out.set("abi", kAbi).set("compiler", library.compiler).set("name", library.name);
  if (!library.images.empty()) out.set("images", images_json(library));
  return out.set("kernels", kernels).indented_text();
}

}  // namespace tilec::host
