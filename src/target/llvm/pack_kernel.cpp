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

constexpr int64_t kBlocksOfCore = 8;  // as many threads as a core holds: reads of narrow units are many

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
    Value* row = b_.CreateUDiv(piece, pieces());
    Value* number = b_.CreateSub(piece, b_.CreateMul(row, pieces()));
    Value* first = b_.CreateAdd(b_.CreateMul(number, b_.getInt64(kPackThreads * kPackSteps)), thread_);
    Value* source = b_.CreateAdd(row_address(row), b_.CreateShl(first, unit()));
    Value* target = b_.CreateAdd(to(), b_.CreateShl(b_.CreateAdd(b_.CreateMul(row, padded()), first), unit()));
    Value *readable = b_.CreateSub(units(), first), *writable = b_.CreateSub(padded(), first);
    BasicBlock* widest = begin("units");
    llvm::SwitchInst* by_unit = b_.CreateSwitch(unit(), widest, unsigned(std::size(kWidths) - 1));
    for (size_t i = 0; i < std::size(kWidths); ++i) {
      BasicBlock* block = i + 1 < std::size(kWidths) ? begin("units") : widest;
      if (block != widest) by_unit->addCase(b_.getInt64(i), block);
      b_.SetInsertPoint(block);
      copy_units(kWidths[i], source, target, readable, writable);
      b_.CreateBr(next);
    }
  }

  // How a unit is read and written, and in how many registers of which kind.
  struct Width {
    int bytes;
    const char* type;
    char kind;
    int registers;
  };
  static constexpr Width kWidths[] = {{1, "u8", 'r', 1}, {2, "u16", 'r', 1}, {4, "u32", 'r', 1}, {8, "u64", 'l', 1}, {16, "v4.u32", 'r', 4}};

  // "$1", or "{$1, $2, $3, $4}"
  static std::string operands(const Width& width, int first) {
    std::string list;
    for (int i = 0; i < width.registers; ++i) list += (i ? ", $" : "$") + std::to_string(first + i);
    return width.registers > 1 ? "{" + list + "}" : list;
  }

  // Masked, not behind branches, so that all reads are under way before the first write; what lies beyond the row's end is zero.
  void copy_units(const Width& width, Value* source, Value* target, Value* readable, Value* writable) {
    llvm::Type* part = width.kind == 'l' ? b_.getInt64Ty() : b_.getInt32Ty();
    llvm::Type* unit = part;
    if (width.registers > 1) unit = llvm::StructType::get(context_, std::vector<llvm::Type*>(size_t(width.registers), part));
    std::string out, in, zeros, kind(1, width.kind);
    for (int i = 0; i < width.registers; ++i) {
      out += (i ? ",=" : "=") + kind, in += kind + ",";
      zeros += "mov.b" + std::string(width.kind == 'l' ? "64" : "32") + " $" + std::to_string(i) + ", 0; ";
    }
    const std::string count = "$" + std::to_string(width.registers), from = "$" + std::to_string(width.registers + 1);
    std::vector<Value*> read;
    for (int step = 0; step < kPackSteps; ++step) {
      std::string begins = std::to_string(step * kPackThreads), bytes = std::to_string(step * kPackThreads * width.bytes);
      read.push_back(instruction(unit, "{ .reg .pred p; setp.gt.s64 p, " + count + ", " + begins + "; " + zeros + "@p ld.global.nc." + width.type + " " +
                                           operands(width, 0) + ", [" + from + "+" + bytes + "]; }", out + ",l,l", {readable, source}));
    }
    for (int step = 0; step < kPackSteps; ++step) {
      std::string begins = std::to_string(step * kPackThreads), bytes = std::to_string(step * kPackThreads * width.bytes);
      std::vector<Value*> values = {writable, target};
      for (int i = 0; i < width.registers; ++i) values.push_back(width.registers > 1 ? b_.CreateExtractValue(read[size_t(step)], unsigned(i)) : read[size_t(step)]);
      instruction(b_.getVoidTy(), "{ .reg .pred p; setp.gt.s64 p, $0, " + begins + "; @p st.global." + width.type + " [$1+" + bytes + "], " + operands(width, 2) + "; }",
                  "l,l," + in + "~{memory}", values);
    }
  }

  // One that writes has no value.
  Value* instruction(llvm::Type* type, const std::string& text, const std::string& constraints, const std::vector<Value*>& values) {
    std::vector<llvm::Type*> types;
    for (Value* value : values) types.push_back(value->getType());
    auto* called = llvm::InlineAsm::get(llvm::FunctionType::get(type, types, false), text, constraints, type->isVoidTy());
    return b_.CreateCall(called, values);
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
  PackMaker(*new_kernel_function(module, kPackName, std::span(&parameter, 1), kPackThreads, code, kBlocksOfCore), code).make();
}

}  // namespace tilec::target
