// Blocks of a launch that run at once and reach each other's shared memory.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

namespace {

using Indices = llvm::SmallVector<Value*, 3>;

// In panels of so many indices of the first axis, one panel after the other; 0: all are one. In a panel the first axis steps first.
Indices decompose_panels(llvm::IRBuilder<>& b, Value* linear, llvm::ArrayRef<Value*> extents, int64_t columns) {
  if (columns == 0 || extents.size() < 2) return decompose(b, linear, extents);
  Value *width = extents[0], *height = extents[1], *area = b.CreateMul(width, height);
  Indices indices{nullptr, nullptr};
  if (extents.size() > 2) indices.push_back(b.CreateUDiv(linear, area));
  Value* inside = extents.size() > 2 ? b.CreateURem(linear, area) : linear;
  auto least = [&](Value* x, Value* y) { return b.CreateSelect(b.CreateICmpULT(x, y), x, y); };
  Value* panel = least(width, b.getInt32(uint32_t(columns)));
  Value *blocks = b.CreateMul(panel, height), *number = b.CreateUDiv(inside, blocks), *at = b.CreateURem(inside, blocks);
  Value *first = b.CreateMul(number, panel), *wide = least(b.CreateSub(width, first), panel);
  indices[0] = b.CreateAdd(first, b.CreateURem(at, wide));
  indices[1] = b.CreateUDiv(at, wide);
  return indices;
}

}  // namespace

// Of a linear number, which 31 bits hold. Where clusters cut the grid, blocks of one are neighbours.
llvm::SmallVector<Value*, 3> ThreadSpeller::block_indices(const ir::op::Launch& launch) {
  return block_indices(launch, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}));
}

llvm::SmallVector<Value*, 3> ThreadSpeller::block_indices(const ir::op::Launch& launch, Value* number) {
  llvm::SmallVector<Value*, 3> extents, clusters, shape;
  Value* is_cut = b_.getTrue();
  int64_t blocks = 1;
  for (ir::ValueId v : launch.extents) extents.push_back(b_.CreateTrunc(uniform(v), b_.getInt32Ty()));
  for (size_t i = 0; i < launch.cluster.size(); ++i) {
    shape.push_back(b_.getInt32(uint32_t(launch.cluster[i])));
    clusters.push_back(b_.CreateUDiv(extents[i], shape[i]));
    is_cut = b_.CreateAnd(is_cut, b_.CreateICmpEQ(b_.CreateMul(clusters[i], shape[i]), extents[i]));
    blocks *= launch.cluster[i];
  }
  auto turn_back = [&](Indices& turned, llvm::ArrayRef<Value*> sizes) {
    size_t axis = size_t(launch.backwards - 1);
    if (launch.backwards > 0) turned[axis] = b_.CreateSub(b_.CreateSub(sizes[axis], b_.getInt32(1)), turned[axis]);
  };
  Indices indices = decompose_panels(b_, number, extents, launch.raster);
  turn_back(indices, extents);
  if (blocks > 1) {
    Value* size = b_.getInt32(uint32_t(blocks));
    int64_t cells = launch.raster ? std::max<int64_t>(1, launch.raster / launch.cluster[0]) : 0;
    Indices outer = decompose_panels(b_, b_.CreateUDiv(number, size), clusters, cells), inner = decompose(b_, b_.CreateURem(number, size), shape);
    turn_back(outer, clusters);
    for (size_t i = 0; i < indices.size(); ++i)
      indices[i] = b_.CreateSelect(is_cut, b_.CreateAdd(b_.CreateMul(outer[i], shape[i]), inner[i]), indices[i]);
  }
  for (Value*& index : indices) index = b_.CreateZExt(index, b_.getInt64Ty());
  return indices;
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::GridBlocks&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {}));
}
void ThreadSpeller::one(const ir::Op& op, const ir::op::BlockNumber&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}));
}
void ThreadSpeller::one(const ir::Op& op, const ir::op::BlockIndex& x) {
  hold(op.result(), block_indices(*launch_, b_.CreateTrunc(uniform(x.number), b_.getInt32Ty()))[size_t(x.axis)]);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::ClusterBlocks&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, {}, {}));
}

// Arriving tells the other blocks of everything before it; waiting takes up what they told.
void ThreadSpeller::one(const ir::Op&, const ir::op::ClusterBarrier&) { tied("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", {}, {}); }

// At the barrier of another block. What the arrival stands for is that this warp has read, and it has: it orders nothing that is
// written, which a release for the whole cluster would wait for at every turn.
void ThreadSpeller::arrive_at(const ir::op::PhaseArrive& x) {
  Value* block = b_.CreateTrunc(operand(x.block, type(x.block).varying), b_.getInt32Ty());
  Values operands = {phase_pointer(x.barriers, x.index), block};
  Value* mask = masked_or_null(x.mask);
  if (mask) operands.push_back(mask);
  std::string where = mask ? "@$2 " : "";
  tied("{ .reg .b64 there; " + where + "mapa.shared::cluster.u64 there, $0, $1; " + where + "mbarrier.arrive.shared::cluster.b64 _, [there]; }", {}, operands);
}

// The address of the same place in another block, among all addresses.
Value* ThreadSpeller::peer_pointer(Value* pointer, ir::ValueId peer) {
  Value* anywhere = b_.CreateAddrSpaceCast(pointer, b_.getPtrTy());
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_mapa, {}, {anywhere, b_.CreateTrunc(operand(peer, false), b_.getInt32Ty())});
}

}  // namespace tilec::target
