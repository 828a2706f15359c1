// Every read of a shared tile must find it written: on every path, the boxes written before must cover what is read.
//   in:  Typed    out: unchanged; an error at the first read of a tile that is not covered
// Writes under a condition count where both sides make them, those of a loop when it surely runs, those in `simt` never.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void check_initialised(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
