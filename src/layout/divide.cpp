// Division of a tile's register layout by an atom's.
#include <map>

#include "base/check.h"
#include "layout/transform.h"

namespace tilec::layout {
namespace {

// Bits of the repeats: free of the atom's own bits, in units of the atom. None where they are not.
std::optional<Vec> in_units(Vec v, const RegLayout& atom) {
  int rank = atom.shape.rank;
  Vec result = 0;
  for (int axis = 0; axis < rank; ++axis) {
    Vec part = axis_part(v, rank, axis);
    int bits = atom.bits(axis);
    if ((part & ((Vec{1} << bits) - 1)) != 0) return std::nullopt;
    if (part != 0 && atom.grid_count(axis) > 1) return std::nullopt;
    result |= part >> bits << run_start(rank, axis);
  }
  return result;
}

// Appends the bits of `from` that are not the atom's, in units of the atom.
bool append_in_units(Basis& to, const Basis& from, const RegLayout& atom) {
  for (Vec v : from) {
    auto unit = in_units(v, atom);
    if (!unit) return false;
    to.push_back(*unit);
  }
  return true;
}

// The register bits above an atom's grid, and the tile's grids on that axis, are one count of repeats.
bool is_above_grid(Vec v, const RegLayout& atom) {
  int rank = atom.shape.rank;
  for (int axis = 0; axis < rank; ++axis) {
    if (atom.grid_count(axis) == 1 || (v & ~axis_mask(rank, axis)) != 0) continue;
    Vec part = axis_part(v, rank, axis);
    if (part != 0 && (part & ((Vec{1} << atom.bits(axis)) - 1)) == 0) return true;
  }
  return false;
}

std::optional<RegLayout> repeats(const RegLayout& tile, const RegLayout& atom) {
  int rank = tile.shape.rank;
  RegLayout rest{.shape = tile.shape};
  Basis registers;
  for (Vec v : tile.reg) {
    bool is_of_atom = std::find(atom.reg.begin(), atom.reg.end(), v) != atom.reg.end();
    if (!is_of_atom && !is_above_grid(v, atom)) registers.push_back(v);
  }
  Basis warps(tile.warp.begin() + atom.warp.size(), tile.warp.end());
  if (!append_in_units(rest.reg, registers, atom) || !append_in_units(rest.warp, warps, atom) ||
      !append_in_units(rest.cta, tile.cta, atom)) {
    return std::nullopt;
  }
  for (int axis = 0; axis < rank; ++axis) {
    rest.shape.extents[axis] = (tile.shape[axis] + atom.covered(axis) - 1) / atom.covered(axis);
    int of_atom = atom.grid_count(axis);
    if (of_atom == 1) continue;
    int in_registers = 1 << (tile.bits(axis) - atom.bits(axis));
    for (const Grid& grid : tile.grids) {
      if (grid.axis == axis && grid.place == GridPlace::Register) in_registers *= grid.count;
    }
    if (in_registers % of_atom != 0) return std::nullopt;
    rest.grids.push_back({axis, in_registers / of_atom, GridPlace::Register});
  }
  for (const Grid& grid : tile.grids) {
    bool is_counted = grid.axis != kReplica && grid.place == GridPlace::Register && atom.grid_count(grid.axis) > 1;
    if (!is_counted) rest.grids.push_back(grid);
  }
  return rest;
}

}  // namespace

std::optional<Division> divide(const RegLayout& tile, const RegLayout& atom) {
  INVARIANT(tile.shape.rank == atom.shape.rank, "an atom has the tile's axes");
  bool has_its_warps = atom.warp.size() <= tile.warp.size() &&
                       std::equal(atom.warp.begin(), atom.warp.end(), tile.warp.begin());
  bool is_in_registers = std::all_of(atom.grids.begin(), atom.grids.end(),
                                     [](const Grid& grid) { return grid.place == GridPlace::Register; });
  if (tile.lane != atom.lane || !has_its_warps || !is_in_registers) return std::nullopt;
  for (int axis = 0; axis < tile.shape.rank; ++axis) {
    if (tile.bits(axis) < atom.bits(axis)) return std::nullopt;
  }
  auto rest = repeats(tile, atom);
  if (!rest) return std::nullopt;
  // Look every register up by its coordinate in lane 0 of warp 0; lanes and warps move all of them alike.
  std::map<Coordinate, int64_t> register_at;
  for (int64_t r = 0; r < tile.registers(); ++r) register_at.emplace(tile.coordinate(r, 0, 0), r);
  Division division{.rest = normalized(std::move(*rest)), .registers_of_atom = atom.registers()};
  for (int64_t repeat = 0; repeat < division.rest.registers(); ++repeat) {
    Coordinate base = division.rest.coordinate(repeat, 0, 0);
    for (int64_t r = 0; r < atom.registers(); ++r) {
      Coordinate at = atom.coordinate(r, 0, 0);
      for (int axis = 0; axis < tile.shape.rank; ++axis) at[axis] += base[axis] * atom.covered(axis);
      auto found = register_at.find(at);
      if (found == register_at.end()) return std::nullopt;
      division.registers.push_back(found->second);
    }
  }
  bool is_whole = static_cast<int64_t>(division.registers.size()) == tile.registers();
  return is_whole ? std::optional(std::move(division)) : std::nullopt;
}

}  // namespace tilec::layout
