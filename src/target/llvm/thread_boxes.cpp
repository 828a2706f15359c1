// Copies of boxes by an engine, which one lane of a warp starts: it finds the tensor by a descriptor, says at a barrier with phases
// how many bytes have come, and fills with zeros what lies outside.
#include <llvm/IR/InlineAsm.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

namespace {

// Beyond any extent, and so far below zero that a box does not reach back: 32 bits hold both.
constexpr int64_t kFarthest = INT32_MAX, kFarthestBelow = -(1 << 30);

}  // namespace

void ThreadSpeller::open_boxes(std::vector<BoxAbi> boxes, Value* descriptors, uint64_t bytes) {
  boxes_ = std::move(boxes), descriptors_ = descriptors, descriptor_bytes_ = bytes;
  elect();
}

// False where no copy of the launch is left that reads the tensor.
void ThreadSpeller::one(const ir::Op& op, const ir::op::HasBoxes& x) {
  Value* holds = nullptr;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    if (kernel_.params[size_t(boxes_[i].param)].value != x.buffer) continue;
    Value* place = b_.CreateConstGEP1_64(b_.getInt8Ty(), descriptors_, boxes_.size() * descriptor_bytes_ + i);
    Value* one = b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), place), b_.getInt8(0));
    holds = holds ? b_.CreateAnd(holds, one) : one;
  }
  hold(op.result(), holds ? holds : b_.getFalse());
}

// Where the first element of the box lies in shared memory: whole rows of whole panels lie below it.
Value* ThreadSpeller::corner(ir::ValueId memory, const ir::Ints& shape, const std::vector<ir::ValueId>& offsets, const layout::EngineRows& rows) {
  size_t rank = shape.size();
  int64_t stack = 1;
  Value* element = b_.getInt64(0);
  for (size_t axis = rank; axis-- > 0;) {
    Value* at = operand(offsets[axis], false);
    if (axis + 1 == rank) at = b_.CreateMul(b_.CreateUDiv(at, b_.getInt64(uint64_t(rows.width))), b_.getInt64(uint64_t(rows.panel)));
    else at = b_.CreateMul(at, b_.getInt64(uint64_t(axis + 2 == rank ? rows.width : stack)));
    element = b_.CreateAdd(element, at);
    stack *= shape[axis];
  }
  return b_.CreateGEP(memory_type(type(memory).element), places_.at(memory.index).pointer, element);
}

Value* ThreadSpeller::descriptor_of(const BoxAbi& box) {
  auto number = size_t(std::ranges::find(boxes_, box) - boxes_.begin());
  INVARIANT(number < boxes_.size(), "a copied box is one of its launch's");
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), descriptors_, number * descriptor_bytes_);
}

// Appends the coordinates of a box's corner in its tensor to the operands; gives their names in the text.
std::string ThreadSpeller::coordinates(const std::vector<ir::ValueId>& offsets, Values& operands) {
  std::string text;
  for (size_t d = offsets.size(); d-- > 0;) {  // the engine counts from the last dimension
    Value* at = operand(offsets[d], false);
    at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b_.getInt64(uint64_t(kFarthestBelow)));
    at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, b_.getInt64(kFarthest));
    text += (text.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(b_.CreateTrunc(at, b_.getInt32Ty()));
  }
  return text;
}

void ThreadSpeller::one(const ir::Op&, const ir::op::CopyBox& x) {
  Values operands = {corner(x.dst, x.dst_shape, x.dst_offsets, rows_of(kernel_, x)), descriptor_of(box_of(kernel_, x)), phase_pointer(x.barriers, x.slot)};
  std::string from = coordinates(x.src_offsets, operands), how = "d.shared::cluster.global.mbarrier::complete_tx::bytes", peers;
  if (x.peers.valid()) {
    how += ".multicast::cluster", peers = ", $" + std::to_string(operands.size());
    operands.push_back(b_.CreateTrunc(operand(x.peers, false), b_.getInt16Ty()));
  }
  operands.push_back(elected_);
  tied("{ .reg .pred p; setp.ne.u32 p, $" + std::to_string(operands.size() - 1) + ", 0; @p cp.async.bulk.tensor." + std::to_string(x.src_offsets.size()) + how + " [$0], [$1, {" +
       from + "}], [$2]" + peers + "; }", {}, operands);
}

// One lane of each warp, chosen while they are together: the assembler knows that it is one.
void ThreadSpeller::elect() {
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {}, false);
  auto* call = b_.CreateCall(llvm::InlineAsm::get(type, "{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 $0, 1, 0, p; }", "=r", true), {});
  call->addFnAttr(llvm::Attribute::Convergent);
  elected_ = call;
}

// One lane starts all of a warp's stores and waits for them: they are counted by thread.
void ThreadSpeller::one(const ir::Op&, const ir::op::StoreBox& x) {
  Values operands = {corner(x.src, x.src_shape, x.src_offsets, rows_of(kernel_, x)), descriptor_of(box_of(kernel_, x))};
  std::string to = coordinates(x.dst_offsets, operands), rank = std::to_string(x.dst_offsets.size());
  std::string text = x.adds ? "cp.reduce.async.bulk.tensor." + rank + "d.global.shared::cta.add.bulk_group" : "cp.async.bulk.tensor." + rank + "d.global.shared::cta.bulk_group";
  tied("{ .reg .pred p; elect.sync _|p, 0xffffffff; @p " + text + " [$1, {" + to + "}], [$0]; @p cp.async.bulk.commit_group; }", {}, operands);
}

// A lane that has started none has none to wait for.
void ThreadSpeller::one(const ir::Op&, const ir::op::AwaitStores& x) {
  tied("cp.async.bulk.wait_group.read " + std::to_string(x.in_flight) + ";", {}, {});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::PhaseExpect& x) {
  Values operands = {phase_pointer(x.barriers, x.index), b_.CreateTrunc(operand(x.bytes, false), b_.getInt32Ty())};
  Value* mask = masked_or_null(x.mask);
  if (mask) operands.push_back(mask);
  tied(std::string(mask ? "@$2 " : "") + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {}, operands);
}

// To device memory, the launch's counter or the word for faults; what a tensor is like was decided before the launch.
bool ThreadSpeller::reaches_out(ir::OpId id) const {
  bool found = false;
  auto look = [&](ir::OpId one) {
    const ir::Op& op = kernel_.op(one);
    found |= op.is<ir::op::Fault>() || op.is<ir::op::TakeBlock>();
    if (op.is<ir::op::HasBoxes>() || op.is<ir::op::IsAligned>() || op.is<ir::op::Extent>()) return;
    ir::each_operand(op.data, [&](ir::ValueId v) { found |= type(v).is_buffer() && type(v).space != ir::Space::Shared; });
  };
  look(id);
  ir::each_region(kernel_.op(id).data, [&](ir::RegionId region) { ir::each_op(kernel_, region, look); });
  return found;
}

// The next launch's blocks come where this one's leave room, once all of this one have begun, and wait there themselves.
void ThreadSpeller::await_earlier_launches() {
  if (std::exchange(has_awaited_, true)) return;
  if (machine_.has(Cap::DependentLaunch)) tied("griddepcontrol.wait; griddepcontrol.launch_dependents;", {}, {});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::RegisterBudget& x) {
  constexpr int64_t kRegisterStep = 8;  // in which registers are given out
  int64_t begins = machine_.block_registers / threads_ / kRegisterStep * kRegisterStep;
  if (x.registers == begins) return;
  tied(std::string("setmaxnreg.") + (x.registers > begins ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(x.registers) + ";", {}, {});
}

}  // namespace tilec::target
