// Regions of buffers as arrays of numbers.
#pragma once
#include "interp/touch.h"

namespace tilec::interp {

// None: a fault was recorded.
std::optional<Region> resolve(Run& run, uint32_t op, const RegionAccess& access, const View& view,
                              std::span<const int64_t> offsets);
std::vector<int64_t> offsets_of(const Strand& s, const RegionAccess& access);
// The whole of a buffer.
Region whole(const View& view);

// Moves numbers without judging; elements outside read as `pad` and are not written.
void read_region(const Region& region, Slot pad, Slot* out);
void write_region(const Region& region, const Slot* values);
// Each number is added to what is there.
void add_region(Run& run, const Region& region, const Slot* values);
// From region to region, converting the elements as data.types says.
void move_region(Run& run, const TileData& data, const Region& from, const Region& to);
// Judges the touches. False: a fault was recorded.
bool touch_region(const Toucher& who, const Region& region, Touch how);
int64_t bytes_inside(const Region& region);

// Calls row(tile index of its first element, place of it, is the row inside?) for every run along the last axis.
template <class F>
bool each_row(const Region& r, F&& row) {
  int64_t index[View::kMaxRank] = {};
  int64_t length = r.rank ? r.shape[r.rank - 1] : 1, rows = length ? r.count() / length : 0;
  for (int64_t n = 0; n < rows; ++n) {
    int64_t place = r.base;
    bool is_inside = !r.is_empty;
    for (int a = 0; a + 1 < r.rank; ++a) {
      place += index[a] * r.stride[a];
      is_inside &= index[a] >= r.low[a] && index[a] < r.high[a];
    }
    if (!row(n * length, place, is_inside)) return false;
    for (int a = r.rank - 1; a-- > 0;) {
      if (++index[a] < r.shape[a]) break;
      index[a] = 0;
    }
  }
  return true;
}

}  // namespace tilec::interp
