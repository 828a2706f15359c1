#include "host/arguments.h"

#include "target/abi/c_names.h"

namespace tilec::host {

namespace {

int rounded_up(int offset, int alignment) { return (offset + alignment - 1) / alignment * alignment; }

}  // namespace

std::string_view c_type(Scalar element) {
  switch (element) {
    case Scalar::Bool: return "bool";
    case Scalar::Index: case Scalar::I64: return "int64_t";
    case Scalar::I8: return "int8_t";
    case Scalar::I16: return "int16_t";
    case Scalar::I32: return "int32_t";
    case Scalar::U8: return "uint8_t";
    case Scalar::U16: return "uint16_t";
    case Scalar::U32: return "uint32_t";
    case Scalar::U64: return "uint64_t";
    case Scalar::F16: return "tile_f16";
    case Scalar::BF16: return "tile_bf16";
    case Scalar::TF32: case Scalar::F32: return "float";
    case Scalar::F64: return "double";
    case Scalar::F8E4M3: return "tile_f8e4m3";
    case Scalar::F8E5M2: return "tile_f8e5m2";
    case Scalar::F8E8M0: return "tile_f8e8m0";
    case Scalar::F8E4M3FNUZ: return "tile_f8e4m3fnuz";
    case Scalar::F8E5M2FNUZ: return "tile_f8e5m2fnuz";
    case Scalar::I2: case Scalar::I4: case Scalar::U2: case Scalar::U4: case Scalar::F6E2M3: case Scalar::F6E3M2:
    case Scalar::F4E2M1: return "tile_packed";
  }
  return "tile_packed";
}

std::vector<Argument> arguments(const Export& exported, const Library& library) {
  using enum Argument::Kind;
  std::vector<Argument> all;
  std::vector<std::string> names;
  for (const Parameter& parameter : exported.parameters) names.push_back(parameter.name);
  for (const Dimension& dimension : exported.dimensions)
    if (!dimension.fixed) names.push_back(dimension.name);
  names = target::argument_names(names);
  for (size_t i = 0; i < exported.parameters.size(); ++i) {
    const Parameter& parameter = exported.parameters[i];
    std::string type(c_type(parameter.element));
    if (parameter.is_tensor) type = (parameter.access == ir::Access::In ? "const " : "") + type + " *";
    else type += ' ';
    all.push_back({parameter.is_tensor ? Tensor : Argument::Kind::Scalar, names[all.size()], type, i});
  }
  for (size_t i = 0; i < exported.dimensions.size(); ++i) {
    if (exported.dimensions[i].fixed) continue;
    all.push_back({Dim, names[all.size()], "int64_t ", i});
  }
  if (exported.has_workspace) {
    all.push_back({Workspace, "workspace", "void *"});
    all.push_back({WorkspaceBytes, "workspace_bytes", "size_t "});
  }
  const std::string& stream = library.stream_struct;
  all.push_back({Stream, "stream", stream.empty() ? "void *" : "struct " + stream + " *"});
  return all;
}

ArgsLayout args_layout(const Export& exported) {
  constexpr int kWord = 8;
  ArgsLayout layout;
  int end = kWord;
  auto place = [&](int bytes, int alignment) {
    int offset = rounded_up(end, alignment);
    end = offset + bytes;
    return offset;
  };
  for (const Parameter& parameter : exported.parameters) {
    int numbers = int(parameter.extents.size() + parameter.strides.size());
    int bytes = parameter.is_tensor ? kWord * (1 + numbers) : byte_width(parameter.element);
    layout.parameters.push_back(place(bytes, parameter.is_tensor ? kWord : bytes));
  }
  if (exported.has_workspace) layout.workspace = place(2 * kWord, kWord);
  layout.stream = place(kWord, kWord);
  layout.size = end;
  return layout;
}

}  // namespace tilec::host
