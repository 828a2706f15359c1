// Matrix products of arrays of numbers.
#pragma once
#include "interp/tile_memory.h"

namespace tilec::interp {

struct ProductShape {
  int64_t m = 0, n = 0, k = 0;
};
// acc[m, n] += a[m, k] * b[k, n], all row-major; floats narrower than f64 add up in f32, wide ones in f64.
void multiply(const Slot* a, const Slot* b, Slot* acc, const ProductShape& shape, Scalar type, bool is_wide);
// The product that `data` describes: transposes, batches, element types.
void product(const TileData& data, const Slot* a, const Slot* b, Slot* acc, bool is_wide);
// A tile, or the whole of a buffer, judged and read; none: a fault.
std::optional<Tile> operand(Strand& s, const Instr& i, const Location& place);

}  // namespace tilec::interp
