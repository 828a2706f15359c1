// A launch on a CPU: its buffers lie in the thread's scratch memory or on the stack.
#include "target/llvm/lane_speller.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace tilec::target {

using llvm::Value;

LaneSpeller::LaneSpeller(llvm::Function& function, const Context& context, bool has_streaming_stores)
    : Speller(function, context, unsigned(context.machine.lanes), 0), has_streaming_stores_(has_streaming_stores) {}

void LaneSpeller::spell_op(ir::OpId id) {
  const ir::Op& op = kernel_.op(id);
  ir::visit(op.data, [&](const auto& x) { one(op, x); });
}

void LaneSpeller::open_launch(const ir::op::Launch& launch, Value* scratch, Value* fault) {
  fault_ = fault;
  demand_ = demand_of(kernel_, launch.body);
  memory_ = plan_memory(kernel_, launch.body, int(width_));
  for (const BufferHome& home : memory_.homes) {
    const ir::Op& op = kernel_.op(home.alloc);
    Place& place = places_[op.result().index];
    if (!home.on_stack) {
      place.pointer = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch, uint64_t(home.offset));
      place.low = home.offset, place.high = home.offset + home.elements * byte_width(type(op.result()).element);
      continue;
    }
    auto* array = llvm::ArrayType::get(memory_type(type(op.result()).element), uint64_t(home.elements));
    llvm::AllocaInst* alloca = b_.CreateAlloca(array);
    alloca->setAlignment(llvm::Align(kScratchAlignment));
    place.pointer = alloca;
  }
  scope_places();
  if (has_streaming_stores_) stream_places();
}

namespace {

// More than a core's share of the last cache: what is written first is gone from it before the last is.
constexpr int64_t kMostKept = 16 << 20;

}  // namespace

// A large tensor that is only written would first be read into the caches, line by line, and then push out what is read again.
void LaneSpeller::stream_places() {
  for (const ir::Param& param : kernel_.params) {
    bool is_held = std::ranges::all_of(param.extents, [&](ir::ValueId v) { return !held_[v.index].parts.empty(); });
    if (!type(param.value).is_buffer() || param.access != ir::Access::Out || param.may_alias || !is_held) continue;
    Value* bytes = b_.getInt64(uint64_t(byte_width(type(param.value).element)));
    for (ir::ValueId extent : param.extents) bytes = b_.CreateMul(bytes, uniform(extent));
    places_.at(param.value.index).streams = b_.CreateICmpSGT(bytes, b_.getInt64(kMostKept));
  }
}

void LaneSpeller::close_launch() {
  bool streams = std::ranges::any_of(places_, [](const auto& entry) { return entry.second.streams != nullptr; });
  if (streams) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

}  // namespace tilec::target
