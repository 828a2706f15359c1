// What operations on a tile do to its layout: division by an atom, reduction, projection, broadcast, transpose and
// reshape.
#pragma once
#include <optional>
#include <span>

#include "layout/mem_layout.h"
#include "layout/reg_layout.h"

namespace tilec::layout {

// A tile's layout as repeats of an atom's fragment.
struct Division {
  RegLayout rest;                      // where the repeats are, in units of the atom; its lanes are the atom's
  int64_t registers_of_atom = 0;
  std::vector<int64_t> registers{};    // the tile's register, by repeat and then by register of the atom
  int64_t tile_register(int64_t repeat, int64_t of_atom) const {
    return registers[repeat * registers_of_atom + of_atom];
  }
};
// Does the atom divide the tile: the same lanes, the atom's warps first, and in every lane whole fragments?
std::optional<Division> divide(const RegLayout& tile, const RegLayout& atom);

// How a tile is reduced along an axis. Lanes, warps and ctas that differ only along it are combined with each other.
struct Reduction {
  RegLayout result;                      // of the tile without the axis, the same in all places that were combined
  std::vector<int64_t> result_register;  // of each register of the tile: where it is summed; -1: a replica, left out
  std::vector<int> lane_bits, warp_bits, cta_bits;  // to combine across: shuffles, shared memory, the cluster
  std::vector<int> warp_grids;                      // indices of grids to combine across
};
// None when a hardware bit moves along the axis and another axis at once: convert to another layout first. Where the
// layout is padded along the axis, what lies outside must hold the identity.
std::optional<Reduction> reduce(const RegLayout& layout, int axis);

// The layout that a tile without `axis` must have so that repeating it along the axis moves nothing.
RegLayout project(const RegLayout& layout, int axis);
// The tile repeated along a new axis (before the old `axis`): all of it in each lane's registers.
RegLayout broadcast(const RegLayout& layout, int axis, int extent);
// Axis i of the result is axis `permutation[i]`.
RegLayout transpose(const RegLayout& layout, std::span<const int> permutation);
MemLayout transpose(const MemLayout& layout, std::span<const int> permutation);
// A region along one axis of a tile: its extent, and a number that its offset is known to be a multiple of (0: it is zero).
struct Cut {
  int extent = 1;
  int64_t divisor = 1;
};
// The layout of a region of the tile in which each lane holds of it what it holds of the tile. None where that would be
// another lane for another offset: along an axis that lanes or warps step, both numbers must be multiples of their reach.
std::optional<RegLayout> cut(const RegLayout& tile, std::span<const Cut> cuts);
// The same places for the tile read in row-major order as `shape`. None where an odd factor or padding lies between.
std::optional<RegLayout> reshape(const RegLayout& layout, const Shape& shape);

}  // namespace tilec::layout
