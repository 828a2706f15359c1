// Types as written: `f16`, `T[M, K]`, `shared f16[64, 64]`.
#pragma once
#include "sema/scalar.h"

namespace tilec::sema {

struct ResolvedType {
  ast::Space space = ast::Space::None;
  Scalar element = Scalar::F32;
  bool has_extents = false;
  std::vector<Extent> extents;
  Span span;
  bool is_scalar() const { return !has_extents; }
  // The extents when all are known.
  std::optional<Shape> shape() const { return fixed_shape(extents); }
};

// None after a mistake, which has been reported.
std::optional<ResolvedType> resolve(Instance& in, const ast::Type& type);
// An extent: an integer from 1 to kMostExtent when known.
std::optional<Extent> extent_of(Instance& in, const Operand& operand);
// Extents and the offsets inside of a tile are numbers of 32 bits.
constexpr int64_t kMostExtent = 2147483647;
constexpr int64_t kMostElements = int64_t(1) << 30;  // of a tile
// Reports a tile of more elements than that, or of more axes than layouts have.
bool has_few_elements(Instance& in, const Shape& shape, Span span);
bool has_few_axes(Instance& in, const Shape& shape, Span span);

}  // namespace tilec::sema
