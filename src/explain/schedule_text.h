// A schedule in the language's own words. Pasted beside the kernel, it pins what it says.
#pragma once
#include <string>
#include <string_view>

#include "sema/sema.h"

namespace tilec {

// In the notation; of a fragment, of a shared tile, or of an accumulator whose product is still open.
std::string layout_text(const ir::Kernel& kernel, layout::LayoutId id);

// Of `exported` on `machine`, as `kernel` came out: placed, and staged where it is.
std::string schedule_text(const ExportInstance& exported, const ir::Kernel& kernel, std::string_view machine);

}  // namespace tilec
