// Rows of a tensor, wherever they begin, to rows that begin at multiples of 16 bytes; what a row of the copy has more is zero. A thread makes
// units of 16 bytes of the copy: it reads the two units of memory that hold what belongs there, as whole ones, and shifts. Where these reach
// beyond the tensor it reads bytes. The rows of the copy are one line of units, so that short rows keep as many threads busy as long ones.
#include "target/llvm/pack_kernel.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/abi/boxes.h"
#include "target/llvm/device.h"
#include "target/llvm/device_kernel.h"

namespace tilec::target {

namespace {

using llvm::BasicBlock;
using llvm::Value;

constexpr int64_t kBlocksOfCore = 4;
constexpr int64_t kUnit = 16, kWords = kUnit / 4;

using Words = std::vector<Value*>;

class PackMaker {
 public:
  PackMaker(llvm::Function& function, const DeviceCode& code)
      : function_(function), context_(function.getContext()), b_(BasicBlock::Create(context_, "entry", &function)), word_(b_.getInt64Ty()) {
    Value* words = function.getArg(0);
    for (int i = 0; i < kPackWords; ++i) words_.push_back(b_.CreateLoad(word_, b_.CreateConstGEP1_64(word_, words, uint64_t(i))));
    if (code.machine->has(Cap::DependentLaunch)) instruction(b_.getVoidTy(), "griddepcontrol.wait; griddepcontrol.launch_dependents;", "~{memory}", {});
  }

  // for (unit = block * piece + thread; unit < all; unit += blocks * piece)
  void make() {
    Value *piece = number(kPackThreads * kPackSteps), *blocks = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    Value* first = b_.CreateAdd(b_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), piece), special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
    BasicBlock *entry = b_.GetInsertBlock(), *head = begin("turn"), *body = begin("body"), *end = begin("end");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* unit = b_.CreatePHI(word_, 2);
    unit->addIncoming(first, entry);
    b_.CreateCondBr(b_.CreateICmpULT(unit, all()), body, end);
    b_.SetInsertPoint(body);
    std::vector<Unit> read;
    for (int64_t step = 0; step < kPackSteps; ++step) read.push_back(read_unit(b_.CreateAdd(unit, number(step * kPackThreads))));
    for (const Unit& one : read) write_unit(one);
    unit->addIncoming(b_.CreateAdd(unit, b_.CreateMul(blocks, piece)), b_.GetInsertBlock());
    b_.CreateBr(head);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

 private:
  // Of the copy, and what of the tensor belongs there: `left` bytes at `source`, which lie in `memory` if that is inside of the tensor.
  struct Unit {
    Value *to, *is_there, *source, *left, *is_inside;
    Words memory;
  };

  Value* from() { return words_[0]; }
  Value* to() { return words_[1]; }
  Value* row_bytes() { return words_[2]; }
  Value* padded() { return words_[3]; }
  Value* all() { return words_[4]; }
  Value* low() { return words_[5]; }
  Value* high() { return words_[6]; }
  Value* has_one_axis() { return b_.CreateICmpNE(words_[7], number(0)); }
  Value* extent(int axis) { return words_[size_t(8 + axis)]; }
  Value* stride(int axis) { return words_[size_t(8 + kPackAxes + axis)]; }
  BasicBlock* begin(const char* name) { return BasicBlock::Create(context_, name, &function_); }
  Value* number(int64_t n) { return b_.getInt64(uint64_t(n)); }
  Value* special(llvm::Intrinsic::ID id) { return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), word_); }

  // Where a row begins in the tensor; divisions only where its rows have several axes.
  Value* row_address(Value* row) {
    BasicBlock *here = b_.GetInsertBlock(), *deep = begin("axes"), *flat = begin("row");
    Value* first = b_.CreateAdd(from(), b_.CreateMul(row, stride(0)));
    b_.CreateCondBr(has_one_axis(), flat, deep);
    b_.SetInsertPoint(deep);
    Value *address = from(), *rest = row;
    for (int axis = 0; axis < kPackAxes; ++axis) {
      Value* quotient = axis + 1 < kPackAxes ? b_.CreateUDiv(rest, extent(axis)) : nullptr;
      Value* at = quotient ? b_.CreateSub(rest, b_.CreateMul(quotient, extent(axis))) : rest;
      address = b_.CreateAdd(address, b_.CreateMul(at, stride(axis)));
      rest = quotient;
    }
    b_.CreateBr(flat);
    b_.SetInsertPoint(flat);
    llvm::PHINode* result = b_.CreatePHI(word_, 2);
    result->addIncoming(first, here);
    result->addIncoming(address, deep);
    return result;
  }

  Value* skew(const Unit& unit) { return b_.CreateTrunc(b_.CreateAnd(unit.source, number(kUnit - 1)), b_.getInt32Ty()); }

  Unit read_unit(Value* index) {
    Unit unit;
    unit.is_there = b_.CreateICmpULT(index, all());
    Value *row = b_.CreateUDiv(index, padded()), *before = b_.CreateMul(b_.CreateSub(index, b_.CreateMul(row, padded())), number(kUnit));
    Value* rest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(row_bytes(), before), number(0));
    rest = b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, number(kUnit)), b_.getInt32Ty());
    unit.left = b_.CreateSelect(unit.is_there, rest, b_.getInt32(0));
    unit.to = b_.CreateAdd(to(), b_.CreateMul(index, number(kUnit)));
    unit.source = b_.CreateAdd(row_address(row), before);
    Value *whole = b_.CreateAnd(unit.source, number(-kUnit)), *next = b_.CreateAdd(whole, number(kUnit));
    Value *has_first = b_.CreateICmpNE(unit.left, b_.getInt32(0)), *has_next = b_.CreateICmpUGT(b_.CreateAdd(unit.left, skew(unit)), b_.getInt32(kUnit));
    Value* behind = b_.CreateAdd(b_.CreateSelect(has_next, next, whole), number(kUnit));
    unit.is_inside = b_.CreateAnd(b_.CreateICmpUGE(whole, low()), b_.CreateICmpULE(behind, high()));
    auto* words = llvm::StructType::get(context_, std::vector<llvm::Type*>(size_t(kWords), b_.getInt32Ty()));
    for (auto [address, is_read] : {std::pair{whole, has_first}, std::pair{next, has_next}}) {
      Value* read = instruction(words, "{ .reg .pred p; setp.ne.u32 p, $4, 0; mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; "
                                       "@p ld.global.nc.v4.u32 {$0, $1, $2, $3}, [$5]; }", "=&r,=&r,=&r,=&r,r,l",
                                {b_.CreateZExt(b_.CreateAnd(is_read, unit.is_inside), b_.getInt32Ty()), address});
      for (unsigned i = 0; i < kWords; ++i) unit.memory.push_back(b_.CreateExtractValue(read, i));
    }
    return unit;
  }

  // The words at `skew` of those read: by whole words first, then by bytes.
  Words shifted(Words words, Value* skew) {
    for (int64_t by : {2, 1}) {
      Value* is_far = b_.CreateICmpNE(b_.CreateAnd(skew, b_.getInt32(uint32_t(4 * by))), b_.getInt32(0));
      for (size_t i = 0; i + size_t(by) < words.size(); ++i) words[i] = b_.CreateSelect(is_far, words[i + size_t(by)], words[i]);
      words.resize(words.size() - size_t(by));
    }
    Value* bits = b_.CreateShl(b_.CreateAnd(skew, b_.getInt32(3)), 3);
    for (size_t i = 0; i < kWords; ++i) words[i] = b_.CreateIntrinsic(llvm::Intrinsic::fshr, {b_.getInt32Ty()}, {words[i + 1], words[i], bits});
    words.resize(kWords);
    return words;
  }

  // At the tensor's ends, of which a unit of memory may hold what is not the tensor's.
  Words by_bytes(const Unit& unit) {
    Words words(size_t(kWords), b_.getInt32(0));
    for (uint32_t i = 0; i < kUnit; ++i) {
      Value* is_read = b_.CreateZExt(b_.CreateICmpUGT(unit.left, b_.getInt32(i)), b_.getInt32Ty());
      Value* byte = instruction(b_.getInt32Ty(), "{ .reg .pred p; setp.ne.u32 p, $1, 0; mov.b32 $0, 0; @p ld.global.nc.u8 $0, [$2+" + std::to_string(i) + "]; }",
                                "=&r,r,l", {is_read, unit.source});
      words[i / 4] = b_.CreateOr(words[i / 4], b_.CreateShl(byte, 8 * (i % 4)));
    }
    return words;
  }

  void write_unit(const Unit& unit) {
    BasicBlock *whole = begin("units"), *bytes = begin("bytes"), *write = begin("write");
    b_.CreateCondBr(unit.is_inside, whole, bytes);
    b_.SetInsertPoint(whole);
    Words by_units = shifted(unit.memory, skew(unit));
    for (size_t i = 0; i < kWords; ++i) {
      // A shift by all bits of a word leaves none, which LLVM's does not promise.
      Value* kept = b_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, unit.left, b_.getInt32(uint32_t(4 * i)));
      Value* bits = b_.CreateZExt(b_.CreateShl(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, kept, b_.getInt32(4)), 3), word_);
      Value* mask = b_.CreateTrunc(b_.CreateSub(b_.CreateShl(number(1), bits), number(1)), b_.getInt32Ty());
      by_units[i] = b_.CreateAnd(by_units[i], mask);
    }
    b_.CreateBr(write);
    b_.SetInsertPoint(bytes);
    Words at_ends = by_bytes(unit);
    b_.CreateBr(write);
    b_.SetInsertPoint(write);
    Words words;
    for (size_t i = 0; i < kWords; ++i) {
      llvm::PHINode* word = b_.CreatePHI(b_.getInt32Ty(), 2);
      word->addIncoming(by_units[i], whole);
      word->addIncoming(at_ends[i], bytes);
      words.push_back(word);
    }
    Words values = {b_.CreateZExt(unit.is_there, b_.getInt32Ty()), unit.to};
    values.insert(values.end(), words.begin(), words.end());
    instruction(b_.getVoidTy(), "{ .reg .pred p; setp.ne.u32 p, $0, 0; @p st.global.v4.u32 [$1], {$2, $3, $4, $5}; }", "r,l,r,r,r,r,~{memory}", values);
  }

  // One that writes has no value. They stay in this order, behind the wait for the launch before.
  Value* instruction(llvm::Type* type, const std::string& text, const std::string& constraints, const std::vector<Value*>& values) {
    std::vector<llvm::Type*> types;
    for (Value* value : values) types.push_back(value->getType());
    return b_.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), text, constraints, true), values);
  }

  llvm::Function& function_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Type* word_;
  std::vector<Value*> words_;
};

}  // namespace

void add_pack_kernel(llvm::Module& module, const DeviceCode& code) {
  auto* words = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), kPackWords);
  const KernelParameter parameter{words, 8};
  PackMaker(*new_kernel_function(module, kPackName, std::span(&parameter, 1), kPackThreads, code, kBlocksOfCore), code).make();
}

}  // namespace tilec::target
