// What the source pins, beside what came of it: a line is carried out as it stands, or refused.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::check {

// A pass over the Staged form: an error for each line of pipelines, places, roles and clusters that the kernel has otherwise now. Lines that ask for what the machine has
// no means of mean nothing there.
void check_pins(const ir::Kernel& staged, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::check
