// What `lower` can do with the layouts that a schedule pins to tiles in registers. Each answers with the reason why it cannot, or
// with nothing.
#pragma once
#include "ir/kernel.h"
#include "layout/reg_layout.h"
#include "machine/machine.h"

namespace tilec::passes {

// A lane's register is at the lane's place plus the register's: no bit of a coordinate is of both, and each register bit is one.
std::string flaw_of_fragment(const layout::RegLayout& layout);
// Does a lane or warp move along several bits at once?
bool flips_bits(const layout::RegLayout& layout);
// Made of whole fragments, and of none that lies beyond the tile, as `inferred` does not: no operand has elements for it.
std::string flaw_of_accumulator(const ir::Kernel& kernel, const ir::op::Gemm& gemm, const MatrixAtom& atom, const layout::RegLayout& layout,
                                const layout::RegLayout& inferred);

}  // namespace tilec::passes
