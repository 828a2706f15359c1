// The lowering of one scan.
#pragma once
#include "lower/lowering.h"

namespace tilec::lower {

class LineScan {
 public:
  LineScan(Lowering& lowering, const ir::op::Scan& scan, const Home& from, Home& to);
  void run();

 private:
  // A digit of the coordinate along the axis, and how far apart neighbours are: in the index of the register, the lane or
  // the warp.
  enum class Place : uint8_t { Register, Lane, Warp };
  struct Level {
    Place place;
    int64_t weight, count, step;
  };
  // For every line what the places before this one have in sum, and what all of them have.
  struct Parts {
    Carried before, whole;
  };

  static std::vector<Level> levels_of(const layout::RegLayout& layout, int axis, std::span<const Digit> digits);
  bool unrolls() const { return from_.in_registers() || to_.in_registers(); }
  void scan_lines();
  ValueId combined(ValueId a, ValueId b);
  Carried combined(const Carried& a, const Carried& b);
  Point place(size_t line, const Point& along) const;
  ValueId element(const Point& point);
  size_t exchange_below(size_t count) const;
  Carried over_registers(const Level& level, const Point& along, Carried start,
                         const std::function<Carried(const Point&, const Carried&)>& body);
  Carried scan_from(size_t count, const Point& along, const Carried& start);
  Carried totals(size_t count, const Point& along);
  Parts exchanged(size_t low, size_t high, Carried whole);
  void exchange_lanes(const Level& level, Parts& parts);
  void exchange_warps(std::span<const Level> levels, Parts& parts);

  Lowering& l_;
  ir::Builder& b_;
  const layout::RegLayout& layout_;
  const ir::op::Scan& scan_;
  const Home& from_;
  Home& to_;
  std::vector<Digit> digits_;
  std::vector<Level> levels_;  // by weight
  std::vector<Point> lines_;   // that are scanned together
  ValueId identity_, memory_;
};

}  // namespace tilec::lower
