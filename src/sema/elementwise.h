// Whole-tile arithmetic: an expression over tiles grows as scalar code of one element and becomes one map when the tile
// is needed.
#pragma once
#include "sema/scalar.h"

namespace tilec::sema {

// The answer of `body` for one element of each operand; scalars pass as they are. Without tiles among them `body` runs
// on
// the scalars themselves. With tiles the answer is an Elementwise, and `body` must give a number.
Value map_elements(Instance& in, std::span<const Operand> operands, Span span,
                   const std::function<Value(std::span<const Operand>)>& body);
// The same for operands whose code the body places: `code` has that of each tile, which stands nowhere yet. Numbers have none.
Value map_apart(Instance& in, std::span<const Operand> operands, Span span,
                const std::function<Value(std::span<const Operand>, std::span<const ir::RegionId> code)>& body);
// Moves the code of a region to the end of the one that is built.
void splice(Instance& in, ir::RegionId from);
// The tile as a value of the IR: maps are emitted, memory is loaded, a number is spread over `shape` when one is given.
// None when it is no tile (reported).
ir::ValueId materialise(Instance& in, const Operand& operand, const Shape* shape = nullptr);
// The same as a value: Tile or Poison.
Value fragment(Instance& in, const Operand& operand, const Shape* shape = nullptr);
// A number as a number of type `element`; of tiles only those of literals adapt, the others pass as they are.
Value adapted(Instance& in, const Operand& operand, Scalar element);
// A tile with a new axis, of the extent of whatever it meets, before axis `axis`.
Value with_new_axis(Instance& in, Value tile, int axis, Span span);
// Of a tile of one element along an axis, where what it is assigned to has more.
void help_on_single(Report& report, const Shape& left, const Shape& right);
// The extents of a tile-like value; a view's must be known (reported), else none.
std::optional<Shape> shape_of(Instance& in, const Operand& operand);

}  // namespace tilec::sema
