// A launch whose lanes are threads: buffers, the number of the block, barriers.
#include "target/llvm/thread_speller.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/device.h"

namespace tilec::target {

using llvm::Value;

ThreadSpeller::ThreadSpeller(llvm::Function& function, const Context& context) : Speller(function, context, 1, kGlobalSpace) {}

void ThreadSpeller::spell_op(ir::OpId id) {
  const ir::Op& op = kernel_.op(id);
  ir::visit(op.data, [&](const auto& x) { one(op, x); });
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
  scope_places();
}

// What is left of math functions is an instruction.
void ThreadSpeller::one(const ir::Op& op, const ir::op::Unary& x) {
  if (x.fn != ir::UnaryFn::Exp2) return Speller::one(op, x);
  Held h;
  for (Value* part : parts_as(x.x, type(op.result()))) h.parts.push_back(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx_ftz_f, {}, {part}));
  held_[op.result().index] = std::move(h);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::BlockBarrier&) { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

void ThreadSpeller::one(const ir::Op&, const ir::op::WarpBarrier&) { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(kAllLanes)}); }

void ThreadSpeller::one(const ir::Op&, const ir::op::NamedBarrier& x) {
  Value *id = b_.getInt32(uint32_t(x.id)), *threads = b_.getInt32(uint32_t(x.warps * machine_.lanes));
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_sync_cnt, {}, {id, threads});
}

}  // namespace tilec::target
