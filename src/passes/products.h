// What several passes ask about matrix products: their atoms, and how warps share them.
#pragma once
#include "ir/overlap.h"
#include "layout/product.h"
#include "machine/machine.h"

namespace tilec::passes {

// The warps that compute in this launch: as many as the program's threads, or, when it does not say, what its products need.
int64_t computing_warps(const ir::Kernel& kernel, const ir::op::Launch& launch, const Machine& machine);

// May a group's atom have this operand in registers? If so, as it is, not as its transpose.
bool takes_registers(const MatrixAtom& atom, layout::Side side);
const MatrixAtom* find_atom(const Machine& machine, std::string_view name);
// What goes along rows of an accumulator, or on into another product, stays in a warp that has whole rows.
bool keeps_rows(const ir::Kernel& kernel, const ir::Op& op);
// How warps share a product: whole rows each where `keeps_rows`, else so that they read least.
layout::Deal deal_of(const MatrixAtom& atom, int64_t m, int64_t n, int64_t warps, bool keeps_rows = true);

// What the warps that hold `accumulator` want of an operand of `gemm`.
layout::RegLayout operand_layout(const ir::Kernel& kernel, const ir::op::Gemm& gemm, const MatrixAtom& atom, layout::Side side,
                                 const layout::RegLayout& accumulator);

// Is `buffer` an allocation, or one of the tiles that an allocation lists along its leading axes?
bool is_whole_tile(const ir::Kernel& kernel, ir::ValueId buffer);
// Where the rows of an operand in shared memory run along m or n: the bytes from block to block, which cut them. 0: nothing does.
int64_t engine_step_bytes(const ir::Kernel& kernel, const ir::op::Gemm& gemm, const MatrixAtom& atom, layout::Side side);
// The layout with the widest swizzle that engines read: rows along the last axis, in panels that no step cuts. None when its
// rows are too short.
std::optional<layout::MemLayout> engine_layout(const layout::Shape& shape, int element_bits, int64_t step_bytes);

layout::Shape shape_of(const ir::Type& type);

}  // namespace tilec::passes
