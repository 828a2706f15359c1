// What conditions, vectors and the fault word are on any machine, one step of a reduction, and memory's view of numbers.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "target/llvm/speller.h"

namespace tilec::target {

using ir::AtomicFn;
using ir::MemoryOrder;
using ir::ReduceFn;
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

Value* Speller::any_lane(Value* condition) {
  return condition->getType()->isVectorTy() ? b_.CreateOrReduce(condition) : condition;
}

Value* Speller::lane_mask(Value* condition) { return b_.CreateBitCast(condition, b_.getIntNTy(width_)); }

Value* Speller::reduce_step(ReduceFn fn, Scalar element, Value* a, Value* b) {
  using ir::BinaryFn;
  switch (fn) {
    case ReduceFn::Sum: return binary(BinaryFn::Add, element, a, b);
    case ReduceFn::Prod: return binary(BinaryFn::Mul, element, a, b);
    case ReduceFn::Max: case ReduceFn::AbsMax: return binary(BinaryFn::Max, element, a, b);
    case ReduceFn::Min: return binary(BinaryFn::Min, element, a, b);
    case ReduceFn::Any: return binary(BinaryFn::Or, element, a, b);
    case ReduceFn::All: return binary(BinaryFn::And, element, a, b);
    case ReduceFn::ArgMax: case ReduceFn::ArgMin: UNREACHABLE("positions are reduced by pairs in the IR");
  }
  UNREACHABLE("a reduction is one of the table");
}

void Speller::one(const ir::Op& op, const ir::op::VectorMake& x) {
  const ir::Type result = type(op.result());
  Held h;
  for (ir::ValueId v : x.elements) h.parts.push_back(operand(v, result.varying));
  held_[op.result().index] = std::move(h);
}

void Speller::one(const ir::Op& op, const ir::op::VectorElement& x) {
  Value* part = held(x.vector).parts[x.index];
  hold(op.result(), type(op.result()).varying ? splat(part) : part);
}

// Runs `then` where the condition holds.
void Speller::unless_clear(Value* condition, bool is_rare, llvm::function_ref<void()> then) {
  llvm::BasicBlock *block = new_block("then"), *after = new_block("after");
  llvm::BranchInst* branch = b_.CreateCondBr(condition, block, after);
  if (is_rare)
    branch->setMetadata(llvm::LLVMContext::MD_prof, llvm::MDBuilder(context_).createBranchWeights(1, 1 << 20));
  b_.SetInsertPoint(block);
  then();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// The first failure of a call stays: the word is written where it is still 0. Upper 24 bits the site plus one, then the index.
void Speller::one(const ir::Op& op, const ir::op::Fault& x) {
  constexpr int kIndexBits = 40;
  constexpr int64_t kMost = (int64_t(1) << (kIndexBits - 1)) - 1;
  uint64_t site = uint64_t(abi_.site_of(op) + 1) << kIndexBits;
  Value* condition = operand(x.condition, false);
  unless_clear(any_lane(condition), true, [&] {
    Value* index = operand(x.index, false);
    if (index->getType()->isVectorTy()) {
      Value* lane = b_.getInt64(0);
      if (condition->getType()->isVectorTy())
        lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, lane_mask(condition), b_.getTrue());
      index = b_.CreateExtractElement(index, lane);
    }
    index = to_index(index, type(x.index).element);
    index = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index, b_.getInt64(uint64_t(-kMost)));
    index = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.getInt64(kMost));
    Value* low = b_.CreateAnd(index, (1ull << kIndexBits) - 1);
    b_.CreateAtomicCmpXchg(fault_, b_.getInt64(0), b_.CreateOr(low, site), llvm::MaybeAlign(8),
                           llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
  });
}

llvm::Instruction* Speller::tag(llvm::Instruction* access, const Place& place) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, place.scope);
  access->setMetadata(llvm::LLVMContext::MD_noalias, place.disjoint);
  return access;
}

Value* Speller::to_memory(Scalar element, Value* x) {
  return element == Scalar::Bool ? b_.CreateZExt(x, shaped(b_.getInt8Ty(), x)) : x;
}

Value* Speller::from_memory(Scalar element, Value* x) {
  return element == Scalar::Bool ? b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType())) : x;
}

Value* Speller::masked_or_null(ir::ValueId mask) {
  if (!mask.valid()) return nullptr;
  if (auto known = kernel_.constant(mask); known && known->i) return nullptr;
  return operand(mask, false);
}

// Compare-exchange compares bits.
Value* Speller::atomic_once(const ir::op::MemAtomic& x, const Place& place, Scalar element, Value* pointer, llvm::ArrayRef<Value*> operands) {
  llvm::Align align(byte_width(element));
  if (x.fn != AtomicFn::CompareExchange) {
    Value* operand = operands[0];
    bool is_narrow = is_float(element) && operand->getType()->isIntegerTy() && x.fn != AtomicFn::Exchange;
    if (is_narrow) {
      INVARIANT(machine_.adds.narrow && x.fn == AtomicFn::Add, "narrow floats are legalised before they are spelled");
      operand = b_.CreateBitCast(operand, element == Scalar::F16 ? b_.getHalfTy() : b_.getBFloatTy());
    }
    Value* old = tag(b_.CreateAtomicRMW(rmw(x.fn, element), pointer, operand, align, ordering(x.order)), place);
    return is_narrow ? b_.CreateBitCast(old, operands[0]->getType()) : old;
  }
  llvm::Type* bits = b_.getIntNTy(unsigned(byte_width(element)) * 8);
  Value* expected = b_.CreateBitCast(operands[0], bits);
  Value* wanted = b_.CreateBitCast(operands[1], bits);
  AtomicOrdering on_failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering(x.order));
  auto* exchange = b_.CreateAtomicCmpXchg(pointer, expected, wanted, align, ordering(x.order), on_failure);
  tag(exchange, place);
  return b_.CreateBitCast(b_.CreateExtractValue(exchange, 0), memory_type(element));
}

llvm::SmallVector<llvm::Value*, 3> decompose(llvm::IRBuilder<>& b, llvm::Value* linear, llvm::ArrayRef<llvm::Value*> extents) {
  llvm::SmallVector<llvm::Value*, 3> indices;
  for (size_t i = 0; i < extents.size(); ++i) {
    bool is_last = i + 1 == extents.size();
    indices.push_back(is_last ? linear : b.CreateURem(linear, extents[i]));
    if (!is_last) linear = b.CreateUDiv(linear, extents[i]);
  }
  return indices;
}

}  // namespace tilec::target
