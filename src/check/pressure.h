// Registers of a kernel in Thread form: how many 32-bit ones a lane needs at once. An estimate from above the assembler: it
// knows neither rematerialisation nor coalescing, and counts what differs from lane to lane only.
#pragma once
#include "ir/kernel.h"

namespace tilec::check {

// The most that any point of `region`, with all it holds, needs at once.
int64_t registers_at_once(const ir::Kernel& kernel, ir::RegionId region);

}  // namespace tilec::check
