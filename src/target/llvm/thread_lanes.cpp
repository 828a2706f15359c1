// What crosses lanes that are threads: their numbers, shuffles, votes, reductions. All lanes of a warp take part.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <bit>

#include "ir/scalar_eval.h"
#include "target/llvm/thread_speller.h"

namespace tilec::target {

using ir::ReduceFn;
using ir::ShuffleKind;
using ir::VoteKind;
using llvm::Value;

Value* ThreadSpeller::thread_number() { return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}); }
Value* ThreadSpeller::lane_number() { return b_.CreateAnd(thread_number(), b_.getInt32(kLastLane)); }

void ThreadSpeller::hold_number(const ir::Op& op, Value* number) {
  hold(op.result(), b_.CreateIntCast(number, scalar_type(type(op.result()).element), false));
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::ThreadIndex&) { hold_number(op, thread_number()); }
void ThreadSpeller::one(const ir::Op& op, const ir::op::LaneIndex&) { hold_number(op, lane_number()); }
void ThreadSpeller::one(const ir::Op& op, const ir::op::WarpIndex&) {
  hold_number(op, b_.CreateLShr(thread_number(), uint64_t(std::countr_zero(unsigned(machine_.lanes)))));
}

// By pieces of 32 bits.
Value* ThreadSpeller::exchange(unsigned how, Value* members, Value* x, Value* lane, uint32_t clamp) {
  llvm::Type* type = x->getType();
  unsigned width = unsigned(type->getPrimitiveSizeInBits());
  Value* bits = b_.CreateBitCast(x, b_.getIntNTy(width));
  auto piece = [&](Value* part) {
    return b_.CreateIntrinsic(llvm::Intrinsic::ID(how), {}, {members, part, lane, b_.getInt32(clamp)});
  };
  if (width <= 32) return b_.CreateBitCast(b_.CreateTrunc(piece(b_.CreateZExt(bits, b_.getInt32Ty())), b_.getIntNTy(width)), type);
  Value* low = piece(b_.CreateTrunc(bits, b_.getInt32Ty()));
  Value* high = piece(b_.CreateTrunc(b_.CreateLShr(bits, 32), b_.getInt32Ty()));
  Value* whole = b_.CreateOr(b_.CreateZExt(low, b_.getInt64Ty()), b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32));
  return b_.CreateBitCast(whole, type);
}

// Lane l reads lane l ^ d, l - d or l + d; where there is no such lane, its own: so does the instruction for distances that it
// takes, in its 5 bits; others are made places.
Value* ThreadSpeller::shuffle(const ir::op::Shuffle& x, Value* value) {
  namespace I = llvm::Intrinsic;
  Value* all = b_.getInt32(kAllLanes);
  auto known = kernel_.constant(x.lane);
  if (known && known->i >= 0 && known->i <= int64_t(kLastLane)) {
    Value* distance = b_.getInt32(uint32_t(known->i));
    switch (x.how) {
      case ShuffleKind::Index: return exchange(I::nvvm_shfl_sync_idx_i32, all, value, distance, kLastLane);
      case ShuffleKind::Xor: return exchange(I::nvvm_shfl_sync_bfly_i32, all, value, distance, kLastLane);
      case ShuffleKind::Up: return exchange(I::nvvm_shfl_sync_up_i32, all, value, distance, 0);
      case ShuffleKind::Down: return exchange(I::nvvm_shfl_sync_down_i32, all, value, distance, kLastLane);
    }
  }
  Value *own = b_.CreateZExt(lane_number(), b_.getInt64Ty()), *d = to_index(operand(x.lane, true), type(x.lane).element);
  Value* from = x.how == ShuffleKind::Index ? d
                : x.how == ShuffleKind::Xor ? b_.CreateXor(own, d)
                : x.how == ShuffleKind::Up  ? b_.CreateSub(own, d)
                                            : b_.CreateAdd(own, d);
  from = b_.CreateSelect(b_.CreateICmpULE(from, b_.getInt64(kLastLane)), from, own);
  return exchange(I::nvvm_shfl_sync_idx_i32, all, value, b_.CreateTrunc(from, b_.getInt32Ty()), kLastLane);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::Shuffle& x) {
  const ir::Type result = type(op.result());
  Held h;
  for (Value* part : parts_as(x.x, ir::vector_type(result.element, part_count(result)))) h.parts.push_back(shuffle(x, part));
  held_[op.result().index] = std::move(h);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::Vote& x) {
  Value *condition = operand(x.x, true), *all = b_.getInt32(kAllLanes);
  switch (x.how) {
    case VoteKind::Any: return hold(op.result(), b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_any_sync, {}, {all, condition}));
    case VoteKind::All: return hold(op.result(), b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync, {}, {all, condition}));
    case VoteKind::Ballot: return hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {all, condition}));
  }
}

// A butterfly: each lane comes to the whole. All-NaN gives the identity.
void ThreadSpeller::one(const ir::Op& op, const ir::op::WarpReduce& x) {
  Scalar element = type(op.result()).element;
  Value *value = operand(x.x, true), *all = b_.getInt32(kAllLanes);
  if (x.fn == ReduceFn::AbsMax) value = unary(ir::UnaryFn::Abs, element, value);
  for (uint32_t distance = uint32_t(machine_.lanes) / 2; distance > 0; distance /= 2)
    value = reduce_step(x.fn, element, value, exchange(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, all, value, b_.getInt32(distance), kLastLane));
  bool ignores_nan = x.fn == ReduceFn::Max || x.fn == ReduceFn::Min || x.fn == ReduceFn::AbsMax;
  if (ignores_nan && is_float(element)) value = reduce_step(x.fn, element, value, constant(element, ir::identity(x.fn, element)));
  hold(op.result(), value);
}

}  // namespace tilec::target
