// Tiles that were given no shape, where the program does not say one.
#pragma once
#include "sema/scalar.h"

namespace tilec::sema {

// Reports `TileShapeUnknown`, with how a shape is written for the tile.
void report_shapeless(Instance& in, const Operand& operand);
// ".tile[ROWS, COLUMNS](...)", for as many dimensions.
std::string tile_with_shape(size_t rank);

}  // namespace tilec::sema
