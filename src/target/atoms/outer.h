// Products that are no instruction: a block of multiply-adds in the accumulator's registers, A broadcast, B in the lanes.
#pragma once
#include <array>

#include "machine/machine.h"

namespace tilec::target::atoms {

struct OuterBlock {
  int m, n, cycles;
  std::string_view a_layout, b_layout, c_layout;
};
struct OuterElements {
  std::string_view name;
  Scalar input, accumulator;
};
constexpr OuterElements kOuterElements[] = {
    {"outer.f32", Scalar::F32, Scalar::F32},       {"outer.f16", Scalar::F16, Scalar::F32},
    {"outer.bf16", Scalar::BF16, Scalar::F32},     {"outer.f8e4m3", Scalar::F8E4M3, Scalar::F32},
    {"outer.f8e5m2", Scalar::F8E5M2, Scalar::F32}, {"outer.f64", Scalar::F64, Scalar::F64},
    {"outer.i8", Scalar::I8, Scalar::I32},         {"outer.u8", Scalar::U8, Scalar::I32},
    {"outer.i16", Scalar::I16, Scalar::I32},       {"outer.u16", Scalar::U16, Scalar::I32},
    {"outer.i32", Scalar::I32, Scalar::I64},       {"outer.u32", Scalar::U32, Scalar::I64},
    {"outer.i64", Scalar::I64, Scalar::I64},       {"outer.u64", Scalar::U64, Scalar::I64},
};
using OuterAtoms = std::array<MatrixAtom, std::size(kOuterElements)>;

constexpr int kMultiplyAddLatency = 4;

// `narrow` for accumulators of 32 bits, `wide` for those of 64, where a lane is two registers' worth.
constexpr OuterAtoms outer_products(const OuterBlock& narrow, const OuterBlock& wide) {
  OuterAtoms atoms{};
  for (size_t i = 0; i < atoms.size(); ++i) {
    const OuterElements& e = kOuterElements[i];
    const OuterBlock& block = e.accumulator == Scalar::F64 || e.accumulator == Scalar::I64 ? wide : narrow;
    atoms[i] = {.name = e.name, .kind = AtomKind::OuterProduct, .m = block.m, .n = block.n, .k = 1,
                .a = e.input, .b = e.input, .c = e.accumulator, .a_layout = block.a_layout,
                .b_layout = block.b_layout, .c_layout = block.c_layout,
                .cycles = {.issue = block.cycles, .latency = block.cycles + kMultiplyAddLatency}};
  }
  return atoms;
}

}  // namespace tilec::target::atoms
