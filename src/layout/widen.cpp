#include "layout/widen.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>

namespace tilec::layout {

namespace {

int find(const Basis& bits, Vec wanted) {
  auto found = std::find(bits.begin(), bits.end(), wanted);
  return found == bits.end() ? -1 : int(found - bits.begin());
}

}  // namespace

std::optional<Widening> widened(const RegLayout& layout, int axis, int bits) {
  Widening result{.layout = layout, .swaps = {}, .order = {}};
  RegLayout& dealt = result.layout;
  auto wanted = [&](int bit) { return coordinate_bit(layout.shape.rank, axis, bit); };
  auto is_wanted = [&](Vec v) {
    for (int bit = 0; bit < bits; ++bit)
      if (v == wanted(bit)) return true;
    return false;
  };
  // A bit that something else flips, too, is not the registers' alone once they have it.
  for (Vec v : layout.all_bits())
    if (!is_wanted(v) && std::ranges::any_of(std::views::iota(0, bits), [&](int bit) { return (v & wanted(bit)) != 0; })) return std::nullopt;
  // The smallest step along the axis that lanes can take in exchange: they stay as near to each other as they can.
  auto tradable = [&] {
    int best = -1;
    for (int i = 0; i < int(dealt.reg.size()); ++i) {
      if (is_wanted(dealt.reg[size_t(i)])) continue;
      auto step = [&](int place) {
        for (int bit = bits; bit < layout.bits(axis); ++bit)
          if (dealt.reg[size_t(place)] == wanted(bit)) return bit;
        return layout.bits(axis);
      };
      if (best < 0 || step(i) < step(best)) best = i;
    }
    return best;
  };
  std::vector<int> first;
  for (int bit = 0; bit < bits; ++bit) {
    int lane = find(dealt.lane, wanted(bit));
    if (lane >= 0) {
      int reg = tradable();
      if (reg < 0) return std::nullopt;
      std::swap(dealt.reg[size_t(reg)], dealt.lane[size_t(lane)]);
      result.swaps.push_back({reg, lane});
    }
    int at = find(dealt.reg, wanted(bit));
    if (at < 0) return std::nullopt;
    first.push_back(at);
  }
  result.order = first;
  for (int i = 0; i < int(dealt.reg.size()); ++i)
    if (std::find(first.begin(), first.end(), i) == first.end()) result.order.push_back(i);
  Basis before = dealt.reg;
  for (size_t i = 0; i < before.size(); ++i) dealt.reg[i] = before[size_t(result.order[i])];
  return result;
}

// Only bits that flip one bit of one coordinate, and that nothing else flips, trade places: masks know who holds what.
std::optional<Widening> spread(const RegLayout& layout, int axis) {
  Widening result{.layout = layout, .swaps = {}, .order = {}};
  Basis &reg = result.layout.reg, &lane = result.layout.lane;
  const Basis all = layout.all_bits();
  auto is_alone = [&](Vec v) { return std::has_single_bit(uint64_t(v)) && std::ranges::none_of(all, [&](Vec w) { return w != v && (w & v) != 0; }); };
  int most = std::min(layout.bits(axis), int(lane.size()));
  auto wanted = [&](int bit) { return coordinate_bit(layout.shape.rank, axis, bit); };
  auto is_along = [&](Vec v) { return std::ranges::any_of(std::views::iota(0, layout.bits(axis)), [&](int bit) { return v == wanted(bit); }); };
  for (int bit = 0; bit < most; ++bit) {
    if (find(lane, wanted(bit)) >= 0) continue;
    int taken = find(reg, wanted(bit));
    auto given = std::ranges::find_if(lane, [&](Vec v) { return !is_along(v) && is_alone(v); });
    if (taken < 0 || !is_alone(wanted(bit)) || given == lane.end()) break;
    result.swaps.push_back({taken, int(given - lane.begin())});
    std::swap(reg[size_t(taken)], *given);
  }
  if (result.swaps.empty()) return std::nullopt;
  result.order.resize(reg.size());
  std::iota(result.order.begin(), result.order.end(), 0);
  return result;
}

}  // namespace tilec::layout
