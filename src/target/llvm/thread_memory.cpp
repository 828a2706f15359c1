// Loads, stores and atomics of one thread.
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ir/overlap.h"
#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Align;
using llvm::Value;

Value* ThreadSpeller::element_pointer(ir::ValueId buffer, ir::ValueId index) {
  Value* place = to_index(operand(index, true), type(index).element);
  return b_.CreateGEP(memory_type(type(buffer).element), places_.at(buffer.index).pointer, place);
}

// Vectors begin at a multiple of their size: in shared tiles the layouts see to it, elsewhere the kernel has asked.
Values ThreadSpeller::load(ir::ValueId buffer, Value* pointer, int64_t count) {
  const ir::Type& memory = type(buffer);
  llvm::Type* element = memory_type(memory.element);
  llvm::Type* whole = count == 1 ? element : llvm::FixedVectorType::get(element, unsigned(count));
  auto* load = b_.CreateAlignedLoad(whole, pointer, Align(uint64_t(byte_width(memory.element) * count)));
  tag(load, places_.at(buffer.index));
  // What no call writes may go past the caches that are not kept coherent.
  if (ir::is_never_written(kernel_, buffer))
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  Values parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(count == 1 ? load : b_.CreateExtractElement(load, uint64_t(i)));
  return parts;
}

// Words that the first cache does not keep; in the second, whole lines of them come at once.
Values ThreadSpeller::load_stream(ir::ValueId buffer, Value* pointer, int64_t count) {
  constexpr int64_t kWord = 4;
  llvm::Type* element = memory_type(type(buffer).element);
  int64_t each = kWord / byte_width(type(buffer).element), words = count / std::max<int64_t>(each, 1);
  llvm::Type* word = b_.getInt32Ty();
  std::string outputs, text;
  for (int64_t i = 0; i < words; ++i) {
    outputs += "=r,";
    text += (i ? ", $" : "$") + std::to_string(i);
  }
  std::string shape = words == 1 ? ".b32 " + text : ".v" + std::to_string(words) + ".b32 {" + text + "}";
  std::vector<llvm::Type*> types(size_t(words), word);
  llvm::Type* result = words == 1 ? word : llvm::StructType::get(context_, types);
  auto* function = llvm::FunctionType::get(result, {pointer->getType()}, false);
  // Nobody writes there while the kernel runs: it may stand anywhere behind the tests of its address.
  auto* asked = llvm::InlineAsm::get(function, "ld.global.nc.L1::no_allocate.L2::128B" + shape + ", [$" + std::to_string(words) + "];", outputs + "l", false);
  Value* loaded = b_.CreateCall(asked, {pointer});
  Values parts;
  for (int64_t i = 0; i < words; ++i) {
    Value* one = words == 1 ? loaded : b_.CreateExtractValue(loaded, unsigned(i));
    Value* elements = b_.CreateBitCast(one, each == 1 ? element : llvm::FixedVectorType::get(element, unsigned(each)));
    for (int64_t e = 0; e < each; ++e) parts.push_back(each == 1 ? elements : b_.CreateExtractElement(elements, uint64_t(e)));
  }
  return parts;
}

void ThreadSpeller::store(ir::ValueId buffer, Value* pointer, const Values& parts) {
  const ir::Type& memory = type(buffer);
  // Vectors of bytes longer than a word would be stored word by word: they are stored as words.
  bool is_of_words = byte_width(memory.element) == 1 && parts.size() > 4;
  Values pieces = is_of_words ? packed(parts) : parts;
  Value* whole = pieces[0];
  if (pieces.size() > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(pieces[0]->getType(), unsigned(pieces.size())));
    for (size_t i = 0; i < pieces.size(); ++i) whole = b_.CreateInsertElement(whole, pieces[i], uint64_t(i));
  }
  tag(b_.CreateAlignedStore(whole, pointer, Align(uint64_t(byte_width(memory.element)) * parts.size())), places_.at(buffer.index));
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::MemLoad& x) {
  const ir::Type result = type(op.result());
  int64_t count = part_count(result);
  Value* mask = masked_or_null(x.mask);
  // Vectors of whole words, as far as a lane loads them.
  int64_t bytes = count * byte_width(result.element);
  bool streams = x.streams && count > 1 && byte_width(result.element) <= 4 && bytes >= 4 && bytes <= 16;
  auto loaded_from = [&](Value* pointer) { return x.peer.valid() ? load(x.buffer, peer_pointer(pointer, x.peer), count) : streams ? load_stream(x.buffer, pointer, count) : load(x.buffer, pointer, count); };
  Held h;
  if (!mask) {
    h.parts = loaded_from(element_pointer(x.buffer, x.index));
  } else {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *inside = nullptr;
    Values loaded;
    unless_clear(mask, false, [&] {
      loaded = loaded_from(element_pointer(x.buffer, x.index));
      inside = b_.GetInsertBlock();
    });
    for (Value* part : loaded) {
      llvm::PHINode* merged = b_.CreatePHI(part->getType(), 2);
      merged->addIncoming(llvm::Constant::getNullValue(part->getType()), before);
      merged->addIncoming(part, inside);
      h.parts.push_back(merged);
    }
  }
  for (Value*& part : h.parts) part = from_memory(result.element, part);
  held_[op.result().index] = std::move(h);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::MemStore& x) {
  Scalar element = type(x.buffer).element;
  Values parts;
  for (Value* part : held(x.value).parts) parts.push_back(to_memory(element, part));
  auto act = [&] { store(x.buffer, element_pointer(x.buffer, x.index), parts); };
  if (Value* mask = masked_or_null(x.mask)) unless_clear(mask, false, act);
  else act();
}

// Where nothing differs between the lanes it is one operation of the warp, not one of each.
bool ThreadSpeller::is_one_for_warp(const ir::op::MemAtomic& x) const {
  bool varies = type(x.index).varying || (x.mask.valid() && type(x.mask).varying);
  for (ir::ValueId v : x.operands) varies |= type(v).varying;
  return !varies;
}

// LLVM spells atomics of this target without their order.
void ThreadSpeller::fence(ir::MemoryOrder order, bool is_before) {
  bool is_wanted = order == ir::MemoryOrder::AcquireRelease || order == (is_before ? ir::MemoryOrder::Release : ir::MemoryOrder::Acquire);
  if (is_wanted) b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
}

// Neighbours that begin at a multiple of their size, each added for itself.
void ThreadSpeller::add_vector(const ir::op::MemAtomic& x) {
  Scalar element = type(x.buffer).element;
  Values parts, operands = {element_pointer(x.buffer, x.index)};
  for (Value* part : held(x.operands[0]).parts) parts.push_back(to_memory(element, part));
  Values words = packed(parts);
  std::string text = byte_width(element) == 4 ? ".f32" : element == Scalar::F16 ? ".noftz.f16x2" : ".noftz.bf16x2", list;
  INVARIANT(x.fn == ir::AtomicFn::Add && byte_width(element) * int64_t(parts.size()) <= machine_.adds.bytes && is_float(element),
            "lanes add as much at once as the machine can");
  for (Value* word : words) {
    list += (list.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(word);
  }
  bool is_one = words.size() == 1;
  std::string shape = is_one ? "" : ".v" + std::to_string(words.size());
  // The vector's size stands behind the type's rounding: red.global.add.noftz.v2.f16x2.
  size_t dot = text.rfind('.');
  text.insert(dot, shape);
  tied("red.relaxed.gpu.global.add" + text + " [$0], " + (is_one ? list : "{" + list + "}") + ";", {}, operands);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::MemAtomic& x) {
  if (held(x.operands[0]).parts.size() > 1) {
    if (Value* mask = masked_or_null(x.mask)) unless_clear(mask, false, [&] { add_vector(x); });
    else add_vector(x);
    return;
  }
  Scalar element = type(x.buffer).element;
  Values operands;
  for (ir::ValueId v : x.operands) operands.push_back(to_memory(element, operand(v, true)));
  Value *mask = masked_or_null(x.mask), *leader = nullptr;
  if (is_one_for_warp(x)) {
    leader = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members(), b_.getTrue());
    Value* leads = b_.CreateICmpEQ(lane_number(), leader);
    mask = mask ? b_.CreateAnd(mask, leads) : leads;
  }
  Value* old = nullptr;
  auto act = [&] {
    fence(x.order, true);
    old = atomic_once(x, places_.at(x.buffer.index), element, element_pointer(x.buffer, x.index), operands);
    fence(x.order, false);
  };
  if (!mask) {
    act();
  } else {
    llvm::BasicBlock *before = b_.GetInsertBlock(), *inside = nullptr;
    unless_clear(mask, false, [&] {
      act();
      inside = b_.GetInsertBlock();
    });
    llvm::PHINode* merged = b_.CreatePHI(old->getType(), 2);
    merged->addIncoming(llvm::Constant::getNullValue(old->getType()), before);
    merged->addIncoming(old, inside);
    old = merged;
  }
  if (op.results.empty()) return;
  Value* result = from_memory(element, old);
  if (leader) result = exchange(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, result, leader, kLastLane);
  hold(op.result(), result);
}

}  // namespace tilec::target
