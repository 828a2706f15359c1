// What the compiler decided about a kernel on a machine, for people: layouts and whose demand decided them, memory,
// roles, stages, barriers, and the schedule in the language's own syntax.
#pragma once
#include <string>

#include "base/source.h"
#include "machine/machine.h"
#include "sema/sema.h"

namespace tilec {

// The first line about a kernel: its exports, which are one instance under several names, and the machine.
std::string kernel_line(std::span<const ExportInstance* const> exports, const Machine& machine);
// `placed` is the kernel after `insert-barriers`, or earlier once it is placed; `lowered` the same in Thread form.
std::string explain(std::span<const ExportInstance* const> exports, const ir::Kernel& placed, const ir::Kernel& lowered, const Machine& machine,
                    const SourceMap& sources);

}  // namespace tilec
