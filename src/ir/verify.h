// Is the kernel what its form promises? Every violation is a mistake of the compiler's, never of the user's.
#pragma once
#include <span>

#include "ir/kernel.h"

namespace tilec::ir {

struct Violation {
  std::string_view code;  // V012
  std::string text;       // tile %t_4 has no layout
  OpId op;                // none for the header
  Span span;
};

// All violations found; where the structure is broken (V001 to V006) nothing else is looked at.
std::vector<Violation> verify(const Kernel& kernel, Form form);

// internal error after pass 'place': tile %t_4 has no layout [V012]
std::string internal_error(const Violation& violation, std::string_view pass);

struct Law {
  std::string_view code, text;
};
std::span<const Law> laws();

}  // namespace tilec::ir
