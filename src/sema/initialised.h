// Shared tiles must be written before they are read.
#pragma once
#include "ir/kernel.h"

namespace tilec {
class Diagnostics;
}

namespace tilec::sema {

// Reports `Uninitialised` for every read of a shared tile that is not certainly written whole before; false if any.
bool check_initialised(const ir::Kernel& kernel, Diagnostics& diagnostics);

}  // namespace tilec::sema
