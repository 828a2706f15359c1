// Blocks of a launch that run at once and reach each other's shared memory.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

namespace {

using Indices = llvm::SmallVector<Value*, 3>;

// In panels of so many indices of the first axis, one panel after the other; null: all are one. In a panel the first axis steps first, and
// every other panel goes back along the second one, as what the last rows of the one before have read is still in the caches.
Indices decompose_panels(llvm::IRBuilder<>& b, Value* linear, llvm::ArrayRef<Value*> extents, Value* columns) {
  if (!columns || extents.size() < 2) return decompose(b, linear, extents);
  Value *width = extents[0], *height = extents[1], *area = b.CreateMul(width, height);
  Indices indices{nullptr, nullptr};
  if (extents.size() > 2) indices.push_back(b.CreateUDiv(linear, area));
  Value* inside = extents.size() > 2 ? b.CreateURem(linear, area) : linear;
  auto least = [&](Value* x, Value* y) { return b.CreateSelect(b.CreateICmpULT(x, y), x, y); };
  Value* panel = least(width, columns);
  Value *blocks = b.CreateMul(panel, height), *number = b.CreateUDiv(inside, blocks), *at = b.CreateURem(inside, blocks);
  Value *first = b.CreateMul(number, panel), *wide = least(b.CreateSub(width, first), panel);
  indices[0] = b.CreateAdd(first, b.CreateURem(at, wide));
  Value *down = b.CreateUDiv(at, wide), *up = b.CreateSub(b.CreateSub(height, b.getInt32(1)), down);
  indices[1] = b.CreateSelect(b.CreateTrunc(number, b.getInt1Ty()), up, down);
  return indices;
}

}  // namespace

// Of a linear number, which 31 bits hold. Where clusters cut the grid, blocks of one are neighbours.
llvm::SmallVector<Value*, 3> ThreadSpeller::block_indices(const ir::op::Launch& launch) {
  return block_indices(launch, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}));
}

llvm::SmallVector<Value*, 3> ThreadSpeller::block_indices(const ir::op::Launch& launch, Value* number) {
  Indices extents, shape, inner;
  Value* is_cut = b_.getTrue();
  int64_t blocks = 1;
  for (ir::ValueId v : launch.extents) extents.push_back(b_.CreateTrunc(uniform(v), b_.getInt32Ty()));
  for (size_t i = 0; i < launch.cluster.size(); ++i) {
    shape.push_back(b_.getInt32(uint32_t(launch.cluster[i])));
    is_cut = b_.CreateAnd(is_cut, b_.CreateICmpEQ(b_.CreateURem(extents[i], shape[i]), b_.getInt32(0)));
    blocks *= launch.cluster[i];
  }
  Value* columns = launch.raster ? b_.getInt32(uint32_t(launch.raster)) : nullptr;
  // Either clusters are counted, or blocks: one way to divide serves both.
  bool has_clusters = blocks > 1;
  if (has_clusters) {
    auto pick = [&](Value* of_clusters, Value* of_blocks) { return b_.CreateSelect(is_cut, of_clusters, of_blocks); };
    Value* size = b_.getInt32(uint32_t(blocks));
    inner = decompose(b_, b_.CreateURem(number, size), shape);
    number = pick(b_.CreateUDiv(number, size), number);
    if (columns) columns = pick(b_.getInt32(uint32_t(std::max<int64_t>(1, launch.raster / launch.cluster[0]))), columns);
    for (size_t i = 0; i < shape.size(); ++i) {
      extents[i] = pick(b_.CreateUDiv(extents[i], shape[i]), extents[i]);
      shape[i] = pick(shape[i], b_.getInt32(1)), inner[i] = pick(inner[i], b_.getInt32(0));
    }
  }
  Indices indices = decompose_panels(b_, number, extents, columns);
  if (launch.backwards > 0) {
    Value*& turned = indices[size_t(launch.backwards - 1)];
    turned = b_.CreateSub(b_.CreateSub(extents[size_t(launch.backwards - 1)], b_.getInt32(1)), turned);
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (has_clusters) indices[i] = b_.CreateAdd(b_.CreateMul(indices[i], shape[i]), inner[i]);
    indices[i] = b_.CreateZExt(indices[i], b_.getInt64Ty());
  }
  return indices;
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::GridBlocks&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {}));
}
void ThreadSpeller::one(const ir::Op& op, const ir::op::BlockNumber&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}));
}
// One lane takes it for its warp. Without a counter all blocks run at once, and there is no next one.
void ThreadSpeller::one(const ir::Op& op, const ir::op::TakeBlock&) {
  Value* is_asked = b_.CreateAnd(b_.CreateICmpEQ(lane_number(), b_.getInt32(0)), b_.CreateIsNotNull(counter_));
  Value* taken = tied("mov.b32 $0, 0; @$2 atom.relaxed.gpu.global.add.u32 $0, [$1], 1;", b_.getInt32(0), {counter_, is_asked}, true)[0];
  Value* blocks = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {});
  hold_number(op, b_.CreateAdd(exchange(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, taken, b_.getInt32(0), kLastLane), blocks));
}
// All lanes have it of one, so that the assembler knows that they go on together.
void ThreadSpeller::one(const ir::Op& op, const ir::op::ReadBlock& x) {
  Value* number = b_.CreateTrunc(load(x.numbers, element_pointer(x.numbers, x.slot), 1)[0], b_.getInt32Ty());
  hold_number(op, exchange(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, number, b_.getInt32(0), kLastLane));
}

namespace {

// Does nothing that keeps its place (a wait, a product) stand between the number, or where its block begins, and the block's end so far?
bool begins_round(const Value* number, const llvm::BasicBlock& block) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(number);
  auto from = made && made->getParent() == &block ? made->getIterator() : block.begin();
  return std::none_of(from, block.end(), [](const llvm::Instruction& i) { return llvm::isa<llvm::CallInst>(i) && llvm::cast<llvm::CallInst>(i).isInlineAsm(); });
}

}  // namespace

void ThreadSpeller::one(const ir::Op& op, const ir::op::BlockIndex& x) {
  // Divisions are asked for where the program wants them, under a product say: nobody moves them to where both ways of a branch begin.
  // Where a round begins there is nothing to move, and a tie would cost registers.
  Value*& number = asked_[{x.number.index, b_.GetInsertBlock()}];
  if (!number) {
    const bool begins = begins_round(uniform(x.number), *b_.GetInsertBlock());
    number = b_.CreateTrunc(uniform(x.number), b_.getInt32Ty());
    if (!begins) number = tied("", number, {})[0];
  }
  hold(op.result(), block_indices(*launch_, number)[size_t(x.axis)]);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::ClusterBlocks&) {
  hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, {}, {}));
}

// Arriving tells the other blocks of everything before it; waiting takes up what they told.
// A release waits until all that the block has stored is seen by the device; that phases were begun has been told by a fence.
void ThreadSpeller::one(const ir::Op&, const ir::op::ClusterBarrier& x) {
  tied(std::string("barrier.cluster.arrive.") + (x.only_phases ? "relaxed" : "release") + ".aligned; barrier.cluster.wait.acquire.aligned;", {}, {});
}

// At the barrier of another block. What the arrival stands for is that this warp has read, and it has: it orders nothing that is
// written, which a release for the whole cluster would wait for at every turn; one that tells of what is written says so.
// Where the other block's barriers are is the same at every turn; lanes that do not arrive ask for those of the first one, which there always is.
void ThreadSpeller::arrive_at(const ir::op::PhaseArrive& x) {
  Value* block = b_.CreateTrunc(operand(x.block, type(x.block).varying), b_.getInt32Ty());
  Value* mask = masked_or_null(x.mask);
  if (mask) block = b_.CreateSelect(mask, block, b_.getInt32(0));
  Value* there = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_mapa_shared_cluster, {}, {places_.at(x.barriers.index).pointer, block});
  Values operands = {b_.CreateGEP(b_.getInt64Ty(), there, to_index(operand(x.index, false), type(x.index).element))};
  if (mask) operands.push_back(mask);
  std::string where = mask ? "@$1 " : "";
  std::string tells = x.of_cluster ? "release.cluster." : "";
  tied(where + "mbarrier.arrive." + tells + "shared::cluster.b64 _, [$0];", {}, operands);
}

// The address of the same place in another block, among all addresses.
Value* ThreadSpeller::peer_pointer(Value* pointer, ir::ValueId peer) {
  Value* anywhere = b_.CreateAddrSpaceCast(pointer, b_.getPtrTy());
  return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_mapa, {}, {anywhere, b_.CreateTrunc(operand(peer, false), b_.getInt32Ty())});
}

}  // namespace tilec::target
