#include "layout/access.h"

#include <bit>
#include <map>
#include <set>

#include "base/check.h"

namespace tilec::layout {
namespace {

// The part of a coordinate vector that the memory layout's bits see.
Vec within_bits(const MemLayout& mem, Vec v) {
  Vec seen = 0;
  for (int axis = 0; axis < mem.shape.rank; ++axis) {
    Vec part = axis_part(v, mem.shape.rank, axis) & ((Vec{1} << mem.bits(axis)) - 1);
    seen |= part << run_start(mem.shape.rank, axis);
  }
  return seen;
}

Vec low_address(const MemLayout& mem, Vec v) { return mem.address_bits(within_bits(mem, v)); }
bool reaches_grids(const MemLayout& mem, Vec v) { return within_bits(mem, v) != v; }
bool any_reaches_grids(const MemLayout& mem, Vecs vectors) {
  return std::any_of(vectors.begin(), vectors.end(), [&](Vec v) { return reaches_grids(mem, v); });
}

// The address bits that the register layout's grids flip: those of coordinate bits above its own.
Basis flipped_by_grids(const MemLayout& mem, const RegLayout& reg) {
  Basis columns;
  for (int axis = 0; axis < mem.shape.rank; ++axis) {
    for (int bit = reg.bits(axis); bit < mem.bits(axis); ++bit) {
      columns.push_back(mem.address_bits(coordinate_bit(mem.shape.rank, axis, bit)));
    }
  }
  return columns;
}

// What is added as an integer, strides and padding, keeps addresses on multiples of `unit` elements.
bool steps_are_multiples(const MemLayout& mem, int64_t unit) {
  bool strides = std::all_of(mem.grids.begin(), mem.grids.end(),
                             [&](const MemGrid& grid) { return grid.stride % unit == 0; });
  return strides && (mem.pad.every == 0 || (mem.pad.every % unit == 0 && mem.pad.add % unit == 0));
}

bool are_multiples(const MemLayout& mem, Vecs vectors, Vec unit) {
  return std::all_of(vectors.begin(), vectors.end(), [&](Vec v) { return (low_address(mem, v) & (unit - 1)) == 0; });
}

Basis after(const Basis& bits, size_t count) { return Basis(bits.begin() + std::min(count, bits.size()), bits.end()); }

// Vectors of the first `count` register bits lie wholly inside or wholly outside the tile: along a padded axis they
// are its lowest bits, and the extent is a multiple of them.
bool vectors_are_whole(const RegLayout& reg, int count) {
  for (int axis = 0; axis < reg.shape.rank; ++axis) {
    if (reg.shape[axis] == reg.covered(axis)) continue;
    Vec along = 0;
    for (int i = 0; i < count; ++i) along |= axis_part(reg.reg[i], reg.shape.rank, axis);
    if ((along & (along + 1)) != 0 || reg.shape[axis] % static_cast<int64_t>(along + 1) != 0) return false;
  }
  return true;
}

}  // namespace

std::optional<AccessBits> access_bits(const MemLayout& mem, const RegLayout& reg) {
  if (mem.pad.every > 0 || any_reaches_grids(mem, reg.all_bits())) return std::nullopt;
  auto flipped = [&](const Basis& bits) {
    Basis result;
    for (Vec v : bits) result.push_back(mem.address_bits(v));
    return result;
  };
  return AccessBits{flipped(reg.reg), flipped(reg.lane), flipped(reg.warp), flipped(reg.cta)};
}

int vector_width(const MemLayout& mem, const RegLayout& reg) {
  int best = 1;
  for (int count = 1; count <= static_cast<int>(reg.reg.size()); ++count) {
    Vec next = reg.reg[count - 1];
    Vec unit = Vec{1} << count;
    if (reaches_grids(mem, next) || low_address(mem, next) != unit / 2) break;
    Basis others = concat({after(reg.reg, count), reg.lane, reg.warp, reg.cta});
    Basis grids = flipped_by_grids(mem, reg);
    bool is_aligned = are_multiples(mem, others, unit) && steps_are_multiples(mem, static_cast<int64_t>(unit)) &&
                      std::all_of(grids.begin(), grids.end(), [&](Vec a) { return (a & (unit - 1)) == 0; });
    if (is_aligned && vectors_are_whole(reg, count)) best = 1 << count;
  }
  return best;
}

int contiguous_registers(const RegLayout& reg, int axis) {
  int best = 1, rank = reg.shape.rank;
  for (int count = 1; count <= static_cast<int>(reg.reg.size()); ++count) {
    if (reg.reg[count - 1] != coordinate_bit(rank, axis, count - 1)) break;
    Vec low = (Vec{1} << count) - 1;
    Basis others = concat({after(reg.reg, count), reg.lane, reg.warp, reg.cta});
    bool is_aligned =
        std::all_of(others.begin(), others.end(), [&](Vec v) { return (axis_part(v, rank, axis) & low) == 0; });
    if (is_aligned && vectors_are_whole(reg, count)) best = 1 << count;
  }
  return best;
}

namespace {

// The stride of lanes whose address bits are k, 2k, 4k ... and nobody else's: the sum is then an addition.
std::optional<int64_t> lane_stride_of_bits(const MemLayout& mem, const RegLayout& reg) {
  if (mem.pad.every > 0 || any_reaches_grids(mem, reg.lane)) return std::nullopt;
  Vec stride = reg.lane.empty() ? 0 : low_address(mem, reg.lane[0]), mask = 0;
  if ((stride & (stride - 1)) != 0) return std::nullopt;
  for (size_t i = 0; i < reg.lane.size(); ++i) {
    if (low_address(mem, reg.lane[i]) != stride << i) return std::nullopt;
    mask |= stride << i;
  }
  Basis others = concat({reg.reg, reg.warp, reg.cta});
  for (Vec& v : others) v = low_address(mem, v);
  Basis grids = flipped_by_grids(mem, reg);
  others.insert(others.end(), grids.begin(), grids.end());
  bool is_alone = std::all_of(others.begin(), others.end(), [&](Vec address) { return (address & mask) == 0; });
  return is_alone ? std::optional(static_cast<int64_t>(stride)) : std::nullopt;
}

}  // namespace

std::optional<int64_t> lane_stride(const MemLayout& mem, const RegLayout& reg) {
  if (auto stride = lane_stride_of_bits(mem, reg)) return stride;
  std::optional<int64_t> stride;
  for (int64_t place = 0; place < reg.registers() * reg.warps() * reg.ctas(); ++place) {
    int64_t rest = place / reg.registers();
    std::optional<int64_t> before;
    for (int lane = 0; lane < reg.lanes(); ++lane) {
      Coordinate at = reg.coordinate(place % reg.registers(), lane, static_cast<int>(rest % reg.warps()),
                                     static_cast<int>(rest / reg.warps()));
      std::optional<int64_t> address;
      if (reg.is_inside(at)) address = mem.address(at);
      if (before && address) {
        if (stride && *stride != *address - *before) return std::nullopt;
        stride = *address - *before;
      }
      before = address;
    }
  }
  return stride.value_or(0);
}

namespace {

// One access of `vector` elements a lane: which unit of memory a lane touches in one turn, how many units make up all
// banks, and how many lanes go in one turn.
struct Turn {
  int64_t elements_of_unit;
  int units_of_banks;
  int lanes;
};
Turn turn_of(const RegLayout& reg, int element_bits, int vector, Banks banks) {
  int unit_bits = std::max(banks.bytes * 8, element_bits * vector);
  int units = std::max(1, banks.count * banks.bytes * 8 / unit_bits);
  return {std::max(1, unit_bits / element_bits), units, std::min(units, reg.lanes())};
}

}  // namespace

int bank_conflicts(const MemLayout& mem, const RegLayout& reg, int element_bits, int vector, Banks banks) {
  Turn turn = turn_of(reg, element_bits, vector, banks);
  Basis phase(reg.lane.begin(), reg.lane.begin() + std::countr_zero(static_cast<unsigned>(turn.lanes)));
  bool rank_answers = mem.pad.every == 0 && !any_reaches_grids(mem, phase) && !reg.is_padded() &&
                      steps_are_multiples(mem, turn.elements_of_unit);
  if (!rank_answers) return counted_bank_conflicts(mem, reg, element_bits, vector, banks);
  // The lanes touch 2^rank(units) units, which fall on 2^rank(banks) banks evenly.
  Basis units, in_banks;
  for (Vec v : phase) units.push_back(low_address(mem, v) / static_cast<Vec>(turn.elements_of_unit));
  for (Vec unit : units) in_banks.push_back(unit & static_cast<Vec>(turn.units_of_banks - 1));
  return 1 << (rank(units) - rank(in_banks));
}

int counted_bank_conflicts(const MemLayout& mem, const RegLayout& reg, int element_bits, int vector, Banks banks) {
  Turn turn = turn_of(reg, element_bits, vector, banks);
  size_t worst = 1;
  for (int64_t place = 0; place < reg.registers() * reg.warps() * reg.ctas(); place += vector) {
    int64_t rest = place / reg.registers();
    for (int first = 0; first < reg.lanes(); first += turn.lanes) {
      std::map<int64_t, std::set<int64_t>> units_of_bank;
      for (int lane = first; lane < first + turn.lanes; ++lane) {
        Coordinate at = reg.coordinate(place % reg.registers(), lane, static_cast<int>(rest % reg.warps()),
                                       static_cast<int>(rest / reg.warps()));
        if (!reg.is_inside(at)) continue;
        int64_t unit = mem.address(at) / turn.elements_of_unit;
        units_of_bank[unit % turn.units_of_banks].insert(unit);
      }
      for (auto& [bank, units] : units_of_bank) worst = std::max(worst, units.size());
    }
  }
  return static_cast<int>(worst);
}

bool fits_rows(const MemLayout& mem, const RegLayout& reg, const RegLayout& atom) {
  constexpr int kElementAxis = 1;
  if (atom.lane.size() != reg.lane.size() || atom.reg.size() > reg.reg.size()) return false;
  Vec row = Vec{1} << atom.bits(kElementAxis);
  auto moves_as = [&](Vec of_atom, Vec of_tile) {
    Vec element = axis_part(of_atom, atom.shape.rank, kElementAxis);
    Vec address = low_address(mem, of_tile);
    if (element == 0) return (address & (row - 1)) == 0;
    return element == of_atom && !reaches_grids(mem, of_tile) && address == element;
  };
  for (size_t i = 0; i < atom.lane.size(); ++i) {
    if (!moves_as(atom.lane[i], reg.lane[i])) return false;
  }
  for (size_t i = 0; i < atom.reg.size(); ++i) {
    if (!moves_as(atom.reg[i], reg.reg[i])) return false;
  }
  Basis grids = flipped_by_grids(mem, reg);
  return are_multiples(mem, concat({after(reg.reg, atom.reg.size()), reg.warp, reg.cta}), row) &&
         std::all_of(grids.begin(), grids.end(), [&](Vec address) { return (address & (row - 1)) == 0; }) &&
         steps_are_multiples(mem, static_cast<int64_t>(row));
}

std::optional<MemLayout> divide(const MemLayout& tile, const MemLayout& core) {
  INVARIANT(core.grids.empty() && core.pad.every == 0, "a core is made of bits");
  int rank = tile.shape.rank;
  if (core.shape.rank != rank || !steps_are_multiples(tile, int64_t{1} << core.addr.size())) return std::nullopt;
  Vec low = (Vec{1} << core.addr.size()) - 1;
  MemLayout rest{.shape = tile.shape, .addr = Basis(tile.addr.size(), 0), .grids = tile.grids, .pad = tile.pad};
  for (int axis = 0; axis < rank; ++axis) {
    int of_core = core.bits(axis);
    if (tile.bits(axis) < of_core || tile.shape[axis] % core.shape[axis] != 0) return std::nullopt;
    rest.shape.extents[axis] = tile.shape[axis] / core.shape[axis];
    for (int bit = 0; bit < tile.bits(axis); ++bit) {
      Vec from = coordinate_bit(rank, axis, bit);
      Vec address = tile.address_bits(from);
      if (bit < of_core ? address != core.address_bits(from) : (address & low) != 0) return std::nullopt;
      for (size_t i = 0; bit >= of_core && i < rest.addr.size(); ++i) {
        if (address >> i & 1) rest.addr[i] |= coordinate_bit(rank, axis, bit - of_core);
      }
    }
  }
  while (!rest.addr.empty() && rest.addr.back() == 0) rest.addr.pop_back();
  return normalized(std::move(rest));
}

}  // namespace tilec::layout
