// What crosses the elements of vectors: indices, shuffles, votes, reductions.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "ir/scalar_eval.h"
#include "target/llvm/lane_speller.h"

namespace tilec::target {

using ir::ReduceFn;
using ir::ShuffleKind;
using ir::VoteKind;
using llvm::Value;

// <first, first + scale, first + 2 scale ...>
Value* LaneSpeller::lane_numbers(llvm::Type* element, int64_t scale, int64_t first) const {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned lane = 0; lane < width_; ++lane)
    numbers.push_back(llvm::ConstantInt::getSigned(element, first + scale * int64_t(lane)));
  return llvm::ConstantVector::get(numbers);
}

void LaneSpeller::one(const ir::Op& op, const ir::op::LaneIndex&) {
  llvm::Type* element = scalar_type(type(op.result()).element);
  held_[op.result().index] = {{lane_numbers(element)}, llvm::ConstantInt::get(element, 0)};
}

// A block of a CPU is one warp.
void LaneSpeller::one(const ir::Op& op, const ir::op::ThreadIndex&) { one(op, ir::op::LaneIndex{}); }

void LaneSpeller::one(const ir::Op& op, const ir::op::WarpIndex&) {
  hold(op.result(), llvm::Constant::getNullValue(part_type(type(op.result()))));
}

// Lane l reads lane l ^ d, l - d or l + d; where there is no such lane, its own.
Value* LaneSpeller::shuffle_constant(ShuffleKind how, Value* x, int64_t distance) {
  llvm::SmallVector<int, 16> sources;
  for (int64_t lane = 0; lane < int64_t(width_); ++lane) {
    int64_t source = how == ShuffleKind::Index ? distance
                     : how == ShuffleKind::Xor ? lane ^ distance
                     : how == ShuffleKind::Up  ? lane - distance
                                               : lane + distance;
    sources.push_back(int(source >= 0 && source < int64_t(width_) ? source : lane));
  }
  return b_.CreateShuffleVector(x, sources);
}

void LaneSpeller::one(const ir::Op& op, const ir::op::Shuffle& x) {
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
    source = b_.CreateSelect(b_.CreateICmpULT(source, number_like(source, width_)), source, own);
    for (uint64_t lane = 0; lane < width_; ++lane) {
      Value* element = b_.CreateExtractElement(part, b_.CreateExtractElement(source, lane));
      gathered = b_.CreateInsertElement(gathered, element, lane);
    }
    h.parts.push_back(gathered);
  }
  if (!result.varying)
    for (Value*& part : h.parts) part = b_.CreateExtractElement(part, uint64_t(0));
  held_[op.result().index] = std::move(h);
}

void LaneSpeller::one(const ir::Op& op, const ir::op::Vote& x) {
  const ir::Type result = type(op.result());
  Value *condition = operand(x.x, true), *answer = nullptr;
  switch (x.how) {
    case VoteKind::Any: answer = b_.CreateOrReduce(condition); break;
    case VoteKind::All: answer = b_.CreateAndReduce(condition); break;
    case VoteKind::Ballot: answer = b_.CreateZExtOrTrunc(lane_mask(condition), scalar_type(result.element)); break;
  }
  hold(op.result(), result.varying ? splat(answer) : answer);
}

// Halves are combined until one lane is left; the order of a reduction is free. All-NaN gives the identity.
void LaneSpeller::one(const ir::Op& op, const ir::op::WarpReduce& x) {
  const ir::Type result = type(op.result());
  Value* value = operand(x.x, true);
  if (x.fn == ReduceFn::AbsMax) value = magnitude(result.element, value);
  for (unsigned half = width_ / 2; half > 0; half /= 2) {
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

}  // namespace tilec::target
