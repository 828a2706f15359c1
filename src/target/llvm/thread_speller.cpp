// A launch whose lanes are threads: buffers, the number of the block, barriers.
#include "target/llvm/thread_speller.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/device.h"
#include "target/llvm/elementwise.h"

namespace tilec::target {

using llvm::Value;

ThreadSpeller::ThreadSpeller(llvm::Function& function, const Context& context) : Speller(function, context, 1, kGlobalSpace) {}

void ThreadSpeller::spell_op(ir::OpId id) {
  const ir::Op& op = kernel_.op(id);
  if (!has_awaited_ && reaches_out(id)) await_earlier_launches();
  auto before = lend_warp(op);
  ir::visit(op.data, [&](const auto& x) { one(op, x); });
  for (auto own = before.rbegin(); own != before.rend(); ++own) held_[own->first] = std::move(own->second);
}

void ThreadSpeller::open_launch(const ir::op::Launch& launch, Value* shared, Value* fault) {
  launch_ = &launch;
  fault_ = fault;
  threads_ = std::max<int64_t>(launch.warps, 1) * machine_.lanes;
  has_cluster_ = !launch.cluster.empty();
  demand_ = demand_of(kernel_, launch.body, Addresses::OfEachLane);
  ir::each_op(kernel_, launch.body, [&](ir::OpId id) {
    if (const auto* product = kernel_.op(id).get<ir::op::GroupProduct>()) operands_[product->a.index];
    const auto* alloc = kernel_.op(id).get<ir::op::Alloc>();
    if (!alloc) return;
    ir::ValueId buffer = kernel_.op(id).result();
    const ir::Type& memory = type(buffer);
    if (memory.space == ir::Space::Shared) {
      INVARIANT(alloc->offset != ir::kUnplaced, "shared memory is packed before it is spelled");
      places_[buffer.index] = {.pointer = b_.CreateConstGEP1_64(b_.getInt8Ty(), shared, uint64_t(alloc->offset)), .low = alloc->offset,
                               .high = alloc->offset + memory.element_count() * byte_width(memory.element)};
      return;
    }
    INVARIANT(memory.space == ir::Space::Private, "a block has shared and private buffers");
    auto* array = llvm::ArrayType::get(memory_type(memory.element), uint64_t(memory.element_count()));
    places_[buffer.index].pointer = b_.CreateAlloca(array);
  });
  if (machine_.has(Cap::AsyncMatrix)) find_warp(launch.body), find_fresh(launch.body);
  scope_places();
}

// What is left of math functions is an instruction.
void ThreadSpeller::one(const ir::Op& op, const ir::op::Unary& x) {
  if (x.fn != ir::UnaryFn::Exp2) return Speller::one(op, x);
  Held h;
  for (Value* part : parts_as(x.x, type(op.result()))) h.parts.push_back(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz_f, {}, {part}));
  held_[op.result().index] = std::move(h);
}

Value* ThreadSpeller::instruction(const char* text, llvm::ArrayRef<Value*> operands) {
  std::string constraints = std::string("=") + constraint(operands[0]->getType());
  llvm::SmallVector<llvm::Type*, 2> given;
  for (Value* v : operands) {
    constraints += std::string(",") + constraint(v->getType());
    given.push_back(v->getType());
  }
  auto* function = llvm::FunctionType::get(given[0], given, false);
  llvm::CallInst* call = b_.CreateCall(llvm::InlineAsm::get(function, text, constraints, false), operands);
  call->setDoesNotAccessMemory();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

// Of f32, within two units in the last place: what rounds correctly is a call. One over a number is within one, so that `rsqrt`, which is
// one over a root, stays within two.
Value* ThreadSpeller::quotient(Value* a, Value* b) {
  auto *above = llvm::dyn_cast<llvm::ConstantFP>(a), *below = llvm::dyn_cast<llvm::ConstantFP>(b);
  if (below && (above || below->getValueAPF().getExactInverse(nullptr))) return b_.CreateFDiv(a, b);
  if (above && above->isExactlyValue(1)) return instruction("rcp.approx.f32 $0, $1;", b);
  return instruction("div.full.f32 $0, $1, $2;", {a, b});
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::Binary& x) {
  if (x.fn != ir::BinaryFn::Div || type(x.a).element != Scalar::F32) return Speller::one(op, x);
  elementwise(op, [&](auto pick) { return quotient(pick(x.a), pick(x.b)); });
}

void ThreadSpeller::one(const ir::Op&, const ir::op::BlockBarrier&) {
  tell_of_phases();
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::WarpBarrier&) { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(kAllLanes)}); }

void ThreadSpeller::one(const ir::Op&, const ir::op::NamedBarrier& x) {
  tell_of_phases();
  Value *id = b_.getInt32(uint32_t(x.id)), *threads = b_.getInt32(uint32_t(x.warps * machine_.lanes));
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_sync_cnt, {}, {id, threads});
}

// LLVM has no intrinsic of it for some of a block's warps.
void ThreadSpeller::one(const ir::Op& op, const ir::op::BarrierVote& x) {
  tell_of_phases();
  const std::string how = x.how == ir::VoteKind::Any ? "or" : "and", count = std::to_string(x.id) + ", " + std::to_string(x.warps * machine_.lanes);
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getInt32Ty()}, false);
  const std::string text = "{ .reg .pred p, q; setp.ne.u32 p, $1, 0; barrier.red." + how + ".pred q, " + count + ", p; selp.u32 $0, 1, 0, q; }";
  auto* call = b_.CreateCall(llvm::InlineAsm::get(type, text, "=r,r,~{memory}", true), {b_.CreateZExt(operand(x.x, true), b_.getInt32Ty())});
  call->addFnAttr(llvm::Attribute::Convergent);
  hold(op.result(), b_.CreateICmpNE(call, b_.getInt32(0)));
}

}  // namespace tilec::target
