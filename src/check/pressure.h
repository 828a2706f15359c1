// Registers of a kernel in Thread form: how many 32-bit ones a lane needs at once, or vector registers of a CPU. An estimate from above
// the assembler, which moves operations and makes numbers anew. What is the same in all lanes is not counted: it has registers of its own.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::check {

// The most that any point of `region`, with all it holds, needs at once.
int64_t registers_at_once(const ir::Kernel& kernel, ir::RegionId region, const Machine& machine);

// A remark where that is more than the machine has.
void check_registers(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
