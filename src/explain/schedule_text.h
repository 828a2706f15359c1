// A schedule in the language's own words. Pasted beside the kernel, it pins what it says.
#pragma once
#include <string>
#include <string_view>

#include "sema/sema.h"

namespace tilec {

// Of `exported` on `machine`, as `kernel` came out: placed, and staged where it is.
std::string schedule_text(const ExportInstance& exported, const ir::Kernel& kernel, std::string_view machine);

}  // namespace tilec
