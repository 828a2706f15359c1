#include "layout/build.h"

#include <bit>
#include <numeric>

#include "base/check.h"

namespace tilec::layout {
namespace {

// How an axis is covered: odd × 2^bits, of which `used` bits are dealt out already.
struct AxisCover {
  int odd = 1, bits = 0, used = 0;
  int free() const { return bits - used; }
};

int ceil_div(int a, int b) { return (a + b - 1) / b; }

AxisCover cover_of(int extent, int least_bits, int rank) {
  auto [odd, bits] = split_extent(static_cast<int64_t>(ceil_div(extent, 1 << least_bits)) << least_bits);
  int kept = std::min(bits, run_width(rank));
  return {odd << (bits - kept), kept};
}

// Rounds extents up, each time the one that grows least (the last axis when equal), until there are bits enough for
// every lane and warp or nothing is odd any more.
std::vector<AxisCover> covers(const Shape& shape, int needed_bits, int vector_bits, Second second) {
  std::vector<AxisCover> result;
  for (int axis = 0; axis < shape.rank; ++axis) {
    int extent_bits = std::bit_width(static_cast<unsigned>(shape[axis] - 1));
    int wanted = axis == shape.rank - 1 ? vector_bits : axis == second.axis ? split_extent(second.count).bits : 0;
    int least = std::min(wanted, extent_bits);
    result.push_back(cover_of(shape[axis], least, shape.rank));
  }
  for (;;) {
    int bits = 0;
    AxisCover* best = nullptr;
    for (AxisCover& cover : result) {
      bits += cover.bits;
      if (cover.odd == 1 || cover.bits >= run_width(shape.rank)) continue;
      // Growth is (odd + 1) / odd: least where the odd part is greatest.
      if (best == nullptr || cover.odd >= best->odd) best = &cover;
    }
    if (bits >= needed_bits || best == nullptr) return result;
    auto [odd, more] = split_extent(best->odd + 1);
    int kept = std::min(more, run_width(shape.rank) - best->bits);
    best->odd = odd << (more - kept);
    best->bits += kept;
  }
}

// Takes up to `count` free bits of `axis`, the lowest first, for the place `bits`.
int deal(Basis& bits, AxisCover& cover, int rank, int axis, int count) {
  int taken = std::min(count, cover.free());
  for (int i = 0; i < taken; ++i) bits.push_back(coordinate_bit(rank, axis, cover.used++));
  return taken;
}

}  // namespace

RegLayout blocked(const Shape& shape, int lanes, int warps, int vector, Second second) {
  INVARIANT(std::has_single_bit(static_cast<unsigned>(lanes)) && std::has_single_bit(static_cast<unsigned>(vector * second.count)),
            "lanes and vectors are powers of two");
  int lane_bits = split_extent(lanes).bits, vector_bits = split_extent(vector).bits, second_bits = split_extent(second.count).bits;
  auto [warp_odd, warp_bits] = split_extent(warps);
  std::vector<AxisCover> axes = covers(shape, vector_bits + second_bits + lane_bits + warp_bits, vector_bits, second);
  RegLayout layout{.shape = shape};
  int rank = shape.rank, last = rank - 1;
  if (rank > 0) deal(layout.reg, axes[last], rank, last, vector_bits);
  if (second_bits > 0) deal(layout.reg, axes[second.axis], rank, second.axis, second_bits);
  for (int axis = last; axis >= 0; --axis) lane_bits -= deal(layout.lane, axes[axis], rank, axis, lane_bits);
  for (int axis = 0; axis < rank; ++axis) warp_bits -= deal(layout.warp, axes[axis], rank, axis, warp_bits);
  layout.lane.resize(layout.lane.size() + lane_bits, 0);
  layout.warp.resize(layout.warp.size() + warp_bits, 0);
  std::vector<Grid> dealt;
  for (int axis = 0; axis < rank; ++axis) {
    int count = std::gcd(warp_odd, axes[axis].odd);
    if (count > 1) dealt.push_back({axis, count, GridPlace::Warp});
    warp_odd /= count;
    axes[axis].odd /= count;
  }
  if (warp_odd > 1) dealt.push_back({kReplica, warp_odd, GridPlace::Warp});
  for (int axis = last; axis >= 0; --axis) {
    deal(layout.reg, axes[axis], rank, axis, axes[axis].free());
    if (axes[axis].odd > 1) layout.grids.push_back({axis, axes[axis].odd, GridPlace::Register});
  }
  layout.grids.insert(layout.grids.end(), dealt.begin(), dealt.end());
  return normalized(std::move(layout));
}

namespace {

RegLayout lifted(const RegLayout& atom, const Shape& shape) {
  int up = shape.rank - atom.shape.rank;
  INVARIANT(up >= 0, "an atom has no more axes than the tile");
  std::array<int, kMaxRank> new_axis{};
  for (int axis = 0; axis < kMaxRank; ++axis) new_axis[axis] = axis + up;
  RegLayout result = atom;
  result.shape = shape;
  for (Basis* bits : {&result.reg, &result.lane, &result.warp, &result.cta}) {
    for (Vec& v : *bits) v = moved(v, atom.shape.rank, new_axis, shape.rank);
  }
  for (Grid& grid : result.grids) {
    if (grid.axis != kReplica) grid.axis += up;
  }
  return result;
}

}  // namespace

RegLayout tiled(const RegLayout& atom, const Shape& shape, std::span<const WarpStep> warps) {
  RegLayout layout = lifted(atom, shape);
  int rank = shape.rank;
  std::array<int, kMaxRank> repeats{}, next_bit{};
  std::array<bool, kMaxRank> has_grid{};
  for (int axis = 0; axis < rank; ++axis) {
    int along = 1;
    for (const WarpStep& step : warps) along *= step.axis == axis ? step.count : 1;
    repeats[axis] = ceil_div(ceil_div(shape[axis], layout.covered(axis)), along);
    next_bit[axis] = layout.bits(axis);
    has_grid[axis] = layout.grid_count(axis) > 1;
  }
  // Factors of two become bits while no grid lies below them on their axis.
  auto add_bits = [&](Basis& place, int axis, int count) {
    if (axis != kReplica && has_grid[axis]) return count;
    auto [odd, bits] = split_extent(count);
    for (int i = 0; i < bits; ++i) place.push_back(axis == kReplica ? 0 : coordinate_bit(rank, axis, next_bit[axis]++));
    return odd;
  };
  std::vector<Grid> dealt;
  for (const WarpStep& step : warps) {
    dealt.push_back({step.axis, add_bits(layout.warp, step.axis, step.count), GridPlace::Warp});
  }
  for (int axis = rank - 1; axis >= 0; --axis) {
    int odd = add_bits(layout.reg, axis, repeats[axis]);
    layout.grids.push_back({axis, odd, GridPlace::Register});
  }
  layout.grids.insert(layout.grids.end(), dealt.begin(), dealt.end());
  return normalized(std::move(layout));
}

}  // namespace tilec::layout
