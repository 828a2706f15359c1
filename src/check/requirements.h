// What schedules require, found in the program that is lowered: its copies, products, waits and roles, whatever was decided before
// and wherever. What the assembler has to say of registers is not known here.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::check {

// A pass over the Staged form: an error at each requirement that the program misses, with the statements that miss it.
void check_requirements(const ir::Kernel& staged, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
