// Layouts of what maps read.
#pragma once
#include "ir/kernel.h"
#include "layout/reg_layout.h"

namespace tilec::passes {

// Does a map read this input at its own index?
bool is_whole(const ir::op::Map& map, size_t input);

// The layout of a map's rows and columns along `axes` alone, in rising order.
layout::RegLayout projected(const layout::RegLayout& whole, const ir::Axes& axes);

// The layout of a map's indices: that of its results or, of a map for its effects alone, of the first tile that it reads
// at its own index. Where there is neither, elements are dealt out one by one. Lowering takes the same.
layout::RegLayout map_layout(const ir::Kernel& kernel, const ir::Op& op, int lanes, int warps);

// What an input, projected or permuted by its axes, must look like so that each register of the map reads one of its own.
layout::RegLayout input_layout(const ir::Kernel& kernel, const layout::RegLayout& whole, const ir::op::Map& map, size_t input);

}  // namespace tilec::passes
