// A sum with a constant in front of a loop occupies a register all through the loop, to save one instruction. Those of one base are as
// many as a lane has columns of a tile, where a loop around other loops stores tiles, and the assembler, which can move code out of loops,
// never moves it in again: they would lie on the stack. So they go where they are used; but not into loops that hold no other, which
// turn often.
#include "target/llvm/late_code.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace tilec::target {

namespace {

using namespace llvm;

// One instruction, of a number and a constant.
bool is_sum(const Value* value) {
  auto* i = dyn_cast<BinaryOperator>(value);
  if (!i || !i->getType()->isIntegerTy() || !isa<ConstantInt>(i->getOperand(1)) || isa<Constant>(i->getOperand(0))) return false;
  return is_contained({Instruction::Add, Instruction::Or, Instruction::Xor, Instruction::And}, i->getOpcode());
}

class Sinker {
 public:
  Sinker(Function& function, int64_t registers) : function_(function), most_(registers / kShare), tree_(function), loops_(tree_) {
    for (Instruction& i : instructions(function))
      if (is_sum(&i)) ++sums_[i.getOperand(0)];
    for (Instruction& i : instructions(function_))
      if (isa<ICmpInst>(i) && is_cheap(&i))
        for (const Use& x : i.operands()) ++compared_[x.get()];
  }

  // The last first: what an instruction is made of follows it.
  void run() {
    std::vector<Instruction*> cheap;
    for (Instruction& i : instructions(function_))
      if (is_cheap(&i)) cheap.push_back(&i);
    for (Instruction* i : reverse(cheap)) sink(*i);
  }

 private:
  static constexpr int64_t kShare = 16;  // of the registers, for sums of one base: fewer do no harm

  bool is_one_of_many(const Value* value) const {
    return is_sum(value) && sums_.lookup(cast<Instruction>(value)->getOperand(0)) > most_;
  }
  bool is_cheap(const Value* value) const {
    return is_one_of_many(value) || (isa<ICmpInst>(value) && any_of(cast<Instruction>(value)->operands(), [&](const Use& x) { return is_one_of_many(x); }));
  }

  // Where the use of something made in `from` may have it made: in its block, or in front of the innermost loop.
  BasicBlock* place(const Use& use, const BasicBlock* from) const {
    auto* user = cast<Instruction>(use.getUser());
    auto* phi = dyn_cast<PHINode>(user);
    BasicBlock* block = phi ? phi->getIncomingBlock(use) : user->getParent();
    Loop* loop = loops_.getLoopFor(block);
    if (loop && loop->isInnermost() && !loop->contains(from)) {
      block = loop->getLoopPreheader();
      loop = block ? loops_.getLoopFor(block) : nullptr;
    }
    return loop && !loop->contains(from) ? block : nullptr;
  }

  // Does the operand take no register more in the loop? What many are made of, or compared with, takes one instead of theirs.
  bool stays(const Value* operand, const Instruction& cheap, const Loop* loop) const {
    if (!isa<Instruction>(operand) || is_one_of_many(&cheap) || is_one_of_many(operand) || compared_.lookup(operand) > most_) return true;
    return any_of(operand->users(), [&](const User* other) { return loop->contains(cast<Instruction>(other)); });
  }

  void sink(Instruction& cheap) {
    MapVector<BasicBlock*, std::vector<Use*>> places;
    for (Use& use : cheap.uses()) {
      BasicBlock* to = place(use, cheap.getParent());
      if (!to || !all_of(cheap.operands(), [&](const Use& operand) { return stays(operand, cheap, loops_.getLoopFor(to)); })) return;
      places[to].push_back(&use);
    }
    for (auto& [block, uses] : places) {
      Instruction* copy = cheap.clone();
      copy->insertBefore(first_user(*block, uses));
      for (Use* use : uses) use->set(copy);
    }
    if (places.empty()) return;
    sums_.erase(&cheap), compared_.erase(&cheap);  // its place in memory may become another's
    cheap.eraseFromParent();
  }

  static Instruction* first_user(BasicBlock& block, const std::vector<Use*>& uses) {
    for (Instruction& i : block)
      if (!isa<PHINode>(i) && any_of(uses, [&](const Use* use) { return use->getUser() == &i; })) return &i;
    return block.getTerminator();
  }

  Function& function_;
  int64_t most_;
  DenseMap<const Value*, int64_t> sums_;      // by their base
  DenseMap<const Value*, int64_t> compared_;  // how many of them with it
  DominatorTree tree_;
  LoopInfo loops_;
};

}  // namespace

void sink_cheap_code(Function& function, int64_t registers) { Sinker(function, registers).run(); }

}  // namespace tilec::target
