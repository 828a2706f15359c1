// Loads and stores. Lanes side by side are one vector access, lanes at one place a scalar one, all others a gather or a
// scatter, which LLVM writes out lane by lane where the machine has none.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <numeric>

#include "target/llvm/lane_speller.h"

namespace tilec::target {

using llvm::Align;
using llvm::Value;

LaneSpeller::Target LaneSpeller::resolve(ir::ValueId buffer, ir::ValueId index, int64_t lane_stride) {
  const ir::Type &memory = type(buffer), &number = type(index);
  Target target{memory, places_.at(buffer.index)};
  Value* lanes = b_.getInt64(width_);
  if (memory.varying) target.step = width_;  // a copy a lane: element i of lane l is at i * lanes + l
  if (!number.varying) {
    INVARIANT(lane_stride == 0 || lane_stride == ir::kUnknownStride, "lanes with one index have no stride");
    target.first = to_index(operand(index, false), number.element);
    if (memory.varying) target.first = b_.CreateMul(target.first, lanes);
    target.stride = memory.varying ? 1 : 0;
  } else if (starts_at_first_lane(memory, number, lane_stride)) {
    target.first = to_index(first_lane(index), number.element);
    target.stride = lane_stride;
  } else {
    target.indices = to_index(operand(index, true), number.element);
    if (memory.varying)
      target.indices = b_.CreateAdd(b_.CreateMul(target.indices, splat(lanes)), lane_numbers(b_.getInt64Ty()));
  }
  return target;
}

// The address of element `element` of lane 0's vector.
Value* LaneSpeller::element_pointer(const Target& target, int64_t element) {
  Value* index = b_.CreateAdd(target.first, b_.getInt64(element * target.step));
  return b_.CreateGEP(memory_type(target.buffer.element), target.place.pointer, index);
}

// The address of every lane.
Value* LaneSpeller::lane_pointers(const Target& target, int64_t element) {
  llvm::Type* memory = memory_type(target.buffer.element);
  if (target.first) {
    Value* base = element_pointer(target, element);
    return b_.CreateGEP(memory, base, lane_numbers(b_.getInt64Ty(), target.stride));
  }
  Value* indices = b_.CreateAdd(target.indices, splat(b_.getInt64(element * target.step)));
  return b_.CreateGEP(memory, target.place.pointer, indices);
}

// One element at one place. Where no lane wants it the memory is not touched.
Value* LaneSpeller::load_scalar(const Target& target, int64_t element, Value* mask) {
  llvm::Type* memory = memory_type(target.buffer.element);
  Align align(byte_width(target.buffer.element));
  auto load = [&] {
    return tag(b_.CreateAlignedLoad(memory, element_pointer(target, element), align), target.place);
  };
  if (!mask) return load();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loaded = nullptr;
  Value* x = nullptr;
  unless_clear(any_lane(mask), false, [&] {
    x = load();
    loaded = b_.GetInsertBlock();
  });
  llvm::PHINode* result = b_.CreatePHI(memory, 2);
  result->addIncoming(llvm::Constant::getNullValue(memory), before);
  result->addIncoming(x, loaded);
  return result;
}

Value* LaneSpeller::load_part(const Target& target, int64_t element, bool varying, Value* mask) {
  llvm::Type* memory = memory_type(target.buffer.element);
  Align align(byte_width(target.buffer.element));
  if (target.first && target.stride == 0) {
    Value* x = load_scalar(target, element, mask);
    if (!varying) return x;
    if (!mask || !mask->getType()->isVectorTy()) return splat(x);
    return b_.CreateSelect(mask, splat(x), llvm::Constant::getNullValue(splat(x)->getType()));
  }
  INVARIANT(varying, "one value cannot be loaded from many places");
  auto* lanes = llvm::FixedVectorType::get(memory, width_);
  Value* zero = llvm::Constant::getNullValue(lanes);
  if (target.first && target.stride == 1) {
    Value* pointer = element_pointer(target, element);
    if (!mask) return tag(b_.CreateAlignedLoad(lanes, pointer, align), target.place);
    return tag(b_.CreateMaskedLoad(lanes, pointer, align, splat(mask), zero), target.place);
  }
  Value* all = mask ? splat(mask) : llvm::ConstantInt::getTrue(shaped(b_.getInt1Ty(), zero));
  return tag(b_.CreateMaskedGather(lanes, lane_pointers(target, element), align, all, zero), target.place);
}

// Streaming stores write whole units of this size; a line is gathered before it goes to memory.
constexpr uint64_t kStreamBytes = 16;

// Lanes side by side: past the caches where that is better and they begin at a multiple of a unit, which only the call knows.
void LaneSpeller::store_lanes(const Place& place, Value* pointer, Value* value, Align align) {
  uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  bool may_stream = place.streams && bytes % kStreamBytes == 0;
  auto keep = [&] { tag(b_.CreateAlignedStore(value, pointer, align), place); };
  if (!may_stream) return keep();
  Value* rest = b_.CreateAnd(b_.CreatePtrToInt(pointer, b_.getInt64Ty()), b_.getInt64(kStreamBytes - 1));
  llvm::BasicBlock *past = new_block("past"), *kept = new_block("kept"), *after = new_block("after");
  b_.CreateCondBr(b_.CreateAnd(place.streams, b_.CreateICmpEQ(rest, b_.getInt64(0))), past, kept);
  b_.SetInsertPoint(past);
  unsigned step = unsigned(kStreamBytes / (bytes / width_));
  for (unsigned lane = 0; lane < width_; lane += step) {
    llvm::SmallVector<int, 16> unit(step);
    std::iota(unit.begin(), unit.end(), int(lane));
    Value* address = b_.CreateConstGEP1_64(value->getType()->getScalarType(), pointer, lane);
    llvm::Instruction* store = tag(b_.CreateAlignedStore(b_.CreateShuffleVector(value, unit), address, Align(kStreamBytes)), place);
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
  }
  b_.CreateBr(after);
  b_.SetInsertPoint(kept);
  keep();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void LaneSpeller::store_part(const Target& target, int64_t element, Value* value, Value* mask) {
  Align align(byte_width(target.buffer.element));
  bool is_one = !value->getType()->isVectorTy();
  if (target.first && target.stride == 0 && is_one) {
    auto store = [&] { tag(b_.CreateAlignedStore(value, element_pointer(target, element), align), target.place); };
    return mask ? unless_clear(any_lane(mask), false, store) : store();
  }
  value = splat(value);
  if (target.first && target.stride == 1) {
    Value* pointer = element_pointer(target, element);
    if (mask) tag(b_.CreateMaskedStore(value, pointer, align, splat(mask)), target.place);
    else store_lanes(target.place, pointer, value, align);
    return;
  }
  Value* all = mask ? splat(mask) : llvm::ConstantInt::getTrue(shaped(b_.getInt1Ty(), value));
  tag(b_.CreateMaskedScatter(value, lane_pointers(target, element), align, all), target.place);
}

// Lanes whose vectors lie end to end: one wide access, then a shuffle for each element.
Values LaneSpeller::load_interleaved(const Target& target, int64_t count) {
  auto* wide = llvm::FixedVectorType::get(memory_type(target.buffer.element), unsigned(width_ * count));
  Value* all = tag(b_.CreateAlignedLoad(wide, element_pointer(target, 0), Align(byte_width(target.buffer.element))), target.place);
  Values parts;
  for (int64_t element = 0; element < count; ++element) {
    llvm::SmallVector<int, 16> sources;
    for (int64_t lane = 0; lane < int64_t(width_); ++lane) sources.push_back(int(lane * count + element));
    parts.push_back(b_.CreateShuffleVector(all, sources));
  }
  return parts;
}

void LaneSpeller::one(const ir::Op& op, const ir::op::MemLoad& x) {
  const ir::Type result = type(op.result());
  Target target = resolve(x.buffer, x.index, x.lane_stride);
  Value* mask = masked_or_null(x.mask);
  int64_t count = part_count(result);
  Held h;
  if (count > 1 && target.first && target.stride == count && target.step == 1 && !mask) h.parts = load_interleaved(target, count);
  else
    for (int64_t i = 0; i < count; ++i) h.parts.push_back(load_part(target, i, result.varying, mask));
  for (Value*& part : h.parts) part = from_memory(result.element, part);
  held_[op.result().index] = std::move(h);
}

// To read, and to keep near.
void LaneSpeller::one(const ir::Op&, const ir::op::Prefetch& x) {
  Value* pointer = element_pointer(resolve(x.buffer, x.index, 0), 0);
  Value *is_read = b_.getInt32(0), *most_local = b_.getInt32(3), *is_data = b_.getInt32(1);
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()}, {pointer, is_read, most_local, is_data});
}

void LaneSpeller::one(const ir::Op&, const ir::op::MemStore& x) {
  Target target = resolve(x.buffer, x.index, x.lane_stride);
  Value* mask = masked_or_null(x.mask);
  const Values parts = held(x.value).parts;
  for (size_t i = 0; i < parts.size(); ++i) store_part(target, int64_t(i), to_memory(target.buffer.element, parts[i]), mask);
}

}  // namespace tilec::target
