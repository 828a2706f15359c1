// What an assembler says of functions, told of the kernels and tiles that they come from.
#pragma once
#include "driver/session.h"

namespace tilec {

// Remarks at the exports whose launches `slow` are, into the session's sink; the worst function of an export first, the others beside; an error where
// a schedule requires that no registers run out.
void remark_assembled(Session& session, const Compiled& compiled, const std::vector<target::AssembledFunction>& slow);

}  // namespace tilec
