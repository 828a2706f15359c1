// Registers of a kernel in Thread form: how many 32-bit ones a lane needs at once. An estimate from above the assembler: it
// knows neither rematerialisation nor coalescing, and counts what differs from lane to lane only.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::check {

// The most that any point of `region`, with all it holds, needs at once.
int64_t registers_at_once(const ir::Kernel& kernel, ir::RegionId region);

// A remark where that is more than the machine has.
void check_registers(const ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
