// What it costs to turn one register layout into another, and whether it costs anything.
#pragma once
#include <string_view>

#include "layout/reg_layout.h"

namespace tilec::layout {

// The highest place across which data moves, cheapest first: no instruction, renaming of a lane's own registers,
// shuffles within a warp, shared memory, memory of the cluster.
enum class Tier : uint8_t { None, Register, Lane, Warp, Cta };
std::string_view name(Tier tier);

// The cheapest way to turn a tile held as `src` into one held as `dst` (of one shape).
//   law: grids must agree, or the answer is the dearest tier that the pair can need. They agree when every axis has the
//   same bits and the same grids in the same places, and the warp grids have the same order; an order of register
//   grids that differs is a renaming of registers.
Tier move_tier(const RegLayout& src, const RegLayout& dst);

// Which element of one tile an iteration over another touches: a bit map, and per axis of the tile the axis of the
// iteration that it follows, which is where grids go (kReplica: always index 0).
struct AccessMap {
  int from_rank = 0, to_rank = 0;
  Basis images{};                       // of the iteration's coordinate bits, by position in its vectors
  std::array<int, kMaxRank> follows{};  // per axis of the tile
};
// Axis i of the tile is axis `follows[i]` of the iteration: a permutation, a projection, a broadcast.
AccessMap axis_access(int from_rank, std::span<const int> follows);

// Does every lane that runs an iteration of `loop` already hold the element access(iteration) of `tile`? Exact where
// no axis has grids; with grids it may say no although the answer is yes, never the other way.
bool holds(const RegLayout& tile, const RegLayout& loop, const AccessMap& access);

}  // namespace tilec::layout
