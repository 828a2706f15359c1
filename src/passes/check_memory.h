// The shared tiles of a launch fit what one block may use on the machine.
//   in:  Placed or Staged    out: unchanged; an error at the largest, with what each of them takes
// Asked once layouts are known and once more when pipelined loops have given tiles several versions.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void check_memory(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
