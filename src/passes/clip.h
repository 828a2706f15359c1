// Asks the prover of every access whether it stays inside.
//   in:  Typed, bounds Unknown    out: Typed, bounds Inside where proved and Guarded elsewhere
// A region of device memory may hang over and is clipped. An element access that provably leaves its tensor is an error, and
// so is a part of a shared tile or fragment; a region wholly outside is a warning.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

void clip(ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics);

}  // namespace tilec::passes
