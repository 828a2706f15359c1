#include "host/header.h"

#include "base/text.h"
#include "host/arguments.h"
#include "ir/workspace.h"
#include "target/launch_support/launch_support.h"

namespace tilec::host {

namespace {

// The line without what would swallow the next one if this is a comment: blanks, backslashes, the backslash's trigraph.
std::string_view without_continuation(std::string_view line) {
  for (;;) {
    line = line.substr(0, line.find_last_not_of(" \t\r\\") + 1);
    if (!line.ends_with("?" "?/")) return line;
    line.remove_suffix(3);
  }
}

// Text as line comments, indented as it is.
std::string comment(std::string_view text) {
  std::string out;
  if (trim(text).empty()) return out;
  for (const std::string& line : split(text, '\n')) {
    std::string_view kept = without_continuation(line);
    out += (kept.empty() ? "//" : "// ") + std::string(kept) + "\n";
  }
  return out;
}

// One line of what may have been written on several.
std::string on_one_line(std::string_view text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    std::string_view part = trim(line);
    if (!part.empty()) out += (out.empty() ? "" : " ") + std::string(part);
  }
  return out;
}

std::string_view access_text(ir::Access access) {
  constexpr std::string_view kTexts[] = {"in", "out", "inout"};
  return kTexts[size_t(access)];
}

std::string guard_name(const Library& library) {
  // Two headers of one name hold different functions; a hash of the functions' names keeps their guards apart.
  uint32_t hash = 2166136261u;
  auto add = [&](std::string_view text) {
    for (char c : text) hash = (hash ^ uint8_t(c)) * 16777619u;
  };
  for (const Export& exported : library.exports) add(exported.name + "/");
  std::string name = "TILE_HEADER_";
  for (char c : library.name) {
    bool is_kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    name += !is_kept ? '_' : c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  }
  char digits[16];
  std::snprintf(digits, sizeof digits, "_%08X", unsigned(hash));
  return name + digits;
}

// "in f16[M, K], may be NULL", or nothing where the type says it all.
std::string note_of(const Argument& argument, const Export& exported) {
  using enum Argument::Kind;
  switch (argument.kind) {
    case Tensor: {
      const Parameter& parameter = exported.parameters[argument.index];
      std::string note = std::string(access_text(parameter.access)) + " " + on_one_line(parameter.type_text);
      if (parameter.may_be_null) note += ", may be NULL";
      if (parameter.may_alias) note += ", may overlap others";
      return note;
    }
    case Argument::Kind::Scalar: return on_one_line(exported.parameters[argument.index].type_text);
    case Workspace: return "NULL: allocated for the call";
    case Dim: case WorkspaceBytes: case Stream: return "";
  }
  return "";
}

// Declarations one a line, `separator` behind each but the last, their notes in one column.
std::string columns(const std::vector<std::pair<std::string, std::string>>& rows, std::string_view indent,
                    std::string_view separator, std::string_view end) {
  size_t width = 0;
  for (const auto& [row, note] : rows)
    if (!note.empty() && row.size() < 60) width = std::max(width, row.size() + 1);
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [row, note] = rows[i];
    std::string line = std::string(indent) + row + std::string(i + 1 < rows.size() ? separator : end);
    if (note.empty()) {
      out += line + "\n";
      continue;
    }
    while (line.size() < indent.size() + width) line += ' ';
    out += line + "  " + comment(note);
  }
  return out;
}

std::string contract_text(const Export& exported) {
  std::string out = comment(exported.doc);
  if (!out.empty()) out += "//\n";
  out += comment(on_one_line(exported.signature));
  for (const Contract& contract : exported.contracts) out += comment("  requires " + on_one_line(contract.text));
  for (const Dimension& dimension : exported.dimensions)
    if (dimension.fixed) out += comment("  where " + dimension.name + " = " + std::to_string(*dimension.fixed));
  for (const Parameter& parameter : exported.parameters)
    if (!trim(parameter.doc).empty()) out += comment("  " + parameter.name + ": " + on_one_line(parameter.doc));
  for (const Variant& variant : exported.variants) {
    out += comment("  code for " + variant.machine + (variant.instance.empty() ? "" : ": " + on_one_line(variant.instance)));
    if (!variant.clocks.empty()) out += comment("    taken where fewest clocks are expected: " + on_one_line(variant.clocks));
  }
  return out;
}

std::string function_text(const Export& exported, const std::vector<Argument>& all) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Argument& argument : all) rows.emplace_back(argument.type + argument.name, note_of(argument, exported));
  return "tile_status " + exported.name + "(\n" + columns(rows, "    ", ",", ");");
}

std::string struct_text(const Export& exported, const std::vector<Argument>& all) {
  using enum Argument::Kind;
  std::vector<std::pair<std::string, std::string>> rows{{"size_t struct_size", "sizeof(" + exported.name + "_args)"}};
  for (const Argument& argument : all) {
    if (argument.kind == Dim) continue;
    std::string row = argument.type + argument.name;
    if (argument.kind == Tensor) {
      const Parameter& parameter = exported.parameters[argument.index];
      row = "struct { " + argument.type + "data;";
      if (!parameter.extents.empty()) row += " int64_t shape[" + std::to_string(parameter.extents.size()) + "];";
      if (!parameter.strides.empty()) row += " int64_t strides[" + std::to_string(parameter.strides.size()) + "];";
      row += " } " + argument.name;
    }
    rows.emplace_back(row, note_of(argument, exported));
  }
  return "typedef struct " + exported.name + "_args {\n" + columns(rows, "  ", ";", ";") + "} " + exported.name +
         "_args;\n";
}

std::string workspace_size_text(const Export& exported, const std::vector<Argument>& all) {
  std::string out = "tile_status " + exported.name + "_workspace_size(";
  for (const Argument& argument : all)
    if (argument.kind == Argument::Kind::Scalar || argument.kind == Argument::Kind::Dim)
      out += argument.type + argument.name + ", ";
  return out + "size_t *bytes);\n";
}

std::string export_text(const Export& exported, const Library& library) {
  std::vector<Argument> all = arguments(exported, library);
  const std::string& name = exported.name;
  std::string out = "\n" + contract_text(exported) + function_text(exported, all);
  out += "// The same with each tensor's shape beside it, checked against the others.\n" + struct_text(exported, all);
  out += "tile_status " + name + "_call(const " + name + "_args *args);\n";
  out += "// Does now what the first call would do besides its work.\n";
  out += "tile_status " + name + "_load(void);\n";
  out += "// Bytes that a call with these arguments takes for workspace; its address is a multiple of " + std::to_string(ir::kWorkspaceAlignment) + ".\n";
  out += workspace_size_text(exported, all);
  out += "// What went wrong in the calls on this stream that have returned.\n";
  out += "tile_status " + name + "_check(" + all.back().type + "stream);\n";
  return out + "const tile_info *" + name + "_info(void);\n";
}

}  // namespace

std::string header_text(const Library& library) {
  std::string guard = guard_name(library);
  std::string out = "// Made by " + on_one_line(library.compiler) + ".\n";
  out += "#ifndef " + guard + "\n#define " + guard + "\n\n";
  out += target::abi_text();
  if (!library.stream_struct.empty()) out += "\nstruct " + library.stream_struct + ";\n";
  out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const Export& exported : library.exports) out += export_text(exported, library);
  return out + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tilec::host
