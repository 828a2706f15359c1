#include "target/cpu/machine.h"

namespace tilec::target::cpu {

namespace {

// One shape of block for the accumulators that are 32 bits wide, one for those of 64, where a lane is two registers' worth.
// A is broadcast to the lanes, one row of B lies in them; C leaves registers for both: 8 of 16, 16 of 32.
struct Block {
  int m, n, cycles;
  std::string_view a_layout, b_layout, c_layout;
};
constexpr Block kNarrow4 = {4, 8, 4, "reg(m0 m1) lane(_ _)", "reg(n2) lane(n0 n1)", "reg(n2 m0 m1) lane(n0 n1)"};
constexpr Block kWide4 = {4, 4, 4, "reg(m0 m1) lane(_ _)", "lane(n0 n1)", "reg(m0 m1) lane(n0 n1)"};
constexpr Block kNarrow8 = {4, 16, 4, "reg(m0 m1) lane(_ _ _)", "reg(n3) lane(n0 n1 n2)", "reg(n3 m0 m1) lane(n0 n1 n2)"};
constexpr Block kWide8 = {4, 8, 4, "reg(m0 m1) lane(_ _ _)", "lane(n0 n1 n2)", "reg(m0 m1) lane(n0 n1 n2)"};
constexpr Block kNarrow16 = {8, 32, 8, "reg(m0 m1 m2) lane(_ _ _ _)", "reg(n4) lane(n0 n1 n2 n3)",
                             "reg(n4 m0 m1 m2) lane(n0 n1 n2 n3)"};
constexpr Block kWide16 = {8, 16, 8, "reg(m0 m1 m2) lane(_ _ _ _)", "lane(n0 n1 n2 n3)",
                           "reg(m0 m1 m2) lane(n0 n1 n2 n3)"};
// Advanced SIMD has 32 registers of four lanes.
constexpr Block kNarrowArm = {8, 8, 8, "reg(m0 m1 m2) lane(_ _)", "reg(n2) lane(n0 n1)", "reg(n2 m0 m1 m2) lane(n0 n1)"};
constexpr Block kWideArm = {8, 4, 8, "reg(m0 m1 m2) lane(_ _)", "lane(n0 n1)", "reg(m0 m1 m2) lane(n0 n1)"};

struct Elements {
  std::string_view name;
  Scalar input, accumulator;
};
constexpr Elements kElements[] = {
    {"outer.f32", Scalar::F32, Scalar::F32},       {"outer.f16", Scalar::F16, Scalar::F32},
    {"outer.bf16", Scalar::BF16, Scalar::F32},     {"outer.f8e4m3", Scalar::F8E4M3, Scalar::F32},
    {"outer.f8e5m2", Scalar::F8E5M2, Scalar::F32}, {"outer.f64", Scalar::F64, Scalar::F64},
    {"outer.i8", Scalar::I8, Scalar::I32},         {"outer.u8", Scalar::U8, Scalar::I32},
    {"outer.i16", Scalar::I16, Scalar::I32},       {"outer.u16", Scalar::U16, Scalar::I32},
    {"outer.i32", Scalar::I32, Scalar::I64},       {"outer.u32", Scalar::U32, Scalar::I64},
    {"outer.i64", Scalar::I64, Scalar::I64},
};
using Atoms = std::array<MatrixAtom, std::size(kElements)>;

constexpr int kMultiplyAddLatency = 4;

constexpr Atoms outer_products(const Block& narrow, const Block& wide) {
  Atoms atoms{};
  for (size_t i = 0; i < atoms.size(); ++i) {
    const Elements& e = kElements[i];
    const Block& block = e.accumulator == Scalar::F64 || e.accumulator == Scalar::I64 ? wide : narrow;
    atoms[i] = {.name = e.name, .kind = AtomKind::OuterProduct, .m = block.m, .n = block.n, .k = 1,
                .a = e.input, .b = e.input, .c = e.accumulator, .a_layout = block.a_layout,
                .b_layout = block.b_layout, .c_layout = block.c_layout,
                .cycles = {.issue = block.cycles, .latency = block.cycles + kMultiplyAddLatency}};
  }
  return atoms;
}

constexpr Atoms kAtoms4 = outer_products(kNarrow4, kWide4), kAtoms8 = outer_products(kNarrow8, kWide8),
                kAtoms16 = outer_products(kNarrow16, kWide16), kAtomsArm = outer_products(kNarrowArm, kWideArm);

constexpr uint64_t kBasic = cap_set({Cap::Shuffles}), kFused = cap_set({Cap::Shuffles, Cap::FusedMultiplyAdd, Cap::HalfConvert});
// Half of a usual second-level cache.
constexpr int64_t kSharedBytes = 512 << 10;

// A warp is one vector register of 32-bit elements, a block one warp. A lane moves one element at a time: it is the lanes
// side by side that make an access wide.
constexpr Machine cpu_machine(std::string_view target, std::string_view name, int lanes, int registers, uint64_t caps, const Atoms& atoms) {
  return {.name = name, .target = target, .lanes = lanes, .max_warps = 1, .default_warps = 1, .role_warps = 1,
          .registers_per_lane = registers, .shared_bytes = kSharedBytes, .banks = 0, .vector_bytes = 1,
          .simd_bytes = lanes * 4, .caps = caps, .matrix_atoms = atoms};
}

constexpr Machine kX86[] = {
    cpu_machine("x86-64", "x86-64", 4, 16, kBasic, kAtoms4),
    cpu_machine("x86-64", "x86-64-v3", 8, 16, kFused, kAtoms8),
    cpu_machine("x86-64", "x86-64-v4", 16, 32, kFused, kAtoms16),
};
constexpr Machine kArm[] = {cpu_machine("aarch64", "aarch64", 4, 32, kFused, kAtomsArm)};

constexpr CpuCode kX86Codes[] = {
    {.machine = &kX86[0], .cpu = "x86-64-v2", .features = "", .level = 2, .has_half_conversion = false, .has_streaming_stores = true},
    {.machine = &kX86[1], .cpu = "x86-64-v3", .features = "", .level = 3, .has_half_conversion = true, .has_streaming_stores = true},
    {.machine = &kX86[2], .cpu = "x86-64-v4", .features = "-prefer-256-bit", .level = 4, .has_half_conversion = true, .has_streaming_stores = true},
};
constexpr CpuCode kArmCodes[] = {
    {.machine = &kArm[0], .cpu = "generic", .features = "+neon", .level = 1, .has_half_conversion = true, .has_streaming_stores = false}};

}  // namespace

std::span<const Machine> x86_64_machines() { return kX86; }
std::span<const Machine> aarch64_machines() { return kArm; }
std::span<const CpuCode> x86_64_codes() { return kX86Codes; }
std::span<const CpuCode> aarch64_codes() { return kArmCodes; }

}  // namespace tilec::target::cpu
