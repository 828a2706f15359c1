// Barriers with phases in shared memory, and copies by lanes that they follow.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

Value* ThreadSpeller::phase_pointer(ir::ValueId barriers, ir::ValueId index) {
  return b_.CreateGEP(b_.getInt64Ty(), places_.at(barriers.index).pointer, to_index(operand(index, false), type(index).element));
}

// One lane of the warp; its block meets behind it before anyone comes to the barrier.
void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseInit& x) {
  Value* is_first = b_.CreateICmpEQ(lane_number(), b_.getInt32(0));
  tied("@$2 mbarrier.init.shared.b64 [$0], $1;", {}, {phase_pointer(x.barriers, x.index), b_.getInt32(uint32_t(x.arrivals)), is_first});
  has_begun_phases_ = true;
}

// Behind all phases that were begun, and before the barrier that others meet behind.
void ThreadSpeller::tell_of_phases() {
  if (!has_begun_phases_) return;
  has_begun_phases_ = false;
  if (machine_.has(Cap::BulkCopy)) tied("fence.proxy.async.shared::cta;", {}, {});  // the engine counts there too
  if (has_cluster_) tied("fence.mbarrier_init.release.cluster;", {}, {});             // and other blocks arrive there
}

// Lanes that do not arrive skip one instruction: a branch around it would part the warp at every turn of a ring.
void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseArrive& x) {
  if (x.block.valid()) return arrive_at(x);
  Value *pointer = phase_pointer(x.barriers, x.index), *mask = masked_or_null(x.mask);
  arrived_ = pointer, crossed_ = nullptr;
  if (mask) tied("@$1 mbarrier.arrive.shared.b64 _, [$0];", {}, {pointer, mask});
  else b_.CreateIntrinsic(llvm::Intrinsic::nvvm_mbarrier_arrive_shared, {}, {pointer});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseWait& x) {
  Value* pointer = phase_pointer(x.barriers, x.index);
  Value* parity = b_.CreateZExtOrTrunc(operand(x.parity, false), b_.getInt32Ty());
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer->getType(), b_.getInt32Ty()}, false);
  const char* how = machine_.has(Cap::BulkCopy) ? "try_wait" : "test_wait";  // the first sleeps for a while
  auto* test = llvm::InlineAsm::get(type, std::string("{ .reg .pred p; mbarrier.") + how + ".parity" + (x.of_cluster ? ".acquire.cluster" : "") + ".shared.b64 p, [$1], $2; selp.b32 $0, 1, 0, p; }",
                                    "=r,l,r,~{memory}", true);
  llvm::BasicBlock *again = new_block("wait"), *after = new_block("waited");
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  Value* is_over = b_.CreateCall(test, {pointer, parity});
  b_.CreateCondBr(b_.CreateICmpNE(is_over, b_.getInt32(0)), after, again);
  b_.SetInsertPoint(after);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseFollow& x) {
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc_shared, {}, {phase_pointer(x.barriers, x.index)});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::CopyLanes& x) {
  auto copy = [&] {
    Value *from = element_pointer(x.src, x.src_index), *to = element_pointer(x.dst, x.dst_index);
    int64_t bytes = x.count * byte_width(type(x.src).element);
    INVARIANT(bytes == 4 || bytes == 8 || bytes == 16, "lanes move 4, 8 or 16 bytes");
    // Whole lines pass the first cache by.
    auto id = bytes == 16 ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16
              : bytes == 8 ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8 : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4;
    b_.CreateIntrinsic(id, {}, {to, from});
  };
  if (Value* mask = masked_or_null(x.mask)) unless_clear(mask, false, copy);
  else copy();
}

}  // namespace tilec::target
