#include "target/cuda/machine.h"

#include "base/check.h"
#include "target/atoms/group.h"
#include "target/atoms/outer.h"
#include "target/atoms/warp.h"

namespace tilec::target::cuda {

namespace {

using atoms::kEightBytes, atoms::kFourBytes, atoms::kOneByte, atoms::kTwoBytes, atoms::warp_atom;

// --- products of one warp: the text is the instruction's own, which says how it is spelled --------------------------
constexpr std::array kWarpAtoms = {
    warp_atom("mma.m16n8k16.f16", kTwoBytes, Scalar::F16, Scalar::F32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    warp_atom("mma.m16n8k16.bf16", kTwoBytes, Scalar::BF16, Scalar::F32, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
    warp_atom("mma.m16n8k8.tf32", kFourBytes, Scalar::TF32, Scalar::F32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    warp_atom("mma.m16n8k32.i8", kOneByte, Scalar::I8, Scalar::I32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
    warp_atom("mma.m16n8k32.u8", kOneByte, Scalar::U8, Scalar::I32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32"),
    warp_atom("mma.m8n8k4.f64", kEightBytes, Scalar::F64, Scalar::F64, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
};
constexpr std::array kByteFloatAtoms = {
    warp_atom("mma.m16n8k32.f8e4m3", kOneByte, Scalar::F8E4M3, Scalar::F32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    warp_atom("mma.m16n8k32.f8e5m2", kOneByte, Scalar::F8E5M2, Scalar::F32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"),
};

// What a sum of products of 8-bit floats keeps beside its greatest term: found by asking a device (tools/gpu/atoms.py).
constexpr int kByteFloatSums = 13;

// --- products of four warps, from shared memory; of integers in fewer widths ----------------------------------------
constexpr int kIntegerStep = 16;
constexpr atoms::GroupElement kGroupElements[] = {
    {"f16", Scalar::F16, Scalar::F32, 16, atoms::kGroupTwoBytes, false, "f32.f16.f16"},
    {"bf16", Scalar::BF16, Scalar::F32, 16, atoms::kGroupTwoBytes, false, "f32.bf16.bf16"},
    {"f8e4m3", Scalar::F8E4M3, Scalar::F32, 32, atoms::kGroupOneByte, true, "f32.e4m3.e4m3", kByteFloatSums},
    {"f8e5m2", Scalar::F8E5M2, Scalar::F32, 32, atoms::kGroupOneByte, true, "f32.e5m2.e5m2", kByteFloatSums},
    {"tf32", Scalar::TF32, Scalar::F32, 8, atoms::kGroupFourBytes, true, "f32.tf32.tf32"},
    {"i8", Scalar::I8, Scalar::I32, 32, atoms::kGroupOneByte, true, "s32.s8.s8", 0, kIntegerStep},
    {"u8", Scalar::U8, Scalar::I32, 32, atoms::kGroupOneByte, true, "s32.u8.u8", 0, kIntegerStep},
};

// --- what has no instruction: f32, which is never rounded to fewer bits, and wide integers --------------------------
constexpr atoms::OuterBlock kBlock = {4, 32, 4, "reg(m0 m1) lane(_ _ _ _ _)", "lane(n0 n1 n2 n3 n4)", "reg(m0 m1) lane(n0 n1 n2 n3 n4)"};
constexpr atoms::OuterBlock kWideBlock = {4, 32, 16, kBlock.a_layout, kBlock.b_layout, kBlock.c_layout};  // of f64 and i64, a quarter as fast
constexpr atoms::OuterAtoms kOuterAtoms = atoms::outer_products(kBlock, kWideBlock);

constexpr auto kAtoms80 = atoms::joined(kWarpAtoms, kOuterAtoms);
constexpr auto kAtoms89 = atoms::joined(kWarpAtoms, kByteFloatAtoms, kOuterAtoms);
constexpr auto kAtoms90 = atoms::joined(atoms::group_atoms<kGroupElements>(), atoms::swapped_group_atoms<kGroupElements>(), kWarpAtoms,
                                        kByteFloatAtoms, kOuterAtoms);

constexpr uint64_t kThreads = cap_set({Cap::FusedMultiplyAdd, Cap::DivergentBranches, Cap::Shuffles, Cap::VotingBarriers, Cap::HalfConvert, Cap::AsyncCopy,
                                       Cap::PhaseBarriers, Cap::MatrixLoads, Cap::MatrixTurns, Cap::StreamHints,
                                       Cap::NativeExp2, Cap::BrainRound, Cap::HalfFused});

constexpr uint64_t kEngines = cap_set({Cap::AsyncMatrix, Cap::BulkCopy, Cap::NamedBarriers, Cap::RegisterBudgets, Cap::MatrixStores,
                                        Cap::DependentLaunch, Cap::PersistentBlocks});
constexpr BoxLimits kBoxes = {.unit = 16, .rank = 5, .extent = 256};
constexpr AddLimits kAdds = {.bytes = 16, .narrow = true};
constexpr int64_t kBlockRegisters = 65536;
constexpr int64_t kClusterBlocks = 8;  // that every device of the generation has room for
constexpr int64_t kLaneBytes = 512 << 10;
constexpr int64_t kFewArguments = 4352, kManyArguments = 32764;  // bytes; the latter from version 8.1 of the language on

// Of an H100: 989 TFLOP/s of f16 are 2048 multiplications a clock of a core; 5.5 to 7 TB/s come from its second level of caches.
struct Rates {
  int cores = 0, cores_in_fours = 0;
  int64_t products = 0, far_bytes = 0;
  Pace pace = {};
};
// Found by timing (docs/performance.md): the launch and the latency are those of kernels with few blocks.
constexpr Rates kRates90 = {.cores = 132, .cores_in_fours = 120, .products = 4096, .far_bytes = 32,
                            .pace = {.gigahertz = 1.7, .launch = 1200, .latency = 1000, .memory_bytes = 13, .cache_bytes = 64, .straddled = 0.0022,
                                     .first_read = 0.0165, .shared_bytes = 128, .roles = 1200, .turn = 330, .sums = 4000, .sum_bytes = 14, .store_bytes = 32, .lanes = 164,
                                     .schedulers = 4, .waiting = 1.71, .warps = 64}};

constexpr Machine machine(std::string_view name, int64_t shared_bytes, uint64_t caps, std::span<const MatrixAtom> atoms,
                          int64_t argument_bytes, AddLimits adds = {}, int64_t cluster_blocks = 1, Rates rates = {}) {
  return {.name = name, .target = "cuda", .lanes = 32, .max_warps = 16, .default_warps = 4, .role_warps = 4, .registers_per_lane = 255,
          .shared_bytes = shared_bytes, .banks = 32, .vector_bytes = 16, .simd_bytes = 0, .caps = caps, .matrix_atoms = atoms,
          .boxes = kBoxes, .adds = adds, .cluster_blocks = cluster_blocks, .block_registers = kBlockRegisters,
          .argument_bytes = argument_bytes, .lane_bytes = kLaneBytes, .cores = rates.cores, .cores_in_fours = rates.cores_in_fours, .product_rate = rates.products,
          .far_bytes = rates.far_bytes, .pace = rates.pace};
}
constexpr Machine kMachines[] = {
    machine("sm_80", 163 << 10, kThreads, kAtoms80, kFewArguments),
    machine("sm_89", 99 << 10, kThreads, kAtoms89, kManyArguments),
    machine("sm_90a", 227 << 10, kThreads | kEngines, kAtoms90, kManyArguments, kAdds, kClusterBlocks, kRates90),
};

// The version of the language in which the generation's instructions can be said.
constexpr DeviceCode kCodes[] = {
    {.machine = &kMachines[0], .cpu = "sm_80", .features = "+ptx78"},
    {.machine = &kMachines[1], .cpu = "sm_89", .features = "+ptx84"},
    {.machine = &kMachines[2], .cpu = "sm_90a", .features = "+ptx84"},
};

}  // namespace

std::span<const Machine> machines() { return kMachines; }

int generation_of(const Machine& machine) { return std::stoi(std::string(machine.name.substr(machine.name.find('_') + 1))); }

const DeviceCode& code_for(const Machine& machine) {
  for (const DeviceCode& code : kCodes)
    if (code.machine->name == machine.name) return code;
  UNREACHABLE("an instance of device code is for a machine of the table");
}

}  // namespace tilec::target::cuda
