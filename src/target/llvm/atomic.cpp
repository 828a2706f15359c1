// Atomics: one for each lane that takes part, in the order of the lanes.
#include <llvm/IR/Constants.h>

#include "target/llvm/speller.h"

namespace tilec::target {

using ir::AtomicFn;
using ir::MemoryOrder;
using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Value;

namespace {

AtomicOrdering ordering(MemoryOrder order) {
  constexpr AtomicOrdering kOrders[] = {AtomicOrdering::Monotonic, AtomicOrdering::Acquire, AtomicOrdering::Release,
                                        AtomicOrdering::AcquireRelease};
  return kOrders[int(order)];
}

AtomicRMWInst::BinOp rmw(AtomicFn fn, Scalar element) {
  using R = AtomicRMWInst;
  bool is_real = is_float(element), has_sign = is_signed(element);
  switch (fn) {
    case AtomicFn::Add: return is_real ? R::FAdd : R::Add;
    case AtomicFn::Max: return is_real ? R::FMax : has_sign ? R::Max : R::UMax;
    case AtomicFn::Min: return is_real ? R::FMin : has_sign ? R::Min : R::UMin;
    case AtomicFn::And: return R::And;
    case AtomicFn::Or: return R::Or;
    case AtomicFn::Xor: return R::Xor;
    case AtomicFn::Exchange: return R::Xchg;
    case AtomicFn::CompareExchange: break;
  }
  UNREACHABLE("compare-exchange is an instruction of its own");
}

}  // namespace

// Compare-exchange compares bits.
Value* Speller::atomic_once(const ir::op::MemAtomic& x, const Target& target, Value* pointer, llvm::ArrayRef<Value*> operands) {
  Scalar element = target.buffer.element;
  llvm::Align align(byte_width(element));
  if (x.fn != AtomicFn::CompareExchange) {
    INVARIANT(!is_float(element) || operands[0]->getType()->isFloatingPointTy() || x.fn == AtomicFn::Exchange,
              "narrow floats are legalised before they are spelled");
    return tag(b_.CreateAtomicRMW(rmw(x.fn, element), pointer, operands[0], align, ordering(x.order)), target.place);
  }
  llvm::Type* bits = b_.getIntNTy(unsigned(byte_width(element)) * 8);
  Value* expected = b_.CreateBitCast(operands[0], bits);
  Value* wanted = b_.CreateBitCast(operands[1], bits);
  AtomicOrdering on_failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering(x.order));
  auto* exchange = b_.CreateAtomicCmpXchg(pointer, expected, wanted, align, ordering(x.order), on_failure);
  tag(exchange, target.place);
  return b_.CreateBitCast(b_.CreateExtractValue(exchange, 0), memory_type(element));
}

void Speller::one(const ir::Op& op, const ir::op::MemAtomic& x) {
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
  Value* old = llvm::Constant::getNullValue(varies ? llvm::FixedVectorType::get(memory, lanes_) : memory);
  Value* pointers = varies ? lane_pointers(target, 0) : element_pointer(target, 0);
  for (uint64_t lane = 0; lane < (varies ? lanes_ : 1); ++lane) {
    auto of_lane = [&](Value* v) { return v->getType()->isVectorTy() ? b_.CreateExtractElement(v, lane) : v; };
    llvm::BasicBlock *before = b_.GetInsertBlock(), *inside = nullptr;
    Value *next = nullptr;
    auto act = [&] {
      Values given;
      for (Value* v : operands) given.push_back(of_lane(v));
      next = atomic_once(x, target, of_lane(pointers), given);
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
