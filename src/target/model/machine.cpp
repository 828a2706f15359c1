#include "target/model/machine.h"

#include "target/atoms/group.h"
#include "target/atoms/warp.h"

namespace tilec::target::model {

namespace {

using atoms::kEightBytes, atoms::kFourBytes, atoms::kOneByte, atoms::kTwoBytes, atoms::warp_atom;

// Products of f32 and of wide integers are exact: this machine does not round what its judge does not round.
constexpr std::array kWarpAtoms = {
    warp_atom("mma.m16n8k16.f16", kTwoBytes, Scalar::F16, Scalar::F32),
    warp_atom("mma.m16n8k16.bf16", kTwoBytes, Scalar::BF16, Scalar::F32),
    warp_atom("mma.m16n8k32.f8e4m3", kOneByte, Scalar::F8E4M3, Scalar::F32),
    warp_atom("mma.m16n8k32.f8e5m2", kOneByte, Scalar::F8E5M2, Scalar::F32),
    warp_atom("mma.m16n8k32.i8", kOneByte, Scalar::I8, Scalar::I32),
    warp_atom("mma.m16n8k32.u8", kOneByte, Scalar::U8, Scalar::I32),
    warp_atom("mma.m16n8k16.i16", kTwoBytes, Scalar::I16, Scalar::I32),
    warp_atom("mma.m16n8k16.u16", kTwoBytes, Scalar::U16, Scalar::I32),
    warp_atom("mma.m16n8k8.f32", kFourBytes, Scalar::F32, Scalar::F32),
    warp_atom("mma.m16n8k8.tf32", kFourBytes, Scalar::TF32, Scalar::F32),
    warp_atom("mma.m8n8k4.f64", kEightBytes, Scalar::F64, Scalar::F64),
    warp_atom("mma.m8n8k4.i32", kEightBytes, Scalar::I32, Scalar::I64),
    warp_atom("mma.m8n8k4.u32", kEightBytes, Scalar::U32, Scalar::I64),
    warp_atom("mma.m8n8k4.i64", kEightBytes, Scalar::I64, Scalar::I64),
    warp_atom("mma.m8n8k4.u64", kEightBytes, Scalar::U64, Scalar::I64),
};

constexpr atoms::GroupElement kGroupElements[] = {
    {"f16", Scalar::F16, Scalar::F32, 16, atoms::kGroupTwoBytes},       {"bf16", Scalar::BF16, Scalar::F32, 16, atoms::kGroupTwoBytes},
    {"f8e4m3", Scalar::F8E4M3, Scalar::F32, 32, atoms::kGroupOneByte},  {"f8e5m2", Scalar::F8E5M2, Scalar::F32, 32, atoms::kGroupOneByte},
    {"i8", Scalar::I8, Scalar::I32, 32, atoms::kGroupOneByte},          {"f32", Scalar::F32, Scalar::F32, 8, atoms::kGroupFourBytes},
    {"tf32", Scalar::TF32, Scalar::F32, 8, atoms::kGroupFourBytes, true},
};
constexpr auto kAtoms = atoms::joined(atoms::group_atoms<kGroupElements>(), atoms::swapped_group_atoms<kGroupElements>(), kWarpAtoms);

constexpr uint64_t kThreads = cap_set({Cap::FusedMultiplyAdd, Cap::DivergentBranches, Cap::Shuffles, Cap::VotingBarriers, Cap::HalfArithmetic,
                                       Cap::NativeMath});
constexpr uint64_t kEngines = cap_set({Cap::AsyncCopy, Cap::BulkCopy, Cap::AsyncMatrix, Cap::PhaseBarriers});
constexpr uint64_t kLanes = cap_set({Cap::AsyncCopy, Cap::AsyncMatrix, Cap::PhaseBarriers});
constexpr uint64_t kRoles = cap_set({Cap::NamedBarriers, Cap::RegisterBudgets, Cap::PersistentBlocks});
constexpr int64_t kSharedBytes = 227 << 10;

constexpr Machine machine(std::string_view name, uint64_t caps, std::span<const MatrixAtom> atoms) {
  return {.name = name, .target = "model", .lanes = 32, .max_warps = 16, .default_warps = 4, .role_warps = 4, .registers_per_lane = 255,
          .shared_bytes = kSharedBytes, .banks = 32, .vector_bytes = 16, .simd_bytes = 0, .caps = caps, .matrix_atoms = atoms};
}
constexpr Machine kMachines[] = {machine("model", kThreads | kEngines | kRoles, kAtoms), machine("model-no-roles", kThreads | kEngines, kAtoms),
                                 machine("model-sync", kThreads, kWarpAtoms), machine("model-lanes", kThreads | kLanes, kAtoms)};

}  // namespace

std::span<const Machine> machines() { return kMachines; }
const Machine& asynchronous() { return kMachines[0]; }
const Machine& without_roles() { return kMachines[1]; }
const Machine& synchronous() { return kMachines[2]; }
const Machine& with_lanes() { return kMachines[3]; }

}  // namespace tilec::target::model
