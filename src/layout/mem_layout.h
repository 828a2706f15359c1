// MemLayout: where an element lives. Coordinate of the tile -> address, in elements.
//   law: injective. No two elements share an address; some addresses may hold nothing.
//
// Three steps. Address bits, each the sum (XOR) of some coordinate bits; then grids, the integers above the bits of an
// axis, each with a stride; then padding, which skips `add` elements after every `every`.
//   a       = bits + sum of grid index * stride           address = a + a / every * add
// It points the other way than RegLayout on purpose: the address that a lane uses is plain composition, mem ∘ reg.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "layout/bits.h"
#include "layout/shape.h"

namespace tilec::layout {

struct MemGrid {
  int axis = 0;
  int count = 1;
  int64_t stride = 0;
  friend bool operator==(const MemGrid&, const MemGrid&) = default;
};

struct Pad {
  int64_t every = 0;  // 0: none
  int64_t add = 0;
  friend bool operator==(const Pad&, const Pad&) = default;
};

struct MemLayout {
  Shape shape;
  Basis addr{};         // address bit i is the parity of these coordinate bits; 0 is a hole, or a copy
  uint64_t copies = 0;  // the zero address bits at both values of which the element is stored
  std::vector<MemGrid> grids{};  // those of one axis from the innermost outwards
  Pad pad{};

  int bits(int axis) const { return bits_of_axis(addr, shape.rank, axis); }
  int grid_count(int axis) const;
  int covered(int axis) const { return grid_count(axis) << bits(axis); }
  // Meaningful inside the tile. The outermost grid of an axis goes on by its stride outside.
  int64_t address(const Coordinate& coordinate) const;
  // Of every element of the shape, in row-major order.
  std::vector<int64_t> addresses() const;
  int64_t size() const;  // elements of storage, holes included
  // The address bits of a coordinate vector that lies within the bits of every axis.
  Vec address_bits(Vec coordinate) const;

  friend bool operator==(const MemLayout&, const MemLayout&) = default;
};

// The same function in its one normal form: grids by axis (the last first), neighbours merged, and a factor of two that
// continues the address bits turned into an address bit.
MemLayout normalized(MemLayout layout);
// What breaks the law, as a sentence; empty when the layout is injective and covers its shape.
std::string flaw(const MemLayout& layout);

// `count` steps along `axis`. A list of runs from the innermost outwards is a storage order without holes.
struct Run {
  int axis = 0;
  int count = 1;
};
MemLayout compact(const Shape& shape, std::span<const Run> runs);
MemLayout row_major(const Shape& shape);
// Panels of `width` along `axis`; inside a panel the panel's elements are contiguous and the other axes follow in row
// major order: what a register-blocked CPU product reads. The extent is rounded up to whole panels.
MemLayout panels(const Shape& shape, int axis, int width);
// Rows of `bytes` (32, 64, 128) along `contiguous`, whose 16-byte chunks are permuted by the row (`row_axis`), as bulk
// copies and matrix instructions expect; panels of such rows follow along `contiguous`, then the other axes.
// None when a row is not `bytes` long or the rows are not a multiple of eight.
std::optional<MemLayout> swizzled(const Shape& shape, int contiguous, int row_axis, int element_bits, int bytes);
// `count` copies one after the other: a new first axis (versions of a staged buffer).
MemLayout stacked(const MemLayout& layout, int count);

}  // namespace tilec::layout
