#include "layout/transform.h"

#include <map>
#include <numeric>

#include "base/check.h"

namespace tilec::layout {
namespace {

Basis moved_all(const Basis& bits, int rank, std::span<const int> new_axis, int new_rank) {
  Basis result;
  for (Vec v : bits) result.push_back(moved(v, rank, new_axis, new_rank));
  return result;
}

// The layout in another space of axes, its register replicas kept.
RegLayout in_space(const RegLayout& layout, std::span<const int> new_axis, const Shape& shape) {
  int rank = layout.shape.rank;
  RegLayout result{.shape = shape};
  result.reg = moved_all(layout.reg, rank, new_axis, shape.rank);
  result.lane = moved_all(layout.lane, rank, new_axis, shape.rank);
  result.warp = moved_all(layout.warp, rank, new_axis, shape.rank);
  result.cta = moved_all(layout.cta, rank, new_axis, shape.rank);
  result.grids = layout.grids;
  for (Grid& grid : result.grids) {
    if (grid.axis != kReplica) grid.axis = new_axis[grid.axis];
  }
  return result;
}

// Old axes as new ones when `axis` goes away, or (inserted) comes.
std::array<int, kMaxRank> axes_without(int axis) {
  std::array<int, kMaxRank> result{};
  for (int i = 0; i < kMaxRank; ++i) result[i] = i == axis ? kReplica : i > axis ? i - 1 : i;
  return result;
}
std::array<int, kMaxRank> axes_with(int axis) {
  std::array<int, kMaxRank> result{};
  for (int i = 0; i < kMaxRank; ++i) result[i] = i >= axis ? i + 1 : i;
  return result;
}

}  // namespace

RegLayout project(const RegLayout& layout, int axis) {
  RegLayout result = in_space(layout, axes_without(axis), without_axis(layout.shape, axis));
  std::erase(result.reg, Vec{0});
  std::erase_if(result.grids, [](const Grid& g) { return g.axis == kReplica && g.place == GridPlace::Register; });
  return normalized(std::move(result));
}

RegLayout broadcast(const RegLayout& layout, int axis, int extent) {
  RegLayout result = in_space(layout, axes_with(axis), with_axis(layout.shape, axis, extent));
  auto [odd, bits] = split_extent(extent);
  for (int bit = 0; bit < bits; ++bit) result.reg.push_back(coordinate_bit(result.shape.rank, axis, bit));
  result.grids.push_back({axis, odd, GridPlace::Register});
  return normalized(std::move(result));
}

RegLayout transpose(const RegLayout& layout, std::span<const int> permutation) {
  std::array<int, kMaxRank> new_axis{};
  Shape shape = layout.shape;
  for (int i = 0; i < shape.rank; ++i) {
    new_axis[permutation[i]] = i;
    shape.extents[i] = layout.shape[permutation[i]];
  }
  return in_space(layout, new_axis, shape);
}

MemLayout transpose(const MemLayout& layout, std::span<const int> permutation) {
  std::array<int, kMaxRank> new_axis{};
  MemLayout result = layout;
  for (int i = 0; i < layout.shape.rank; ++i) {
    new_axis[permutation[i]] = i;
    result.shape.extents[i] = layout.shape[permutation[i]];
  }
  result.addr = moved_all(layout.addr, layout.shape.rank, new_axis, layout.shape.rank);
  for (MemGrid& grid : result.grids) grid.axis = new_axis[grid.axis];
  return normalized(std::move(result));
}

// --- reduction ----------------------------------------------------------------------------------------------------
namespace {

struct Axis {
  int rank, axis;
  bool moves(Vec v) const { return axis_part(v, rank, axis) != 0; }
  bool moves_other(Vec v) const { return (v & ~axis_mask(rank, axis)) != 0; }
};

// The bits of a place that are combined: those along the axis that reach something new. The others along it are
// replicas of what `reached` holds already.
std::vector<int> combined(const Basis& bits, const Axis& axis, Subspace& reached) {
  std::vector<int> result;
  for (size_t i = 0; i < bits.size(); ++i) {
    if (axis.moves(bits[i]) && reached.insert(bits[i])) result.push_back(static_cast<int>(i));
  }
  return result;
}

// Walks the register index from its lowest digit up: a digit that stays is a digit of the result, one that is combined
// is summed, a replica's nonzero values are left out.
std::vector<int64_t> result_registers(const RegLayout& layout, const Axis& axis, std::span<const int> summed_bits) {
  std::vector<int64_t> result{0};
  int64_t stride = 1;
  auto add_digit = [&](int count, bool stays, bool is_replica) {
    size_t known = result.size();
    for (int digit = 1; digit < count; ++digit) {
      for (size_t i = 0; i < known; ++i) {
        bool is_out = result[i] < 0 || is_replica;
        result.push_back(is_out ? -1 : stays ? result[i] + digit * stride : result[i]);
      }
    }
    if (stays) stride *= count;
  };
  for (size_t i = 0; i < layout.reg.size(); ++i) {
    bool is_summed = std::find(summed_bits.begin(), summed_bits.end(), static_cast<int>(i)) != summed_bits.end();
    bool stays = axis.moves_other(layout.reg[i]);
    add_digit(2, stays, !stays && !is_summed);
  }
  for (const Grid& grid : layout.grids) {
    if (grid.place != GridPlace::Register) continue;
    bool is_replica = grid.axis == kReplica;
    add_digit(grid.count, !is_replica && grid.axis != axis.axis, is_replica);
  }
  return result;
}

}  // namespace

std::optional<Reduction> reduce(const RegLayout& layout, int axis_index) {
  Axis axis{layout.shape.rank, axis_index};
  for (Vec v : layout.all_bits()) {
    if (axis.moves(v) && axis.moves_other(v)) return std::nullopt;
  }
  Subspace reached;
  std::vector<int> summed_bits = combined(layout.reg, axis, reached);
  Reduction reduction{};
  reduction.lane_bits = combined(layout.lane, axis, reached);
  reduction.warp_bits = combined(layout.warp, axis, reached);
  reduction.cta_bits = combined(layout.cta, axis, reached);
  reduction.result_register = result_registers(layout, axis, summed_bits);
  for (size_t i = 0; i < layout.grids.size(); ++i) {
    const Grid& grid = layout.grids[i];
    if (grid.axis == axis_index && grid.place == GridPlace::Warp) reduction.warp_grids.push_back(static_cast<int>(i));
  }
  reduction.result = project(layout, axis_index);
  return reduction;
}

// --- regions ------------------------------------------------------------------------------------------------------
namespace {

// Every bit flips one bit of the coordinate, and no two flip the same: then a coordinate is a number in mixed radix.
bool is_mixed_radix(const RegLayout& layout) {
  Vec seen = 0;
  for (Vec v : layout.all_bits()) {
    if (v == 0) continue;
    if (!std::has_single_bit(v) || (seen & v)) return false;
    seen |= v;
  }
  return true;
}

// From this step on, moving along the axis stays in the lane.
int64_t reach(const RegLayout& layout, int axis) {
  int64_t lanes = 1, weight = int64_t(1) << layout.bits(axis);
  for (const Basis* basis : {&layout.lane, &layout.warp, &layout.cta})
    for (Vec v : *basis) lanes = std::max(lanes, 2 * int64_t(axis_part(v, layout.shape.rank, axis)));
  for (const Grid& grid : layout.grids) {
    if (grid.axis != axis) continue;
    weight *= grid.count;
    if (grid.place == GridPlace::Warp) lanes = weight;
  }
  return lanes;
}

}  // namespace

std::optional<RegLayout> cut(const RegLayout& tile, std::span<const Cut> cuts) {
  if (!is_mixed_radix(tile)) return std::nullopt;
  int rank = tile.shape.rank;
  RegLayout result = tile;
  for (int axis = 0; axis < rank; ++axis) {
    const Cut& c = cuts[axis];
    if (c.extent == tile.shape[axis]) continue;
    int64_t step = reach(tile, axis), bits_end = int64_t(1) << tile.bits(axis);
    if (c.extent % step != 0 || c.divisor % step != 0) return std::nullopt;
    std::erase_if(result.reg, [&](Vec v) { return int64_t(axis_part(v, rank, axis)) >= step; });
    int64_t weight = bits_end;
    std::erase_if(result.grids, [&](const Grid& g) {
      if (g.axis != axis) return false;
      weight *= g.count;
      return weight > step;
    });
    result.shape.extents[axis] = c.extent;
    result.grids.push_back({axis, int(c.extent / step), GridPlace::Register});
  }
  return normalized(std::move(result));
}

// --- reshape ------------------------------------------------------------------------------------------------------
namespace {

// Axes [first_old, end_old) become [first_new, end_new), with equal numbers of elements.
struct Group {
  int first_old, end_old, first_new, end_new;
};

std::vector<Group> matched(const Shape& old_shape, const Shape& new_shape) {
  std::vector<Group> groups;
  int end_old = old_shape.rank, end_new = new_shape.rank;
  while (end_old > 0 || end_new > 0) {
    int i = end_old, j = end_new;
    int64_t of_old = 1, of_new = 1;
    do {
      if (j == 0 || (i > 0 && of_old <= of_new)) of_old *= old_shape[--i];
      else of_new *= new_shape[--j];
    } while (of_old != of_new);
    // Extents of one go with the group after them.
    while (i > 0 && old_shape[i - 1] == 1) --i;
    while (j > 0 && new_shape[j - 1] == 1) --j;
    groups.push_back({i, end_old, j, end_new});
    end_old = i, end_new = j;
  }
  return groups;
}

// The first axis of the group that is longer than one.
int outermost(const Shape& shape, int first, int end) {
  while (first + 1 < end && shape[first] == 1) ++first;
  return first;
}

// Fills in where each old coordinate bit goes. False when a grid lies below bits on either side.
bool map_group(const RegLayout& layout, const Shape& shape, const Group& group, std::map<Vec, Vec>& images,
               std::array<int, kMaxRank>& grid_axis) {
  if (group.first_old == group.end_old || group.first_new == group.end_new) return true;
  int outer_old = outermost(layout.shape, group.first_old, group.end_old);
  int outer_new = outermost(shape, group.first_new, group.end_new);
  Basis from, to;
  for (int axis = group.end_old - 1; axis >= group.first_old; --axis) {
    if (axis != outer_old && layout.grid_count(axis) > 1) return false;
    for (int bit = 0; bit < layout.bits(axis); ++bit) from.push_back(coordinate_bit(layout.shape.rank, axis, bit));
  }
  int grids = layout.grid_count(outer_old);
  for (int axis = group.end_new - 1; axis >= group.first_new; --axis) {
    int part = axis == outer_new ? shape[axis] / grids : shape[axis];
    auto [odd, bits] = split_extent(std::max(part, 1));
    if (odd != 1 || (axis == outer_new && part * grids != shape[axis])) return false;
    for (int bit = 0; bit < bits; ++bit) to.push_back(coordinate_bit(shape.rank, axis, bit));
  }
  if (from.size() != to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i) images[from[i]] = to[i];
  grid_axis[outer_old] = outer_new;
  return true;
}

}  // namespace

std::optional<RegLayout> reshape(const RegLayout& layout, const Shape& shape) {
  INVARIANT(layout.shape.elements() == shape.elements(), "a reshape keeps the number of elements");
  if (layout.is_padded()) return std::nullopt;
  std::map<Vec, Vec> images;
  std::array<int, kMaxRank> grid_axis{};
  for (const Group& group : matched(layout.shape, shape)) {
    if (!map_group(layout, shape, group, images, grid_axis)) return std::nullopt;
  }
  RegLayout result = layout;
  result.shape = shape;
  for (Basis* bits : {&result.reg, &result.lane, &result.warp, &result.cta}) {
    for (Vec& v : *bits) {
      Vec image = 0;
      for (Vec rest = v; rest != 0; rest &= rest - 1) image ^= images.at(rest & -rest);
      v = image;
    }
  }
  for (Grid& grid : result.grids) {
    if (grid.axis != kReplica) grid.axis = grid_axis[grid.axis];
  }
  return normalized(std::move(result));
}

}  // namespace tilec::layout
