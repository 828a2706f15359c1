#include "sema/stdlib.h"

#include "base/embedded.h"
#include "sema/sema.h"

namespace tilec {

std::span<const EmbeddedFile> stdlib_files();  // made by the build from stdlib/core

std::optional<std::string_view> stdlib_source(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const EmbeddedFile& file : stdlib_files())
    if (file.name == name) return file.text;
  return std::nullopt;
}

// `std.core` is core/ops.tile, `std.NAME` core/NAME.tile.
std::string stdlib_path(std::string_view module) {
  constexpr std::string_view kPrefix = "std.";
  if (!module.starts_with(kPrefix)) return {};
  std::string_view name = module.substr(kPrefix.size());
  return "core/" + std::string(name == "core" ? "ops" : name) + ".tile";
}

SourceProvider embedded_library() {
  return {.module = [](std::string_view path) -> std::optional<SourceProvider::Source> {
            std::string file = stdlib_path(path);
            auto text = file.empty() ? std::nullopt : stdlib_source(file);
            if (!text) return std::nullopt;
            return SourceProvider::Source{"std/" + file, std::string(*text)};
          },
          .file = [](std::string_view, std::string_view) { return std::nullopt; }};
}

}  // namespace tilec
