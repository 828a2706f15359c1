#include "host/names.h"

#include <unordered_map>

#include "diag/diag.h"
#include "host/c_functions.h"

namespace tilec::host {

namespace {

constexpr std::string_view kWords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char8_t", "char16_t", "char32_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const",
    "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
    "if", "inline", "int", "linux", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq",
    "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "typeof",
    "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
    // Of the headers that a generated one includes.
    "NULL", "offsetof", "size_t", "ptrdiff_t", "max_align_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
    "uint32_t", "uint64_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t"};
// Members and arguments that the header adds.
constexpr std::string_view kArguments[] = {"bytes", "struct_size", "workspace", "workspace_bytes", "stream"};
// What a header declares itself and what C keeps for its own begin so.
constexpr std::string_view kBeginnings[] = {"tile_", "TILE_", "tile1_", "TILE1_", "__"};
// What stands beside each function.
constexpr std::string_view kCompanions[] = {"_args", "_call", "_load", "_check", "_info", "_workspace_size"};

template <size_t N>
bool is_among(const std::string_view (&words)[N], std::string_view name) {
  return std::find(std::begin(words), std::end(words), name) != std::end(words);
}

bool has_reserved_beginning(std::string_view name) {
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view b) { return name.starts_with(b); });
}

}  // namespace

bool is_reserved(std::string_view name) { return is_among(kWords, name) || has_reserved_beginning(name); }

std::string argument_name(std::string name, const std::vector<std::string_view>& taken) {
  // Nothing behind it mends a name that begins as the header's own do.
  if (has_reserved_beginning(name)) name = "arg_" + name;
  while (is_reserved(name) || is_among(kArguments, name) || std::find(taken.begin(), taken.end(), name) != taken.end()) name += '_';
  return name;
}

void check_function_names(std::span<const FunctionName> functions, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, const FunctionName*> by_name;
  for (const FunctionName& f : functions) by_name.emplace(f.name, &f);
  for (const FunctionName& f : functions) {
    if (is_reserved(f.name) || is_c_function(f.name))
      diagnostics.at(f.span).error(diag::NotAllowedHere, "`" + f.name + "`", "as the name of an export, because C has it already")
          .help("give it another name, `export NAME as OTHER;`, or put something before all of them with --prefix");
    for (std::string_view companion : kCompanions)
      if (auto other = by_name.find(f.name + std::string(companion)); other != by_name.end())
        diagnostics.at(other->second->span).error(diag::ExportClash, other->second->name)
            .note(f.span, diag::BecauseOf, "`" + other->second->name + "` comes with `" + f.name + "` of itself");
  }
}

}  // namespace tilec::host
