#include "target/cpu/machine.h"

#include "target/atoms/outer.h"

namespace tilec::target::cpu {

namespace {

using atoms::OuterAtoms, atoms::OuterBlock, atoms::outer_products;

// One shape of block for the accumulators that are 32 bits wide, one for those of 64, where a lane is two registers' worth.
// A is broadcast to the lanes, one row of B lies in them; C leaves registers for both: 8 of 16, 16 of 32.
constexpr OuterBlock kNarrow4 = {4, 8, 4, "reg(m0 m1) lane(_ _)", "reg(n2) lane(n0 n1)", "reg(n2 m0 m1) lane(n0 n1)"};
constexpr OuterBlock kWide4 = {4, 4, 4, "reg(m0 m1) lane(_ _)", "lane(n0 n1)", "reg(m0 m1) lane(n0 n1)"};
constexpr OuterBlock kNarrow8 = {4, 16, 4, "reg(m0 m1) lane(_ _ _)", "reg(n3) lane(n0 n1 n2)", "reg(n3 m0 m1) lane(n0 n1 n2)"};
constexpr OuterBlock kWide8 = {4, 8, 4, "reg(m0 m1) lane(_ _ _)", "lane(n0 n1 n2)", "reg(m0 m1) lane(n0 n1 n2)"};
constexpr OuterBlock kNarrow16 = {8, 32, 8, "reg(m0 m1 m2) lane(_ _ _ _)", "reg(n4) lane(n0 n1 n2 n3)",
                                  "reg(n4 m0 m1 m2) lane(n0 n1 n2 n3)"};
constexpr OuterBlock kWide16 = {8, 16, 8, "reg(m0 m1 m2) lane(_ _ _ _)", "lane(n0 n1 n2 n3)",
                                 "reg(m0 m1 m2) lane(n0 n1 n2 n3)"};
// Advanced SIMD has 32 registers of four lanes.
constexpr OuterBlock kNarrowArm = {8, 8, 8, "reg(m0 m1 m2) lane(_ _)", "reg(n2) lane(n0 n1)", "reg(n2 m0 m1 m2) lane(n0 n1)"};
constexpr OuterBlock kWideArm = {8, 4, 8, "reg(m0 m1 m2) lane(_ _)", "lane(n0 n1)", "reg(m0 m1 m2) lane(n0 n1)"};

constexpr OuterAtoms kAtoms4 = outer_products(kNarrow4, kWide4), kAtoms8 = outer_products(kNarrow8, kWide8),
                     kAtoms16 = outer_products(kNarrow16, kWide16), kAtomsArm = outer_products(kNarrowArm, kWideArm);

constexpr uint64_t kBasic = cap_set({Cap::Shuffles, Cap::Prefetch}),
                   kFused = cap_set({Cap::Shuffles, Cap::Prefetch, Cap::FusedMultiplyAdd, Cap::HalfConvert});
// Half of a usual second-level cache.
constexpr int64_t kSharedBytes = 512 << 10;

// A warp is one vector register of 32-bit elements, a block one warp. A lane moves one element at a time: it is the lanes
// side by side that make an access wide.
constexpr Machine cpu_machine(std::string_view target, std::string_view name, int lanes, int registers, uint64_t caps, const OuterAtoms& atoms) {
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
