// Tiles whose shape must come from the other side.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

// "write the shape": reported where no other side gives it.
void report_shapeless(Instance& in, const Operand& operand);
// How a tile of so many dimensions is written with its shape: `.tile[ROWS, COLUMNS](...)`.
std::string tile_with_shape(size_t rank);
// An operand that waits for its shape gets it.
void give_shape(Instance& in, Operand& operand, const Shape& shape);
// The answer of `finish`; where operands wait for their shape, what will give it then. `finish` outlives the caller.
Value with_shape(Instance& in, const ast::Expr& expr, std::span<const Operand> operands,
                 std::function<Value(Instance&, std::span<const Operand>)> finish);

}  // namespace tilec::sema
