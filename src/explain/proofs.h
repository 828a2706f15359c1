// What was proved of a kernel's accesses and what is left to the run, for people.
#pragma once
#include <string>

#include "base/source.h"
#include "ir/kernel.h"

namespace tilec {

// "file:line", or nothing for what has no place.
std::string place_of(Span span, const SourceMap& sources);

// `placed` says of every access whether it was proved to stay inside.
std::string proofs_text(const ir::Kernel& placed, const SourceMap& sources);

}  // namespace tilec
