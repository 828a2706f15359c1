#include "layout/convert.h"

#include "base/check.h"

namespace tilec::layout {
namespace {

std::vector<Grid> grids_where(const RegLayout& layout, auto&& claim) {
  std::vector<Grid> result;
  std::copy_if(layout.grids.begin(), layout.grids.end(), std::back_inserter(result), claim);
  return result;
}
std::vector<Grid> grids_along(const RegLayout& layout, int axis) {
  return grids_where(layout, [&](const Grid& grid) { return grid.axis == axis; });
}
std::vector<Grid> grids_in(const RegLayout& layout, GridPlace place) {
  return grids_where(layout, [&](const Grid& grid) { return grid.place == place; });
}

bool grids_agree(const RegLayout& a, const RegLayout& b) {
  for (int axis = 0; axis < a.shape.rank; ++axis) {
    std::vector<Grid> along = grids_along(a, axis);
    if (along != grids_along(b, axis)) return false;
    if (!along.empty() && a.bits(axis) != b.bits(axis)) return false;
  }
  return grids_in(a, GridPlace::Warp) == grids_in(b, GridPlace::Warp);
}

// Bit by bit, the two hold the same up to what `have` reaches.
bool agree(const Subspace& have, Vecs a, Vecs b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!have.contains(a[i] ^ b[i])) return false;
  }
  return true;
}

}  // namespace

std::string_view name(Tier tier) {
  constexpr std::string_view kNames[] = {"none", "register", "lane", "warp", "cta"};
  return kNames[static_cast<int>(tier)];
}

Tier move_tier(const RegLayout& src, const RegLayout& dst) {
  INVARIANT(src.shape == dst.shape, "a conversion keeps the tile's shape");
  if (src == dst) return Tier::None;
  Tier dearest = src.cta.empty() && dst.cta.empty() ? Tier::Warp : Tier::Cta;
  if (!grids_agree(src, dst)) return dearest;
  Subspace lane_holds = Subspace::of(src.reg);
  Subspace warp_holds = Subspace::of(concat({src.reg, src.lane}));
  Subspace cta_holds = Subspace::of(concat({src.reg, src.lane, src.warp}));
  if (agree(lane_holds, src.lane, dst.lane) && agree(lane_holds, src.warp, dst.warp) &&
      agree(lane_holds, src.cta, dst.cta) && lane_holds.contains(dst.reg)) {
    return Tier::Register;
  }
  if (agree(warp_holds, src.warp, dst.warp) && agree(warp_holds, src.cta, dst.cta) && warp_holds.contains(dst.reg) &&
      warp_holds.contains(dst.lane) && src.lane.size() == dst.lane.size()) {
    return Tier::Lane;
  }
  bool within_cta = agree(cta_holds, src.cta, dst.cta) && cta_holds.contains(concat({dst.reg, dst.lane, dst.warp}));
  return within_cta ? Tier::Warp : dearest;
}

AccessMap axis_access(int from_rank, std::span<const int> follows) {
  AccessMap access{.from_rank = from_rank, .to_rank = static_cast<int>(follows.size())};
  access.follows.fill(kReplica);
  std::copy(follows.begin(), follows.end(), access.follows.begin());
  access.images.assign(64, 0);
  int width = std::min(run_width(from_rank), run_width(access.to_rank));
  for (int axis = 0; axis < access.to_rank; ++axis) {
    if (follows[axis] == kReplica) continue;
    for (int bit = 0; bit < width; ++bit) {
      access.images[run_start(from_rank, follows[axis]) + bit] |= coordinate_bit(access.to_rank, axis, bit);
    }
  }
  return access;
}

namespace {

// Each warp steps through the grids alike, and along each axis the grids are the iteration's.
bool grids_follow(const RegLayout& tile, const RegLayout& loop, const AccessMap& access) {
  for (int axis = 0; axis < access.to_rank; ++axis) {
    std::vector<Grid> along = grids_along(tile, axis), wanted;
    int source = access.follows[axis];
    if (source != kReplica) wanted = grids_along(loop, source);
    if (along.empty() && wanted.empty()) continue;
    bool is_in_registers =
        std::all_of(along.begin(), along.end(), [](const Grid& grid) { return grid.place == GridPlace::Register; });
    if (source == kReplica && is_in_registers) continue;
    if (source == kReplica || tile.bits(axis) != loop.bits(source) || along.size() != wanted.size()) return false;
    for (size_t i = 0; i < along.size(); ++i) {
      if (along[i].count != wanted[i].count || along[i].place != wanted[i].place) return false;
    }
  }
  std::vector<Grid> dealt = grids_in(tile, GridPlace::Warp), wanted = grids_in(loop, GridPlace::Warp);
  if (dealt.size() != wanted.size()) return false;
  for (size_t i = 0; i < dealt.size(); ++i) {
    if (dealt[i].count != wanted[i].count) return false;
    if (dealt[i].axis != kReplica && access.follows[dealt[i].axis] != wanted[i].axis) return false;
  }
  return true;
}

}  // namespace

bool holds(const RegLayout& tile, const RegLayout& loop, const AccessMap& access) {
  if (!grids_follow(tile, loop, access)) return false;
  Subspace lane_holds = Subspace::of(tile.reg);
  auto touched = [&](Vecs bits) { return compose(access.images, bits); };
  return lane_holds.contains(touched(loop.reg)) && agree(lane_holds, touched(loop.lane), tile.lane) &&
         agree(lane_holds, touched(loop.warp), tile.warp) && agree(lane_holds, touched(loop.cta), tile.cta);
}

}  // namespace tilec::layout
