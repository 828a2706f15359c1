// What the compiler decided about a kernel on a machine, for people: layouts and whose demand decided them, memory,
// roles, stages, barriers, and the schedule in the language's own syntax.
#pragma once
#include <string>

#include "base/source.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec {

// `placed` is the kernel after `place` or later in tile form, `lowered` the same in Thread form.
std::string explain(const ir::Kernel& placed, const ir::Kernel& lowered, const Machine& machine, const SourceMap& sources);

}  // namespace tilec
