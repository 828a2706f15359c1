// Rows of a tensor, wherever they begin, to rows that begin at multiples of 16 bytes; what a row of the copy has more is zero. Units are
// as wide as all addresses allow. A thread reads kPackSteps of them before it writes the first, so that enough are under way.
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

class PackMaker {
 public:
  PackMaker(llvm::Function& function, const DeviceCode& code)
      : function_(function), context_(function.getContext()), b_(BasicBlock::Create(context_, "entry", &function)), word_(b_.getInt64Ty()) {
    Value* words = function.getArg(0);
    for (int i = 0; i < kPackWords; ++i) words_.push_back(b_.CreateLoad(word_, b_.CreateConstGEP1_64(word_, words, uint64_t(i))));
    thread_ = b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}), word_);
    if (code.machine->has(Cap::DependentLaunch))
      b_.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b_.getVoidTy(), {}, false), "griddepcontrol.wait; griddepcontrol.launch_dependents;",
                                         "~{memory}", true), {});
  }

  // for (piece = block; piece < rows * pieces; piece += blocks)
  void make() {
    Value* block = b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}), word_);
    Value* blocks = b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {}), word_);
    Value* all = b_.CreateMul(rows(), pieces());
    BasicBlock *entry = b_.GetInsertBlock(), *head = begin("turn"), *body = begin("body"), *next = begin("next"), *end = begin("end");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* piece = b_.CreatePHI(word_, 2);
    piece->addIncoming(block, entry);
    b_.CreateCondBr(b_.CreateICmpULT(piece, all), body, end);
    b_.SetInsertPoint(body);
    spell_piece(piece, next);
    b_.SetInsertPoint(next);
    piece->addIncoming(b_.CreateAdd(piece, blocks), next);
    b_.CreateBr(head);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

 private:
  Value* from() { return words_[0]; }
  Value* to() { return words_[1]; }
  Value* unit() { return words_[2]; }
  Value* units() { return words_[3]; }
  Value* padded() { return words_[4]; }
  Value* pieces() { return words_[5]; }
  Value* rows() { return words_[6]; }
  Value* extent(int axis) { return words_[size_t(7 + axis)]; }
  Value* stride(int axis) { return words_[size_t(7 + kPackAxes + axis)]; }
  Value* has_one_axis() { return b_.CreateICmpNE(words_[7 + 2 * kPackAxes], b_.getInt64(0)); }
  BasicBlock* begin(const char* name) { return BasicBlock::Create(context_, name, &function_); }

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

  void spell_piece(Value* piece, BasicBlock* next) {
    constexpr int kWidths = 5;  // of 1, 2, 4, 8, 16 bytes
    Value* row = b_.CreateUDiv(piece, pieces());
    Value* number = b_.CreateSub(piece, b_.CreateMul(row, pieces()));
    Value* first = b_.CreateAdd(b_.CreateMul(number, b_.getInt64(kPackThreads * kPackSteps)), thread_);
    Value* source = row_address(row);
    Value* target = b_.CreateAdd(to(), b_.CreateShl(b_.CreateMul(row, padded()), unit()));
    BasicBlock* widest = begin("units");
    llvm::SwitchInst* by_unit = b_.CreateSwitch(unit(), widest, kWidths - 1);
    for (int width = 0; width < kWidths; ++width) {
      BasicBlock* block = width + 1 < kWidths ? begin("units") : widest;
      if (block != widest) by_unit->addCase(b_.getInt64(uint64_t(width)), block);
      b_.SetInsertPoint(block);
      llvm::Type* type = llvm::FixedVectorType::get(b_.getInt32Ty(), 4);
      if (block != widest) type = b_.getIntNTy(8u << width);
      copy_units(type, 1u << width, source, target, first);
      b_.CreateBr(next);
    }
  }

  Value* pointer(Value* base, Value* index, unsigned bytes) {
    Value* address = b_.CreateAdd(base, b_.CreateMul(index, b_.getInt64(bytes)));
    return b_.CreateIntToPtr(address, llvm::PointerType::get(context_, kGlobalSpace));
  }

  // No load is behind a branch: what lies beyond the row's end is read at its end, and zero.
  void copy_units(llvm::Type* type, unsigned bytes, Value* source, Value* target, Value* first) {
    std::vector<Value*> places, read;
    Value* last = b_.CreateSub(units(), b_.getInt64(1));
    for (int step = 0; step < kPackSteps; ++step) {
      Value* at = b_.CreateAdd(first, b_.getInt64(uint64_t(step * kPackThreads)));
      Value* inside = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, last);
      inside = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, inside, b_.getInt64(0));
      llvm::LoadInst* load = b_.CreateAlignedLoad(type, pointer(source, inside, bytes), llvm::Align(bytes));
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
      places.push_back(at);
      read.push_back(b_.CreateSelect(b_.CreateICmpSLE(at, last), load, llvm::Constant::getNullValue(type)));
    }
    for (int step = 0; step < kPackSteps; ++step) {
      BasicBlock *taken = begin("store"), *behind = begin("stored");
      b_.CreateCondBr(b_.CreateICmpULT(places[size_t(step)], padded()), taken, behind);
      b_.SetInsertPoint(taken);
      b_.CreateAlignedStore(read[size_t(step)], pointer(target, places[size_t(step)], bytes), llvm::Align(bytes));
      b_.CreateBr(behind);
      b_.SetInsertPoint(behind);
    }
  }

  llvm::Function& function_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Type* word_;
  std::vector<Value*> words_;
  Value* thread_ = nullptr;
};

}  // namespace

void add_pack_kernel(llvm::Module& module, const DeviceCode& code) {
  auto* words = llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), kPackWords);
  const KernelParameter parameter{words, 8};
  PackMaker(*new_kernel_function(module, kPackName, std::span(&parameter, 1), kPackThreads, code), code).make();
}

}  // namespace tilec::target
