// Atomics: one for each lane that takes part, in the order of the lanes.
#include <llvm/IR/Constants.h>

#include "target/llvm/lane_speller.h"

namespace tilec::target {

using llvm::Value;

void LaneSpeller::one(const ir::Op& op, const ir::op::MemAtomic& x) {
  const ir::Type result = op.results.empty() ? ir::scalar_type(type(x.buffer).element) : type(op.result());
  Target target = resolve(x.buffer, x.index, ir::kUnknownStride);
  Value* mask = masked_or_null(x.mask);
  Values operands;
  bool varies = target.indices || target.stride || result.varying || (mask && mask->getType()->isVectorTy());
  for (ir::ValueId v : x.operands) {
    operands.push_back(to_memory(target.buffer.element, operand(v, false)));
    varies |= operands.back()->getType()->isVectorTy();
  }
  llvm::Type* memory = memory_type(target.buffer.element);
  Value* old = llvm::Constant::getNullValue(varies ? llvm::FixedVectorType::get(memory, width_) : memory);
  Value* pointers = varies ? lane_pointers(target, 0) : element_pointer(target, 0);
  for (uint64_t lane = 0; lane < (varies ? width_ : 1); ++lane) {
    auto of_lane = [&](Value* v) { return v->getType()->isVectorTy() ? b_.CreateExtractElement(v, lane) : v; };
    llvm::BasicBlock *before = b_.GetInsertBlock(), *inside = nullptr;
    Value *next = nullptr;
    auto act = [&] {
      Values given;
      for (Value* v : operands) given.push_back(of_lane(v));
      next = atomic_once(x, target.place, target.buffer.element, of_lane(pointers), given);
      if (varies) next = b_.CreateInsertElement(old, next, lane);
      inside = b_.GetInsertBlock();
    };
    if (!mask) {
      act();
      old = next;
      continue;
    }
    unless_clear(of_lane(mask), false, act);
    llvm::PHINode* merged = b_.CreatePHI(old->getType(), 2);
    merged->addIncoming(old, before);
    merged->addIncoming(next, inside);
    old = merged;
  }
  if (op.results.empty()) return;
  if (varies && !result.varying) old = b_.CreateExtractElement(old, uint64_t(0));
  hold(op.result(), from_memory(result.element, old));
}

}  // namespace tilec::target
