#include "target/llvm/paired_rounding.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

namespace tilec::target {

namespace {

using namespace llvm;

// The bits of an f32, rounded.
BitCastInst* is_rounding(Instruction& i) {
  auto* bits = dyn_cast<BitCastInst>(&i);
  auto* rounded = bits && bits->getType()->isIntegerTy(16) ? dyn_cast<FPTruncInst>(bits->getOperand(0)) : nullptr;
  bool is_one = rounded && rounded->hasOneUse() && rounded->getParent() == i.getParent() && rounded->getOperand(0)->getType()->isFloatTy();
  return is_one ? bits : nullptr;
}

Value* source_of(const BitCastInst* rounding) { return cast<FPTruncInst>(rounding->getOperand(0))->getOperand(0); }
Type* type_of(const BitCastInst* rounding) { return rounding->getOperand(0)->getType(); }

void replace(BitCastInst* rounding, Value* by) {
  auto* rounded = cast<Instruction>(rounding->getOperand(0));
  rounding->replaceAllUsesWith(by);
  rounding->eraseFromParent();
  rounded->eraseFromParent();
}

void pair(BitCastInst* low, BitCastInst* high) {
  IRBuilder<> b(high);
  auto* type = FunctionType::get(b.getInt32Ty(), {b.getFloatTy(), b.getFloatTy()}, false);
  const char* text = type_of(low)->isHalfTy() ? "cvt.rn.f16x2.f32 $0, $1, $2;" : "cvt.rn.bf16x2.f32 $0, $1, $2;";
  CallInst* both = b.CreateCall(InlineAsm::get(type, text, "=r,f,f", false), {source_of(high), source_of(low)});
  both->setDoesNotAccessMemory();
  both->addFnAttr(Attribute::WillReturn);
  Value *first = b.CreateTrunc(both, b.getInt16Ty()), *second = b.CreateTrunc(b.CreateLShr(both, 16), b.getInt16Ty());
  replace(low, first);
  replace(high, second);
}

}  // namespace

void pair_roundings(Function& function) {
  for (BasicBlock& block : function) {
    BitCastInst* waiting = nullptr;
    for (auto next = block.begin(); next != block.end();) {
      Instruction& i = *next++;
      // The pair stands where its second half does.
      if (waiting && is_contained(i.operand_values(), waiting)) waiting = nullptr;
      BitCastInst* rounding = is_rounding(i);
      if (!rounding) continue;
      bool fits = waiting && type_of(waiting) == type_of(rounding);
      if (fits) pair(waiting, rounding);
      waiting = fits ? nullptr : rounding;
    }
  }
}

}  // namespace tilec::target
