#include "layout/reg_layout.h"

#include <numeric>

#include "base/check.h"

namespace tilec::layout {

int RegLayout::bits(int axis) const {
  int most = 0;
  for (const Basis* part : {&reg, &lane, &warp, &cta}) most = std::max(most, bits_of_axis(*part, shape.rank, axis));
  return most;
}

int RegLayout::grid_count(int axis) const {
  int count = 1;
  for (const Grid& grid : grids) {
    if (grid.axis == axis) count *= grid.count;
  }
  return count;
}

Shape RegLayout::cover() const {
  Shape result = shape;
  for (int axis = 0; axis < shape.rank; ++axis) result.extents[axis] = covered(axis);
  return result;
}

namespace {

int64_t count_in(const std::vector<Grid>& grids, GridPlace place) {
  int64_t count = 1;
  for (const Grid& grid : grids) {
    if (grid.place == place) count *= grid.count;
  }
  return count;
}

}  // namespace

int64_t RegLayout::registers() const { return count_in(grids, GridPlace::Register) << reg.size(); }
int RegLayout::warps() const { return static_cast<int>(count_in(grids, GridPlace::Warp)) << warp.size(); }

Coordinate RegLayout::coordinate(int64_t register_index, int lane_index, int warp_index, int cta_index) const {
  Vec v = image(reg, register_index) ^ image(lane, lane_index) ^ image(warp, warp_index) ^ image(cta, cta_index);
  int64_t above[] = {register_index >> reg.size(), warp_index >> warp.size()};  // by GridPlace
  Coordinate result{};
  std::array<int, kMaxRank> stride{};
  for (int axis = 0; axis < shape.rank; ++axis) {
    result[axis] = static_cast<int>(axis_part(v, shape.rank, axis));
    stride[axis] = 1 << bits(axis);
  }
  for (const Grid& grid : grids) {
    int64_t& rest = above[static_cast<int>(grid.place)];
    int index = static_cast<int>(rest % grid.count);
    rest /= grid.count;
    if (grid.axis == kReplica) continue;
    result[grid.axis] += index * stride[grid.axis];
    stride[grid.axis] *= grid.count;
  }
  return result;
}

bool RegLayout::is_replicated() const {
  Basis all = all_bits();
  if (rank(all) < static_cast<int>(all.size())) return true;
  return std::any_of(grids.begin(), grids.end(), [](const Grid& grid) { return grid.axis == kReplica; });
}

namespace {

// Grids whose order says nothing: they share neither an axis nor a place.
bool is_order_free(const Grid& a, const Grid& b) {
  return a.place != b.place && (a.axis != b.axis || a.axis == kReplica);
}

void sort_and_merge(std::vector<Grid>& grids) {
  std::erase_if(grids, [](const Grid& grid) { return grid.count == 1; });
  for (size_t done = 0; done + 1 < grids.size();) {
    Grid &a = grids[done], &b = grids[done + 1];
    if (a.axis == b.axis && a.place == b.place) {
      a.count *= b.count;
      grids.erase(grids.begin() + done + 1);
      done = 0;
    } else if (a.place == GridPlace::Warp && is_order_free(a, b)) {
      std::swap(a, b);
      done = 0;
    } else {
      ++done;
    }
  }
}

// A grid directly above the bits of its place and of its axis gives its factors of two to them.
bool move_twos_to_bits(RegLayout& layout) {
  for (size_t i = 0; i < layout.grids.size(); ++i) {
    Grid& grid = layout.grids[i];
    auto before = layout.grids.begin() + i;
    bool is_lowest = std::none_of(layout.grids.begin(), before, [&](const Grid& lower) {
      return lower.place == grid.place || (lower.axis == grid.axis && grid.axis != kReplica);
    });
    if (!is_lowest || grid.count % 2 != 0) continue;
    int next = grid.axis == kReplica ? 0 : layout.bits(grid.axis);
    if (next >= run_width(layout.shape.rank)) continue;
    Basis& place = grid.place == GridPlace::Register ? layout.reg : layout.warp;
    place.push_back(grid.axis == kReplica ? 0 : coordinate_bit(layout.shape.rank, grid.axis, next));
    grid.count /= 2;
    return true;
  }
  return false;
}

}  // namespace

RegLayout normalized(RegLayout layout) {
  do sort_and_merge(layout.grids);
  while (move_twos_to_bits(layout));
  return layout;
}

std::string flaw(const RegLayout& layout) {
  int total = 0;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    total += layout.bits(axis);
    if (layout.covered(axis) < layout.shape[axis]) {
      return "axis " + std::to_string(axis) + " has " + std::to_string(layout.shape[axis]) +
             " elements but the layout covers " + std::to_string(layout.covered(axis));
    }
  }
  if (rank(layout.all_bits()) < total) return "some elements are held by no lane: a coordinate bit is missing";
  return "";
}

}  // namespace tilec::layout
