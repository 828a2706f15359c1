// What the compiler decided about a kernel on a machine, for people: layouts and whose demand decided them, memory,
// roles, stages, barriers, and the schedule in the language's own syntax.
#pragma once
#include <string>

#include "base/source.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec {

// `placed` is the kernel after `insert-barriers`, or earlier once it is placed; `lowered` the same in Thread form. `instance`:
// as a schedule names it.
std::string explain(const ir::Kernel& placed, const ir::Kernel& lowered, std::string_view instance, const Machine& machine,
                    const SourceMap& sources);

}  // namespace tilec
