// Every read of a shared tile must find it written: on every path, the boxes written before must cover what is read.
//   in:  Typed    out: unchanged; an error at the first read of a tile that is not covered
// Writes under a condition count where both sides make them, those of a loop when it surely runs, those in `simt` never.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

void check_initialised(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
