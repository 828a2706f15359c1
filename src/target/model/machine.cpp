#include "target/model/machine.h"

#include <array>
#include <bit>

namespace tilec::target::model {

namespace {

// --- products of one warp, operands in registers -----------------------------------------------------------------
struct WarpShape {
  int m, n, k;
  std::string_view a, b, c;
};
constexpr std::string_view kNarrowC = "reg(n0 m3) lane(n1 n2 m0 m1 m2)";
constexpr WarpShape kTwoBytes = {16, 8, 16, "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "reg(k0 k3) lane(k1 k2 n0 n1 n2)", kNarrowC};
constexpr WarpShape kOneByte = {16, 8, 32, "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2)", "reg(k0 k1 k4) lane(k2 k3 n0 n1 n2)", kNarrowC};
constexpr WarpShape kFourBytes = {16, 8, 8, "reg(m3 k2) lane(k0 k1 m0 m1 m2)", "reg(k2) lane(k0 k1 n0 n1 n2)", kNarrowC};
constexpr WarpShape kEightBytes = {8, 8, 4, "lane(k0 k1 m0 m1 m2)", "lane(k0 k1 n0 n1 n2)", "reg(n0) lane(n1 n2 m0 m1 m2)"};

constexpr MatrixAtom warp_atom(std::string_view name, const WarpShape& shape, Scalar input, Scalar accumulator) {
  return {.name = name, .kind = AtomKind::Warp, .m = shape.m, .n = shape.n, .k = shape.k, .a = input, .b = input,
          .c = accumulator, .a_layout = shape.a, .b_layout = shape.b, .c_layout = shape.c, .warps = 1,
          .cycles = {.issue = 16, .latency = 33}};
}

// Products of f32 and of wide integers are exact: this machine does not round what its judge does not round.
constexpr MatrixAtom kWarpAtoms[] = {
    warp_atom("mma.m16n8k16.f16", kTwoBytes, Scalar::F16, Scalar::F32),
    warp_atom("mma.m16n8k16.bf16", kTwoBytes, Scalar::BF16, Scalar::F32),
    warp_atom("mma.m16n8k32.f8e4m3", kOneByte, Scalar::F8E4M3, Scalar::F32),
    warp_atom("mma.m16n8k32.f8e5m2", kOneByte, Scalar::F8E5M2, Scalar::F32),
    warp_atom("mma.m16n8k32.i8", kOneByte, Scalar::I8, Scalar::I32),
    warp_atom("mma.m16n8k32.u8", kOneByte, Scalar::U8, Scalar::I32),
    warp_atom("mma.m16n8k16.i16", kTwoBytes, Scalar::I16, Scalar::I32),
    warp_atom("mma.m16n8k16.u16", kTwoBytes, Scalar::U16, Scalar::I32),
    warp_atom("mma.m16n8k8.f32", kFourBytes, Scalar::F32, Scalar::F32),
    warp_atom("mma.m8n8k4.f64", kEightBytes, Scalar::F64, Scalar::F64),
    warp_atom("mma.m8n8k4.i32", kEightBytes, Scalar::I32, Scalar::I64),
    warp_atom("mma.m8n8k4.u32", kEightBytes, Scalar::U32, Scalar::I64),
    warp_atom("mma.m8n8k4.i64", kEightBytes, Scalar::I64, Scalar::I64),
};

// --- products of four warps, asynchronous, B (and A, unless it is in registers) in shared memory -----------------
struct GroupElement {
  std::string_view name;
  Scalar input, accumulator;
  int k;
  std::string_view a;
};
constexpr GroupElement kGroupElements[] = {
    {"f16", Scalar::F16, Scalar::F32, 16, "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2) warp(m4 m5)"},
    {"bf16", Scalar::BF16, Scalar::F32, 16, "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2) warp(m4 m5)"},
    {"f8e4m3", Scalar::F8E4M3, Scalar::F32, 32, "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2) warp(m4 m5)"},
    {"f8e5m2", Scalar::F8E5M2, Scalar::F32, 32, "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2) warp(m4 m5)"},
    {"i8", Scalar::I8, Scalar::I32, 32, "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2) warp(m4 m5)"},
    {"f32", Scalar::F32, Scalar::F32, 8, "reg(m3 k2) lane(k0 k1 m0 m1 m2) warp(m4 m5)"},
};
constexpr int kWidest = 256, kStep = 8, kWidths = kWidest / kStep;

// A text made while compiling.
struct Text {
  std::array<char, 80> bytes{};
  size_t size = 0;
  constexpr Text& operator<<(std::string_view more) {
    for (char c : more) bytes[size++] = c;
    return *this;
  }
  constexpr Text& operator<<(int number) {
    if (number >= 10) *this << number / 10;
    bytes[size++] = char('0' + number % 10);
    return *this;
  }
  constexpr std::string_view view() const { return {bytes.data(), size}; }
};

// n = odd part x power of two: the power is bits, the odd part a grid.
constexpr Text accumulator_layout(int n) {
  Text text;
  int bits = std::countr_zero(unsigned(n)), odd = n >> bits;
  text << "reg(n0 m3";
  for (int bit = 3; bit < bits; ++bit) text << " n" << bit;
  text << ") lane(n1 n2 m0 m1 m2) warp(m4 m5)";
  if (odd > 1) text << " grid(n " << odd << ")";
  return text;
}

constexpr auto kAccumulators = [] {
  std::array<Text, kWidths> texts;
  for (int i = 0; i < kWidths; ++i) texts[i] = accumulator_layout(kWidest - i * kStep);
  return texts;
}();
constexpr auto kGroupNames = [] {
  std::array<Text, kWidths * std::size(kGroupElements)> texts;
  for (size_t e = 0; e < std::size(kGroupElements); ++e)
    for (int i = 0; i < kWidths; ++i)
      texts[e * kWidths + i] << "group.m64n" << kWidest - i * kStep << "k" << kGroupElements[e].k << "." << kGroupElements[e].name;
  return texts;
}();

// The widest first: of two that fit a tile, the wider reads less of A.
constexpr auto kAtoms = [] {
  std::array<MatrixAtom, kGroupNames.size() + std::size(kWarpAtoms)> atoms;
  for (size_t e = 0; e < std::size(kGroupElements); ++e)
    for (int i = 0; i < kWidths; ++i) {
      const GroupElement& element = kGroupElements[e];
      int n = kWidest - i * kStep;
      atoms[e * kWidths + i] = {.name = kGroupNames[e * kWidths + i].view(), .kind = AtomKind::Group, .m = 64, .n = n,
                                .k = element.k, .a = element.input, .b = element.input, .c = element.accumulator,
                                .a_layout = element.a, .b_layout = "", .c_layout = kAccumulators[i].view(), .warps = 4,
                                .cycles = {.issue = n / 2, .latency = n / 2 + 30}};
    }
  for (size_t i = 0; i < std::size(kWarpAtoms); ++i) atoms[kGroupNames.size() + i] = kWarpAtoms[i];
  return atoms;
}();

constexpr uint64_t kThreads = cap_set({Cap::FusedMultiplyAdd, Cap::DivergentBranches, Cap::Shuffles, Cap::HalfArithmetic,
                                       Cap::NativeMath});
constexpr uint64_t kEngines = cap_set({Cap::AsyncCopy, Cap::BulkCopy, Cap::AsyncMatrix, Cap::PhaseBarriers});
constexpr uint64_t kRoles = cap_set({Cap::NamedBarriers, Cap::RegisterBudgets});
constexpr int64_t kSharedBytes = 227 << 10;

constexpr Machine machine(std::string_view name, uint64_t caps, std::span<const MatrixAtom> atoms) {
  return {.name = name, .target = "model", .lanes = 32, .max_warps = 16, .default_warps = 4, .role_warps = 4, .registers_per_lane = 255,
          .shared_bytes = kSharedBytes, .banks = 32, .vector_bytes = 16, .simd_bytes = 0, .caps = caps, .matrix_atoms = atoms};
}
constexpr Machine kMachines[] = {machine("model", kThreads | kEngines | kRoles, kAtoms), machine("model-no-roles", kThreads | kEngines, kAtoms),
                                   machine("model-sync", kThreads, kWarpAtoms)};

}  // namespace

std::span<const Machine> machines() { return kMachines; }
const Machine& asynchronous() { return kMachines[0]; }
const Machine& without_roles() { return kMachines[1]; }
const Machine& synchronous() { return kMachines[2]; }

}  // namespace tilec::target::model
