// Text to an image, by the toolkit's assembler, where there is one.
#pragma once
#include "target/target.h"

namespace tilec::target::cuda {

// Where it is found without being named; empty: nowhere.
std::string find_assembler();
// `tool`: its path; empty: looked for.
Assembled assemble(std::string_view text, const Machine& machine, const std::string& tool);

}  // namespace tilec::target::cuda
