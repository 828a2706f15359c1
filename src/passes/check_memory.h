// The shared memory of a launch fits what one block may use on the machine.
//   in:  Thread form, shared memory packed    out: unchanged; an error at the largest tile, with what each of them takes
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Placed -> Placed: what no packing can save is told before more work is done on it.
void check_tiles(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

void check_memory(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

// Bytes by which the launch that needs most has too little; 0: none has.
int64_t missing_bytes(const ir::Kernel& kernel, const Machine& machine);

}  // namespace tilec::passes
