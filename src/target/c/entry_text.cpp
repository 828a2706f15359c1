#include "target/c/entry_text.h"

#include "base/text.h"
#include "target/c_family/scalar_text.h"

namespace tilec::target::c {

namespace {

struct DatumText {
  std::string operator()(const datum::I32& d) const { return std::to_string(d.value); }
  std::string operator()(const datum::I64& d) const { return "INT64_C(" + std::to_string(d.value) + ")"; }
  std::string operator()(const datum::Text& d) const { return quoted(d.value); }
  std::string operator()(const datum::Bytes& d) const { return d.value.empty() ? "NULL" : quoted(d.value); }
  std::string operator()(const datum::Foreign& d) const { return "&" + d.name; }
  std::string operator()(const datum::Address& d) const { return d.name.empty() ? "NULL" : d.name; }
  std::string operator()(const datum::Function& d) const { return d.name; }
  std::string operator()(const datum::Open&) const { return "{"; }
  std::string operator()(const datum::Close&) const { return "}"; }
};

std::string row_text(const std::vector<Datum>& row) {
  std::string text;
  for (const Datum& d : row) {
    bool begins = text.empty() || text.back() == '{', closes = std::holds_alternative<datum::Close>(d);
    text += (begins || closes ? "" : ", ") + std::visit(DatumText{}, d);
  }
  return text;
}

std::string argument_text(const ArgumentAbi& a) {
  switch (a.kind) {
    case Argument::Pointer: case Argument::Workspace: case Argument::Stream: return "void *" + a.name;
    case Argument::Scalar: return c_type(a.element == Scalar::TF32 ? Scalar::F32 : a.element) + " " + a.name;  // as in the header
    case Argument::Dim: return "int64_t " + a.name;
    case Argument::WorkspaceBytes: return "size_t " + a.name;
    case Argument::ArgsStruct: return "const void *" + a.name;
    case Argument::SizeOut: return "size_t *" + a.name;
  }
  return "";
}

std::string slot_text(const ArgumentAbi& a) {
  std::string slot = "tile_slots[" + std::to_string(a.slot) + "]";
  switch (a.kind) {
    case Argument::Pointer: case Argument::Workspace: return slot + " = (int64_t)(intptr_t)" + a.name + ";";
    case Argument::Dim: case Argument::WorkspaceBytes: return slot + " = (int64_t)" + a.name + ";";
    case Argument::Scalar: return "memcpy(&" + slot + ", &" + a.name + ", sizeof " + a.name + ");";
    default: return "";
  }
}

}  // namespace

std::string table_text(const Table& table) {
  bool is_kernel = table.type == "struct tile_kernel";
  std::string text = (table.is_constant ? "static const " : "static ") + table.type + " " + table.name + (is_kernel ? "" : "[]") + " = {\n";
  for (const std::vector<Datum>& row : table.rows) {
    bool is_struct = table.type.starts_with("struct") && !is_kernel;
    text += std::string("  ") + (is_struct ? "{" : "") + row_text(row) + (is_struct ? "}" : "") + ",\n";
  }
  return text + "};\n";
}

std::string entry_text(const Export& exported, const Abi& abi, const EntryAbi& entry) {
  std::string arguments, result = entry.support.empty() ? "const tile_info *" : "tile_status ";
  for (const ArgumentAbi& a : entry.arguments) arguments += (arguments.empty() ? "" : ", ") + argument_text(a);
  std::string head = result + entry.name + "(" + (arguments.empty() ? "void" : arguments) + ")";
  std::string text = head + ";\n" + head + " {\n", kernel = "&" + descriptor_name(exported);
  if (entry.support.empty()) return text + "  return " + kernel + ".info;\n}\n";
  std::string call = entry.support + "(" + kernel;
  if (entry.fills_slots) {
    text += "  int64_t tile_slots[" + std::to_string(abi.slot_count) + "] = {0};\n";
    for (const ArgumentAbi& a : entry.arguments)
      if (std::string line = slot_text(a); !line.empty()) text += "  " + line + "\n";
    call += ", tile_slots";
  }
  for (const ArgumentAbi& a : entry.arguments)
    if (a.kind == Argument::Stream || a.kind == Argument::ArgsStruct || a.kind == Argument::SizeOut) call += ", " + a.name;
  return text + "  return " + call + ");\n}\n";
}

}  // namespace tilec::target::c
