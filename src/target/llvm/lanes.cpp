// What crosses lanes: indices, shuffles, votes, reductions, and the fault word.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "ir/scalar_eval.h"
#include "target/llvm/speller.h"

namespace tilec::target {

using ir::ReduceFn;
using ir::ShuffleKind;
using ir::VoteKind;
using llvm::Value;

void Speller::one(const ir::Op& op, const ir::op::LaneIndex&) {
  llvm::Type* element = scalar_type(type(op.result()).element);
  held_[op.result().index] = {{lane_numbers(element)}, llvm::ConstantInt::get(element, 0)};
}

// A block of a CPU is one warp.
void Speller::one(const ir::Op& op, const ir::op::ThreadIndex&) { one(op, ir::op::LaneIndex{}); }

void Speller::one(const ir::Op& op, const ir::op::WarpIndex&) {
  hold(op.result(), llvm::Constant::getNullValue(part_type(type(op.result()))));
}

Value* Speller::any_lane(Value* condition) {
  return condition->getType()->isVectorTy() ? b_.CreateOrReduce(condition) : condition;
}

Value* Speller::lane_mask(Value* condition) { return b_.CreateBitCast(condition, b_.getIntNTy(lanes_)); }

// Lane l reads lane l ^ d, l - d or l + d; where there is no such lane, its own.
Value* Speller::shuffle_constant(ShuffleKind how, Value* x, int64_t distance) {
  llvm::SmallVector<int, 16> sources;
  for (int64_t lane = 0; lane < int64_t(lanes_); ++lane) {
    int64_t source = how == ShuffleKind::Index ? distance
                     : how == ShuffleKind::Xor ? lane ^ distance
                     : how == ShuffleKind::Up  ? lane - distance
                                               : lane + distance;
    sources.push_back(int(source >= 0 && source < int64_t(lanes_) ? source : lane));
  }
  return b_.CreateShuffleVector(x, sources);
}

void Speller::one(const ir::Op& op, const ir::op::Shuffle& x) {
  const ir::Type result = type(op.result());
  Held h;
  for (Value* part : parts_as(x.x, ir::vector_type(result.element, part_count(result)))) {
    if (auto distance = kernel_.constant(x.lane)) {
      h.parts.push_back(shuffle_constant(x.how, part, distance->i));
      continue;
    }
    Value* distance = splat(to_index(operand(x.lane, true), type(x.lane).element));
    Value *own = lane_numbers(b_.getInt64Ty()), *gathered = llvm::PoisonValue::get(part->getType());
    Value* source = x.how == ShuffleKind::Index ? distance
                    : x.how == ShuffleKind::Xor ? b_.CreateXor(own, distance)
                    : x.how == ShuffleKind::Up  ? b_.CreateSub(own, distance)
                                                : b_.CreateAdd(own, distance);
    source = b_.CreateSelect(b_.CreateICmpULT(source, number_like(source, lanes_)), source, own);
    for (uint64_t lane = 0; lane < lanes_; ++lane) {
      Value* element = b_.CreateExtractElement(part, b_.CreateExtractElement(source, lane));
      gathered = b_.CreateInsertElement(gathered, element, lane);
    }
    h.parts.push_back(gathered);
  }
  if (!result.varying)
    for (Value*& part : h.parts) part = b_.CreateExtractElement(part, uint64_t(0));
  held_[op.result().index] = std::move(h);
}

void Speller::one(const ir::Op& op, const ir::op::Vote& x) {
  const ir::Type result = type(op.result());
  Value *condition = operand(x.x, true), *answer = nullptr;
  switch (x.how) {
    case VoteKind::Any: answer = b_.CreateOrReduce(condition); break;
    case VoteKind::All: answer = b_.CreateAndReduce(condition); break;
    case VoteKind::Ballot: answer = b_.CreateZExtOrTrunc(lane_mask(condition), scalar_type(result.element)); break;
  }
  hold(op.result(), result.varying ? splat(answer) : answer);
}

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

// Halves are combined until one lane is left; the order of a reduction is free. All-NaN gives the identity.
void Speller::one(const ir::Op& op, const ir::op::WarpReduce& x) {
  const ir::Type result = type(op.result());
  Value* value = operand(x.x, true);
  if (x.fn == ReduceFn::AbsMax) value = unary(ir::UnaryFn::Abs, result.element, value);
  for (unsigned half = lanes_ / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 8> low, high;
    for (unsigned lane = 0; lane < half; ++lane) {
      low.push_back(int(lane));
      high.push_back(int(lane + half));
    }
    value = reduce_step(x.fn, result.element, b_.CreateShuffleVector(value, low), b_.CreateShuffleVector(value, high));
  }
  value = b_.CreateExtractElement(value, uint64_t(0));
  bool ignores_nan = x.fn == ReduceFn::Max || x.fn == ReduceFn::Min || x.fn == ReduceFn::AbsMax;
  if (ignores_nan && is_float(result.element))
    value = reduce_step(x.fn, result.element, value, constant(result.element, ir::identity(x.fn, result.element)));
  hold(op.result(), result.varying ? splat(value) : value);
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

}  // namespace tilec::target
