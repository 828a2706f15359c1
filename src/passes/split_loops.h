// split-loops: a loop whose ifs turn once while it runs becomes loops in sequence, of which the longest has no such if.
//   in:  Thread form    out: Thread form; iterations run in their order, each once, and hand on what the loop carries
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void split_loops(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
