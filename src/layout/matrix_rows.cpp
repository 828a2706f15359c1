#include "layout/matrix_rows.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tilec::layout {

namespace {

constexpr int kRowBytes = 16, kLaneBytes = 4, kRows = 8, kLaneBits = 5, kBankBytes = 128;

// Lanes step along `columns`, by elements of four bytes, then along `rows`.
struct Steps {
  int rows, columns;  // axes
};

std::optional<Steps> steps_of(const RegLayout& reg, int low) {
  int rank = reg.shape.rank;
  if (int(reg.lane.size()) != kLaneBits || int(reg.reg.size()) < low) return std::nullopt;
  auto is_bit = [&](Vec v, int axis, int bit) { return v == coordinate_bit(rank, axis, bit); };
  for (int rows = 0; rows < rank; ++rows)
    for (int columns = 0; columns < rank; ++columns) {
      bool fits = rows != columns;
      for (int bit = 0; bit < low; ++bit) fits = fits && is_bit(reg.reg[size_t(bit)], columns, bit);
      for (int bit = 0; bit < 2; ++bit) fits = fits && is_bit(reg.lane[size_t(bit)], columns, low + bit);
      for (int bit = 0; bit < 3; ++bit) fits = fits && is_bit(reg.lane[size_t(2 + bit)], rows, bit);
      if (fits) return Steps{rows, columns};
    }
  return std::nullopt;
}

// The address of what a place holds; none outside the tile.
std::optional<int64_t> address_of(const MemLayout& mem, const RegLayout& reg, std::span<const int64_t> offsets, int64_t r, int lane, int warp) {
  Coordinate c = reg.coordinate(r, lane, warp), at{};
  if (!reg.is_inside(c)) return std::nullopt;
  int leading = mem.shape.rank - reg.shape.rank;
  for (int axis = 0; axis < reg.shape.rank; ++axis) at[axis + leading] = c[axis] + int(offsets[size_t(axis)]);
  return mem.address(at);
}

MatrixRows made(const RegLayout& reg, Steps steps, int each, bool transposed) {
  size_t low = size_t(std::countr_zero(unsigned(each))), more = std::min<size_t>(2, reg.reg.size() - low);
  MatrixRows out{reg, 1 << more, each, transposed};
  out.rows.lane = {};
  for (int bit = 0; bit < 3; ++bit) out.rows.lane.push_back(coordinate_bit(reg.shape.rank, transposed ? steps.columns : steps.rows, bit));
  for (size_t bit = 0; bit < 2; ++bit) out.rows.lane.push_back(bit < more ? reg.reg[low + bit] : Vec(0));
  out.rows.reg = Basis(reg.reg.begin() + int64_t(low + more), reg.reg.end());
  return out;
}

// Does every lane find in its row what the layout wants of it? Looked up place by place.
bool deals(const MemLayout& mem, const RegLayout& reg, const MatrixRows& m, std::span<const int64_t> offsets) {
  int64_t at_once = int64_t(m.count) * m.each, row_elements = kRowBytes / kLaneBytes * m.each;
  for (int warp = 0; warp < reg.warps(); ++warp)
    for (int64_t r = 0; r < reg.registers(); ++r)
      for (int lane = 0; lane < reg.lanes(); ++lane) {
        int matrix = int(r % at_once) / m.each, e = int(r % m.each);
        int row = m.transposed ? 2 * (lane % 4) + e : lane / 4, column = m.transposed ? lane / 4 : lane % 4 * m.each + e;
        auto here = address_of(mem, reg, offsets, r, lane, warp), begin = address_of(mem, m.rows, offsets, r / at_once, kRows * matrix + row, warp);
        if (!here || !begin || *begin % row_elements || *here != *begin + column) return false;
      }
  return true;
}

}  // namespace

std::optional<MatrixRows> matrix_rows(const MemLayout& mem, const RegLayout& reg, int element_bytes, std::span<const int64_t> offsets) {
  if (element_bytes > kLaneBytes || reg.is_padded() || mem.shape.rank < reg.shape.rank) return std::nullopt;
  int each = kLaneBytes / element_bytes;
  auto steps = steps_of(reg, std::countr_zero(unsigned(each)));
  if (!steps) return std::nullopt;
  for (bool transposed : {false, true}) {
    if (transposed && element_bytes != 2) continue;
    MatrixRows m = made(reg, *steps, each, transposed);
    if (deals(mem, reg, m, offsets)) return m;
  }
  return std::nullopt;
}

int64_t matrix_turns(const MemLayout& mem, const MatrixRows& m, int element_bytes, std::span<const int64_t> offsets) {
  constexpr int kUnits = kBankBytes / kRowBytes;
  int64_t turns = 0;
  for (int64_t r = 0; r < m.rows.registers(); ++r)
    for (int j = 0; j < m.count; ++j) {
      std::array<int, kUnits> hits{};
      for (int row = 0; row < kRows; ++row)
        if (auto at = address_of(mem, m.rows, offsets, r, kRows * j + row, 0)) ++hits[size_t(*at * element_bytes / kRowBytes % kUnits)];
      turns += *std::ranges::max_element(hits);
    }
  return turns;
}

}  // namespace tilec::layout
