// The library's source, built into the compiler.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tilec {

// The file of a module of the library: `std.math` is `core/math.tile`; empty when it is no name of the library.
std::string stdlib_path(std::string_view module);
// The text of `core/ops.tile`; none when there is no such file.
std::optional<std::string_view> stdlib_source(std::string_view path);

}  // namespace tilec
