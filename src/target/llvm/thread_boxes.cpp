// Copies of boxes by an engine, which one lane of a warp starts: it finds the tensor by a descriptor, says at a barrier with phases
// how many bytes have come, and fills with zeros what lies outside.
#include <llvm/IR/InlineAsm.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

namespace {

// Beyond any extent that is described, and so far from the ends of 32 bits that a box does not reach them.
constexpr int64_t kFarthest = 1 << 30;

}  // namespace

void ThreadSpeller::open_boxes(std::vector<BoxAbi> boxes, Value* descriptors, uint64_t bytes) {
  boxes_ = std::move(boxes), descriptors_ = descriptors, descriptor_bytes_ = bytes;
}

// False where no copy of the launch is left that reads the tensor.
void ThreadSpeller::one(const ir::Op& op, const ir::op::HasBoxes& x) {
  Value* holds = nullptr;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    if (kernel_.params[size_t(boxes_[i].param)].value != x.buffer) continue;
    Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), descriptors_, boxes_.size() * descriptor_bytes_ + i);
    Value* one = b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), place), b_.getInt8(0));
    holds = holds ? b_.CreateAnd(holds, one) : one;
  }
  hold(op.result(), holds ? holds : b_.getFalse());
}

// Where the first element of the box goes: whole rows of whole panels lie below it.
Value* ThreadSpeller::corner(const ir::op::CopyBox& x) {
  const layout::EngineRows rows = rows_of(kernel_, x);
  size_t rank = x.dst_shape.size();
  int64_t stack = 1;
  Value* element = b_.getInt64(0);
  for (size_t axis = rank; axis-- > 0;) {
    Value* at = operand(x.dst_offsets[axis], false);
    if (axis + 1 == rank) at = b_.CreateMul(b_.CreateUDiv(at, b_.getInt64(uint64_t(rows.width))), b_.getInt64(uint64_t(rows.panel)));
    else at = b_.CreateMul(at, b_.getInt64(uint64_t(axis + 2 == rank ? rows.width : stack)));
    element = b_.CreateAdd(element, at);
    stack *= x.dst_shape[axis];
  }
  return b_.CreateGEP(memory_type(type(x.dst).element), places_.at(x.dst.index).pointer, element);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::CopyBox& x) {
  auto number = size_t(std::ranges::find(boxes_, box_of(kernel_, x)) - boxes_.begin());
  INVARIANT(number < boxes_.size(), "a copied box is one of its launch's");
  Values operands = {corner(x), b_.CreateConstGEP1_64(b_.getInt8Ty(), descriptors_, number * descriptor_bytes_), phase_pointer(x.barriers, x.slot)};
  std::string from;
  for (size_t d = x.src_offsets.size(); d-- > 0;) {  // the engine counts from the last dimension
    Value* at = operand(x.src_offsets[d], false);
    at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b_.getInt64(uint64_t(-kFarthest)));
    at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, b_.getInt64(kFarthest));
    from += (from.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(b_.CreateTrunc(at, b_.getInt32Ty()));
  }
  tied("{ .reg .pred p; elect.sync _|p, 0xffffffff; @p cp.async.bulk.tensor." + std::to_string(x.src_offsets.size()) +
           "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {" + from + "}], [$2]; }",
       {}, operands);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseExpect& x) {
  auto expect = [&] {
    Value* bytes = b_.CreateTrunc(operand(x.bytes, false), b_.getInt32Ty());
    tied("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {}, {phase_pointer(x.barriers, x.index), bytes});
  };
  if (Value* mask = masked_or_null(x.mask)) unless_clear(mask, false, expect);
  else expect();
}

void ThreadSpeller::one(const ir::Op&, const ir::op::RegisterBudget& x) {
  constexpr int64_t kRegisterStep = 8;  // in which registers are given out
  int64_t begins = machine_.block_registers / threads_ / kRegisterStep * kRegisterStep;
  if (x.registers == begins) return;
  tied(std::string("setmaxnreg.") + (x.registers > begins ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(x.registers) + ";", {}, {});
}

}  // namespace tilec::target
