// Integer arithmetic of the IR in the words of the language, for messages: "n * m + 3", "min(a, b)".
#pragma once
#include <string>

#include "ir/kernel.h"

namespace tilec::ir {

std::string source_words(UnaryFn fn, std::string_view x);
std::string source_words(BinaryFn fn, std::string_view a, std::string_view b);
// How `v` is computed from what has a name to the caller, dims and parameters; "..." for what is too much to read.
std::string source_words(const Kernel& kernel, ValueId v);

}  // namespace tilec::ir
