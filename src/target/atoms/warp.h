// Products of one warp of 32 lanes, operands in registers: 8 rows of 4 lanes hold the fragments, two elements of four bytes in all
// side by side.
#pragma once
#include "machine/machine.h"

namespace tilec::target::atoms {

struct WarpShape {
  int m, n, k;
  std::string_view a, b, c;
};
constexpr std::string_view kWarpAccumulator = "reg(n0 m3) lane(n1 n2 m0 m1 m2)";
constexpr WarpShape kTwoBytes = {16, 8, 16, "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "reg(k0 k3) lane(k1 k2 n0 n1 n2)", kWarpAccumulator};
constexpr WarpShape kOneByte = {16, 8, 32, "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2)", "reg(k0 k1 k4) lane(k2 k3 n0 n1 n2)", kWarpAccumulator};
constexpr WarpShape kFourBytes = {16, 8, 8, "reg(m3 k2) lane(k0 k1 m0 m1 m2)", "reg(k2) lane(k0 k1 n0 n1 n2)", kWarpAccumulator};
constexpr WarpShape kEightBytes = {8, 8, 4, "lane(k0 k1 m0 m1 m2)", "lane(k0 k1 n0 n1 n2)", "reg(n0) lane(n1 n2 m0 m1 m2)"};

constexpr MatrixAtom warp_atom(std::string_view name, const WarpShape& shape, Scalar input, Scalar accumulator, std::string_view text = {}) {
  return {.name = name, .kind = AtomKind::Warp, .m = shape.m, .n = shape.n, .k = shape.k, .a = input, .b = input,
          .c = accumulator, .a_layout = shape.a, .b_layout = shape.b, .c_layout = shape.c, .warps = 1,
          .cycles = {.issue = 16, .latency = 33}, .text = text};
}

}  // namespace tilec::target::atoms
