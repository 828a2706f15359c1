#include "layout/swizzle.h"

#include <algorithm>
#include <bit>

namespace tilec::layout {
namespace {

int log2_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

bool covers_alike(const RegLayout& a, const RegLayout& b) {
  for (int axis = 0; axis < a.shape.rank; ++axis) {
    if (a.bits(axis) != b.bits(axis) || a.grid_count(axis) != b.grid_count(axis)) return false;
  }
  return true;
}

Basis coordinate_bits_of(const RegLayout& layout) {
  Basis bits;
  for (int axis = layout.shape.rank - 1; axis >= 0; --axis) {
    for (int bit = 0; bit < layout.bits(axis); ++bit) bits.push_back(coordinate_bit(layout.shape.rank, axis, bit));
  }
  return bits;
}

constexpr int kWidestBits = 128;

// Registers that both sides hold first and alike.
Basis common_vector(const RegLayout& writer, const RegLayout& reader, int element_bits) {
  Basis common;
  for (size_t i = 0; i < std::min(writer.reg.size(), reader.reg.size()); ++i) {
    bool fits = element_bits << (i + 1) <= kWidestBits;
    if (!fits || writer.reg[i] != reader.reg[i] || Subspace::of(common).contains(writer.reg[i])) break;
    common.push_back(writer.reg[i]);
  }
  return common;
}

// The neighbours along a row that a side holds first.
Basis row_neighbours(const RegLayout& side, int element_bits) {
  Basis row;
  for (Vec v : side.reg) {
    bool fits = element_bits << (row.size() + 1) <= kWidestBits;
    if (!fits || v != coordinate_bit(side.shape.rank, side.shape.rank - 1, int(row.size()))) break;
    row.push_back(v);
  }
  return row;
}

// A basis of the coordinates, and the address of each of its vectors.
struct Placement {
  Basis keys, addresses;
  int next = 0;  // the first address bit nobody has
  void put(Vec key, Vec address) {
    keys.push_back(key);
    addresses.push_back(address);
  }
  void put_next(Vec key) { put(key, Vec{1} << next++); }
};

// The lanes of one turn, up to the vector, by who steps through them; and everything else of the tile.
struct Sides {
  Basis both, writer, reader, rest;
};
Sides sides_of(const RegLayout& writer, const RegLayout& reader, const Basis& vector, int turn_bits) {
  auto turn = [&](const RegLayout& layout) {
    Basis lanes(layout.lane.begin(), layout.lane.begin() + std::min<size_t>(turn_bits, layout.lane.size()));
    return complement(vector, lanes);
  };
  Basis w = turn(writer), r = turn(reader);
  // Vectors common to both as they are come before those common up to the vector, which would spoil its alignment.
  Basis common = concat({intersection(w, r), intersection(concat({vector, w}), concat({vector, r}))});
  Sides sides;
  sides.both = complement(vector, common);
  sides.writer = complement(concat({vector, sides.both}), w);
  sides.reader = complement(concat({vector, sides.both}), r);
  Basis others = concat({writer.reg, reader.reg, writer.lane, writer.warp, coordinate_bits_of(writer)});
  sides.rest = complement(concat({vector, sides.both, sides.writer, sides.reader}), others);
  return sides;
}

Placement placed(const Sides& sides, const Basis& vector, int unit_bits, int turn_bits) {
  Placement placement;
  auto rest = sides.rest.begin();
  for (Vec v : vector) placement.put_next(v);
  while (placement.next < unit_bits && rest != sides.rest.end()) placement.put_next(*rest++);
  placement.next = unit_bits;
  for (Vec v : sides.both) placement.put_next(v);
  size_t pairs = std::min(sides.writer.size(), sides.reader.size());
  int first_pair = placement.next;
  for (Vec v : sides.writer) placement.put_next(v);
  for (size_t i = pairs; i < sides.reader.size(); ++i) placement.put_next(sides.reader[i]);
  while (placement.next < unit_bits + turn_bits && rest != sides.rest.end()) placement.put_next(*rest++);
  // The reader's half of a pair falls on the writer's bank, in another line.
  for (size_t i = 0; i < pairs; ++i) {
    placement.put(sides.reader[i], Vec{1} << (first_pair + i) | Vec{1} << placement.next++);
  }
  while (rest != sides.rest.end()) placement.put_next(*rest++);
  return placement;
}

std::optional<MemLayout> swizzle_of(const RegLayout& writer, const RegLayout& reader, const Basis& vector, int element_bits, Banks banks) {
  int unit = std::max(banks.bytes * 8, element_bits << vector.size());
  int unit_bits = log2_of(std::max(1, unit / element_bits));
  int turn_bits = log2_of(std::max(1, banks.count * banks.bytes * 8 / unit));
  Sides sides = sides_of(writer, reader, vector, turn_bits);
  Placement placement = placed(sides, vector, unit_bits, turn_bits);
  MemLayout mem{.shape = writer.shape};
  mem.addr.assign(placement.next, 0);
  for (Vec bit : coordinate_bits_of(writer)) {
    auto inputs = solve(placement.keys, bit);
    if (!inputs) return std::nullopt;
    Vec address = image(placement.addresses, *inputs);
    for (size_t i = 0; i < mem.addr.size(); ++i) {
      if (address >> i & 1) mem.addr[i] |= bit;
    }
  }
  while (!mem.addr.empty() && mem.addr.back() == 0) mem.addr.pop_back();
  int64_t stride = int64_t{1} << mem.addr.size();
  for (int axis = mem.shape.rank - 1; axis >= 0; --axis) {
    mem.grids.push_back({axis, writer.grid_count(axis), stride});
    stride *= writer.grid_count(axis);
  }
  return normalized(std::move(mem));
}

}  // namespace

std::optional<MemLayout> swizzle_for(const RegLayout& writer, const RegLayout& reader, int element_bits, Banks banks) {
  if (writer.shape != reader.shape || !covers_alike(writer, reader)) return std::nullopt;
  return swizzle_of(writer, reader, common_vector(writer, reader, element_bits), element_bits, banks);
}

std::vector<MemLayout> swizzles_for(const RegLayout& writer, const RegLayout& reader, int element_bits, Banks banks) {
  std::vector<MemLayout> found;
  if (writer.shape != reader.shape || !covers_alike(writer, reader)) return found;
  auto add = [&](const Basis& unit) {
    auto made = swizzle_of(writer, reader, unit, element_bits, banks);
    if (made) found.push_back(*made);
  };
  Basis common = common_vector(writer, reader, element_bits);
  Basis row = std::max(row_neighbours(writer, element_bits), row_neighbours(reader, element_bits), [](const Basis& a, const Basis& b) { return a.size() < b.size(); });
  add(common);
  if (row != common) add(row);
  return found;
}

}  // namespace tilec::layout
