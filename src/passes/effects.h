// What an operation does besides making its results.
#pragma once
#include "ir/kernel.h"

namespace tilec::passes {

// Its results depend on its operands and attributes alone, wherever in a launch it stands: equal ones may be merged.
bool is_pure(const ir::Op& op);
// Pure, and harmless where the program would not have come: an integer division may meet a zero.
bool may_be_hoisted(const ir::Kernel& kernel, const ir::Op& op);
// It must stay even when nobody reads its results; for an operation with regions: it, or something inside.
bool has_effect(const ir::Kernel& kernel, const ir::Op& op);
// Reads memory that another operation may write.
bool reads_memory(const ir::Op& op);

}  // namespace tilec::passes
