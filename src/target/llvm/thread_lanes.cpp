// What crosses lanes that are threads: their numbers, shuffles, votes, reductions, and who takes part in them.
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
void ThreadSpeller::one(const ir::Op& op, const ir::op::WarpIndex&) { hold_number(op, own_warp()); }
Value* ThreadSpeller::own_warp() { return b_.CreateLShr(thread_number(), uint64_t(std::countr_zero(unsigned(machine_.lanes)))); }

// Number of the warp as lane 0 has it: the assembler takes what comes from one lane to be the same in all, and keeps what is made of it
// once for the warp, where products want it. Addresses of lanes, and tests, are not made of it: they would take more registers.
void ThreadSpeller::find_warp(ir::RegionId launch) {
  std::function<void(ir::ValueId)> mark = [&](ir::ValueId v) {
    const ir::Op* op = v.valid() ? kernel_.definition(v) : nullptr;
    if (!op || type(v).varying || !type(v).is_scalar() || !of_products_.insert(v.index).second) return;
    if (ir::table(op->kind()) == ir::OpTable::Scalar) each_operand(op->data, mark);
  };
  ir::each_op(kernel_, launch, [&](ir::OpId id) {
    if (const auto* product = kernel_.op(id).get<ir::op::GroupProduct>()) mark(product->b_place), mark(product->a_place);
  });
  bool is_asked = std::ranges::any_of(of_products_, [&](uint32_t v) { return kernel_.defined_by<ir::op::WarpIndex>({v}); });
  if (!is_asked) return;
  Value* number = exchange(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, own_warp(), b_.getInt32(0), kLastLane);
  llvm::MDBuilder bounds(context_);
  llvm::cast<llvm::Instruction>(number)->setMetadata(llvm::LLVMContext::MD_range,
                                                     bounds.createRange(llvm::APInt(32, 0), llvm::APInt(32, uint64_t(threads_ / machine_.lanes))));
  warp_ = b_.CreateZExt(number, scalar_type(Scalar::Index));
}

// While the operation is spelled; gives what its operands were before.
std::vector<std::pair<uint32_t, ThreadSpeller::Held>> ThreadSpeller::lend_warp(const ir::Op& op) {
  std::vector<std::pair<uint32_t, Held>> before;
  if (!warp_ || op.results.empty() || !of_products_.contains(op.results[0].index)) return before;
  each_operand(op.data, [&](ir::ValueId v) {
    if (!v.valid() || !kernel_.defined_by<ir::op::WarpIndex>(v)) return;
    before.emplace_back(v.index, held(v));
    hold(v, warp_);
  });
  return before;
}

// By pieces of 32 bits.
Value* ThreadSpeller::exchange(unsigned how, Value* x, Value* lane, uint32_t clamp) {
  llvm::Type* type = x->getType();
  unsigned width = unsigned(type->getPrimitiveSizeInBits());
  Value* bits = b_.CreateBitCast(x, b_.getIntNTy(width));
  auto piece = [&](Value* part) {
    return b_.CreateIntrinsic(llvm::Intrinsic::ID(how), {}, {members(), part, lane, b_.getInt32(clamp)});
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
  auto known = kernel_.constant(x.lane);
  if (known && known->i >= 0 && known->i <= int64_t(kLastLane)) {
    Value* distance = b_.getInt32(uint32_t(known->i));
    switch (x.how) {
      case ShuffleKind::Index: return exchange(I::nvvm_shfl_sync_idx_i32, value, distance, kLastLane);
      case ShuffleKind::Xor: return exchange(I::nvvm_shfl_sync_bfly_i32, value, distance, kLastLane);
      case ShuffleKind::Up: return exchange(I::nvvm_shfl_sync_up_i32, value, distance, 0);
      case ShuffleKind::Down: return exchange(I::nvvm_shfl_sync_down_i32, value, distance, kLastLane);
    }
  }
  Value *own = b_.CreateZExt(lane_number(), b_.getInt64Ty()), *d = to_index(operand(x.lane, true), type(x.lane).element);
  Value* from = x.how == ShuffleKind::Index ? d
                : x.how == ShuffleKind::Xor ? b_.CreateXor(own, d)
                : x.how == ShuffleKind::Up  ? b_.CreateSub(own, d)
                                            : b_.CreateAdd(own, d);
  from = b_.CreateSelect(b_.CreateICmpULE(from, b_.getInt64(kLastLane)), from, own);
  return exchange(I::nvvm_shfl_sync_idx_i32, value, b_.CreateTrunc(from, b_.getInt32Ty()), kLastLane);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::Shuffle& x) {
  const ir::Type result = type(op.result());
  Held h;
  for (Value* part : parts_as(x.x, ir::vector_type(result.element, part_count(result)))) h.parts.push_back(shuffle(x, part));
  if (Value* last = h.parts.back(); last->getType()->getPrimitiveSizeInBits() == 32) crossed_ = last;
  held_[op.result().index] = std::move(h);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::Vote& x) {
  Value *condition = operand(x.x, true), *all = members();
  switch (x.how) {
    case VoteKind::Any: return hold(op.result(), b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_any_sync, {}, {all, condition}));
    case VoteKind::All: return hold(op.result(), b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync, {}, {all, condition}));
    case VoteKind::Ballot: return hold_number(op, b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {all, condition}));
  }
}

bool ThreadSpeller::crosses_lanes(ir::RegionId region) const {
  bool crosses = false;
  if (region.valid())
    ir::each_op(kernel_, region, [&](ir::OpId id) {
      const ir::Op& op = kernel_.op(id);
      crosses |= op.is<ir::op::Shuffle>() || op.is<ir::op::Vote>() || op.is<ir::op::WarpReduce>() || op.is<ir::op::MemAtomic>();
    });
  return crosses;
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::If& x) {
  bool parts = type(x.condition).varying && (crosses_lanes(x.then_body) || crosses_lanes(x.else_body));
  if (!parts) return Speller::one(op, x);
  Value* outside = members_;
  Value* taken = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {members(), operand(x.condition, true)});
  Value* sides[] = {taken, b_.CreateAnd(members(), b_.CreateNot(taken))};
  branch(op, x, [&](int side) { members_ = sides[side]; });
  members_ = outside;
}

// One member after the other: some lanes have nothing to give.
Value* ThreadSpeller::reduce_members(ReduceFn fn, Scalar element, Value* x) {
  Value* sum = constant(element, ir::identity(fn, element));
  llvm::BasicBlock *before = b_.GetInsertBlock(), *next = new_block("member"), *done = new_block("done");
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  llvm::PHINode *left = b_.CreatePHI(b_.getInt32Ty(), 2), *so_far = b_.CreatePHI(x->getType(), 2);
  left->addIncoming(members(), before);
  so_far->addIncoming(sum, before);
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue());
  Value* more = reduce_step(fn, element, so_far, exchange(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, x, lane, kLastLane));
  Value* rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, b_.GetInsertBlock());
  so_far->addIncoming(more, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpEQ(rest, b_.getInt32(0)), done, next);
  b_.SetInsertPoint(done);
  return more;
}

// A butterfly where all take part: each lane comes to the whole. All-NaN gives the identity.
void ThreadSpeller::one(const ir::Op& op, const ir::op::WarpReduce& x) {
  Scalar element = type(op.result()).element;
  Value* value = operand(x.x, true);
  if (x.fn == ReduceFn::AbsMax) value = magnitude(element, value);
  if (members_) return hold(op.result(), reduce_members(x.fn, element, value));
  for (uint32_t distance = uint32_t(machine_.lanes) / 2; distance > 0; distance /= 2)
    value = reduce_step(x.fn, element, value, exchange(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, value, b_.getInt32(distance), kLastLane));
  bool ignores_nan = x.fn == ReduceFn::Max || x.fn == ReduceFn::Min || x.fn == ReduceFn::AbsMax;
  if (ignores_nan && is_float(element)) value = reduce_step(x.fn, element, value, constant(element, ir::identity(x.fn, element)));
  hold(op.result(), value);
}

}  // namespace tilec::target
