// Which names C and C++ leave to an exported function; its arguments: target/abi/c_names.h.
#pragma once
#include <span>
#include <string>

#include "base/source.h"

namespace tilec {
class Diagnostics;
}

namespace tilec::host {

struct FunctionName {
  std::string name;  // with --prefix
  Span span;         // of the export
};
// Reports names that C does not leave to a function, and names that clash with what comes beside another function.
void check_function_names(std::span<const FunctionName> functions, Diagnostics& diagnostics);

}  // namespace tilec::host
