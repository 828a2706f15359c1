// Which names C and C++ leave to an exported function and to its arguments.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace tilec {
class Diagnostics;
}

namespace tilec::host {

// Words of C and C++, and what every generated header declares.
bool is_reserved(std::string_view name);

// An argument's name in C: the name itself, or one near to it that is free and not among `taken`.
std::string argument_name(std::string name, const std::vector<std::string_view>& taken);

struct FunctionName {
  std::string name;  // with --prefix
  Span span;         // of the export
};
// Reports names that C does not leave to a function, and names that clash with what comes beside another function.
void check_function_names(std::span<const FunctionName> functions, Diagnostics& diagnostics);

}  // namespace tilec::host
