#include "layout/mem_layout.h"

#include <bit>
#include <numeric>

#include "base/check.h"

namespace tilec::layout {

int MemLayout::grid_count(int axis) const {
  int count = 1;
  for (const MemGrid& grid : grids) {
    if (grid.axis == axis) count *= grid.count;
  }
  return count;
}

Vec MemLayout::address_bits(Vec coordinate) const {
  Vec address = 0;
  for (size_t i = 0; i < addr.size(); ++i) address |= Vec(std::popcount(addr[i] & coordinate) & 1) << i;
  return address;
}

namespace {

// The first two of the three steps: XOR adds up the one, the other is a sum. So what single axes give makes up the whole.
struct AddressParts {
  Vec bits = 0;
  int64_t grids = 0;
};
AddressParts address_parts(const MemLayout& layout, const Coordinate& coordinate) {
  Vec low = 0;
  Coordinate rest = coordinate;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    int count = layout.bits(axis);
    low |= Vec(coordinate[axis] & ((1u << count) - 1)) << run_start(layout.shape.rank, axis);
    rest[axis] >>= count;
  }
  AddressParts parts{layout.address_bits(low)};
  const std::vector<MemGrid>& grids = layout.grids;
  for (size_t i = 0; i < grids.size(); ++i) {
    const MemGrid& grid = grids[i];
    bool is_outermost = std::none_of(grids.begin() + i + 1, grids.end(),
                                     [&](const MemGrid& other) { return other.axis == grid.axis; });
    int index = is_outermost ? rest[grid.axis] : rest[grid.axis] % grid.count;
    rest[grid.axis] /= grid.count;
    parts.grids += index * grid.stride;
  }
  return parts;
}

int64_t address_of(const Pad& pad, AddressParts parts) {
  int64_t address = static_cast<int64_t>(parts.bits) + parts.grids;
  return pad.every > 0 ? address + address / pad.every * pad.add : address;
}

}  // namespace

int64_t MemLayout::address(const Coordinate& coordinate) const { return address_of(pad, address_parts(*this, coordinate)); }

std::vector<int64_t> MemLayout::addresses() const {
  std::vector<AddressParts> outer{{}};
  for (int axis = 0; axis < shape.rank; ++axis) {
    std::vector<AddressParts> steps, all;
    for (Coordinate at{}; at[axis] < shape[axis]; ++at[axis]) steps.push_back(address_parts(*this, at));
    all.reserve(outer.size() * steps.size());
    for (AddressParts a : outer) {
      for (AddressParts b : steps) all.push_back({a.bits ^ b.bits, a.grids + b.grids});
    }
    outer = std::move(all);
  }
  std::vector<int64_t> addresses;
  addresses.reserve(outer.size());
  for (AddressParts parts : outer) addresses.push_back(address_of(pad, parts));
  return addresses;
}

namespace {

// The images of the coordinate bits within the layout's bits.
Basis address_columns(const MemLayout& layout) {
  Basis columns;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    for (int bit = 0; bit < layout.bits(axis); ++bit) {
      columns.push_back(layout.address_bits(coordinate_bit(layout.shape.rank, axis, bit)));
    }
  }
  return columns;
}

int64_t greatest_address(const MemLayout& layout) {
  Basis columns = address_columns(layout);
  for (size_t i = 0; i < layout.addr.size(); ++i) {
    if (layout.copies >> i & 1) columns.push_back(Vec{1} << i);
  }
  auto address = static_cast<int64_t>(Subspace::of(columns).greatest());
  for (const MemGrid& grid : layout.grids) address += (grid.count - 1) * grid.stride;
  return address;
}

// Strides that step over everything below them cannot collide. Where they interleave (a grid that fills the holes of
// the bits), look at every address.
bool grids_are_injective(const MemLayout& layout) {
  std::vector<MemGrid> grids = layout.grids;
  std::sort(grids.begin(), grids.end(), [](const MemGrid& a, const MemGrid& b) { return a.stride < b.stride; });
  MemLayout below = layout;
  below.grids.clear();
  bool steps_over = true;
  for (const MemGrid& grid : grids) {
    steps_over &= grid.stride > greatest_address(below);
    below.grids.push_back(grid);
  }
  if (steps_over) return true;
  constexpr int64_t kMostEnumerated = 1 << 22;
  Basis columns = address_columns(layout);
  std::vector<int64_t> all{0};
  for (Vec column : columns) {
    if (static_cast<int64_t>(all.size()) > kMostEnumerated) return false;
    for (size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] ^ static_cast<int64_t>(column));
  }
  for (const MemGrid& grid : grids) {
    if (static_cast<int64_t>(all.size()) * grid.count > kMostEnumerated) return false;
    for (size_t i = 0, n = all.size(); i < n; ++i) {
      for (int index = 1; index < grid.count; ++index) all.push_back(all[i] + index * grid.stride);
    }
  }
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

}  // namespace

int64_t MemLayout::size() const {
  int64_t last = greatest_address(*this);
  return (pad.every > 0 ? last + last / pad.every * pad.add : last) + 1;
}

MemLayout normalized(MemLayout layout) {
  auto& grids = layout.grids;
  std::erase_if(grids, [](const MemGrid& grid) { return grid.count == 1; });
  std::stable_sort(grids.begin(), grids.end(), [](const MemGrid& a, const MemGrid& b) { return a.axis > b.axis; });
  for (size_t i = 0; i + 1 < grids.size();) {
    if (grids[i].axis == grids[i + 1].axis && grids[i].stride * grids[i].count == grids[i + 1].stride) {
      grids[i].count *= grids[i + 1].count;
      grids.erase(grids.begin() + i + 1);
    } else {
      ++i;
    }
  }
  auto continues_bits = [&](const MemGrid& grid) {
    bool is_innermost = &grid == &grids.front() || (&grid)[-1].axis != grid.axis;
    return is_innermost && grid.count % 2 == 0 && grid.stride == int64_t{1} << layout.addr.size() &&
           layout.bits(grid.axis) < run_width(layout.shape.rank);
  };
  for (auto grid = grids.begin(); (grid = std::find_if(grids.begin(), grids.end(), continues_bits)) != grids.end();) {
    layout.addr.push_back(coordinate_bit(layout.shape.rank, grid->axis, layout.bits(grid->axis)));
    grid->count /= 2;
    grid->stride *= 2;
    if (grid->count == 1) grids.erase(grid);
  }
  if (layout.pad.add == 0) layout.pad = {};
  return layout;
}

std::string flaw(const MemLayout& layout) {
  int total = 0;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    total += layout.bits(axis);
    if (layout.covered(axis) < layout.shape[axis]) {
      return "axis " + std::to_string(axis) + " has " + std::to_string(layout.shape[axis]) +
             " elements but the layout covers " + std::to_string(layout.covered(axis));
    }
  }
  if (rank(layout.addr) < total) return "two elements share an address: a coordinate bit is lost";
  if (!grids_are_injective(layout)) return "two elements share an address: the strides of the grids overlap";
  return "";
}

MemLayout compact(const Shape& shape, std::span<const Run> runs) {
  MemLayout layout{.shape = shape};
  int64_t stride = 1;
  for (const Run& run : runs) {
    layout.grids.push_back({run.axis, run.count, stride});
    stride *= run.count;
  }
  return normalized(std::move(layout));
}

MemLayout row_major(const Shape& shape) {
  std::vector<Run> runs;
  for (int axis = shape.rank - 1; axis >= 0; --axis) runs.push_back({axis, shape[axis]});
  return compact(shape, runs);
}

MemLayout panels(const Shape& shape, int axis, int width) {
  std::vector<Run> runs{{axis, width}};
  for (int other = shape.rank - 1; other >= 0; --other) {
    if (other != axis) runs.push_back({other, shape[other]});
  }
  runs.push_back({axis, (shape[axis] + width - 1) / width});
  return compact(shape, runs);
}

std::optional<MemLayout> swizzled(const Shape& shape, int contiguous, int row_axis, int element_bits, int bytes) {
  INVARIANT(bytes == 32 || bytes == 64 || bytes == 128, "a swizzled row has 32, 64 or 128 bytes");
  constexpr int kChunkBits = 128, kRowsOfAtom = 8;
  int row = bytes * 8 / element_bits;
  if (shape[contiguous] % row != 0 || shape[row_axis] % kRowsOfAtom != 0) return std::nullopt;
  std::vector<Run> runs{{contiguous, row}, {row_axis, shape[row_axis]}, {contiguous, shape[contiguous] / row}};
  for (int axis = shape.rank - 1; axis >= 0; --axis) {
    if (axis != contiguous && axis != row_axis) runs.push_back({axis, shape[axis]});
  }
  MemLayout layout = compact(shape, runs);
  // Chunk bit i of the address takes in the bit three places above it: 1024 bytes hold eight 128-byte lines, and line
  // and chunk are added whatever the row's length.
  int chunk = std::countr_zero(static_cast<unsigned>(kChunkBits / element_bits));
  int chunk_bits = std::countr_zero(static_cast<unsigned>(row)) - chunk;
  Basis plain = layout.addr;
  for (int i = 0; i < chunk_bits; ++i) layout.addr[chunk + i] ^= plain[chunk + i + 3];
  return layout;
}

MemLayout stacked(const MemLayout& layout, int count) {
  std::array<int, kMaxRank> up{1, 2, 3, 4, 5, 6};
  MemLayout result = layout;
  result.shape = with_axis(layout.shape, 0, count);
  for (Vec& v : result.addr) v = moved(v, layout.shape.rank, up, result.shape.rank);
  for (MemGrid& grid : result.grids) ++grid.axis;
  MemLayout plain = layout;
  plain.pad = {};
  int64_t stride = plain.size();
  // Padding counts from the start of each copy only if a copy is a whole number of padded intervals.
  if (layout.pad.every > 0) stride = (stride + layout.pad.every - 1) / layout.pad.every * layout.pad.every;
  result.grids.push_back({0, count, stride});
  return normalized(std::move(result));
}

}  // namespace tilec::layout
