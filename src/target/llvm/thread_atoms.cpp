// Matrix instructions of one warp, whose operands are registers of its lanes.
#include <llvm/IR/InlineAsm.h>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

char ThreadSpeller::constraint(llvm::Type* type) {
  if (type->isFloatTy()) return 'f';
  if (type->isIntegerTy(1)) return 'b';
  if (type->isIntegerTy(16)) return 'h';
  return type->isDoubleTy() ? 'd' : type->isIntegerTy(64) || type->isPointerTy() ? 'l' : 'r';
}

const MatrixAtom& ThreadSpeller::atom_named(std::string_view name) const {
  for (const MatrixAtom& atom : machine_.matrix_atoms)
    if (atom.name == name) return atom;
  UNREACHABLE("an atom is one of the machine's table");
}

// The registers of a fragment: elements narrower than 32 bits share one, the first in the low bits.
Values ThreadSpeller::packed(ir::ValueId v) { return packed(held(v).parts); }

Values ThreadSpeller::packed(Values parts) {
  unsigned width = unsigned(parts[0]->getType()->getPrimitiveSizeInBits()), count = 32 / std::min(width, 32u);
  if (count == 1) return parts;
  INVARIANT(parts.size() % count == 0, "a fragment fills its registers");
  Values registers;
  for (size_t i = 0; i < parts.size(); i += count) {
    Value* group = llvm::PoisonValue::get(llvm::FixedVectorType::get(parts[i]->getType(), count));
    for (unsigned k = 0; k < count; ++k) group = b_.CreateInsertElement(group, parts[i + k], uint64_t(k));
    registers.push_back(b_.CreateBitCast(group, b_.getInt32Ty()));
  }
  return registers;
}

// TEXT {results}, {a}, {b}, {c};
void ThreadSpeller::one(const ir::Op& op, const ir::op::Atom& x) {
  const MatrixAtom& atom = atom_named(x.name);
  INVARIANT(!atom.text.empty() && x.operands.size() == 3, "a matrix instruction says how it is spelled, and takes a, b and c");
  const ir::Type result = type(op.result());
  size_t results = size_t(part_count(result));
  std::string text(atom.text), constraints;
  llvm::SmallVector<llvm::Type*, 8> types(results, scalar_type(result.element)), given;
  llvm::SmallVector<Value*, 16> arguments;
  size_t next = 0;
  auto list = [&](size_t count) {
    text += next ? ", {" : " {";
    for (size_t i = 0; i < count; ++i) text += (i ? ", $" : "$") + std::to_string(next++);
    text += "}";
  };
  list(results);
  for (size_t i = 0; i < results; ++i) constraints += std::string(i ? ",=" : "=") + constraint(types[i]);
  for (ir::ValueId v : x.operands) {
    Values registers = packed(v);
    list(registers.size());
    for (Value* r : registers) {
      constraints += std::string(",") + constraint(r->getType());
      arguments.push_back(r);
      given.push_back(r->getType());
    }
  }
  auto* type = llvm::FunctionType::get(llvm::StructType::get(context_, types), given, false);
  Value* made = b_.CreateCall(llvm::InlineAsm::get(type, text + ";", constraints, false), arguments);
  llvm::cast<llvm::CallInst>(made)->addFnAttr(llvm::Attribute::Convergent);
  Held h;
  for (size_t i = 0; i < results; ++i) h.parts.push_back(b_.CreateExtractValue(made, unsigned(i)));
  held_[op.result().index] = std::move(h);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::LoadMatrices& x) {
  namespace I = llvm::Intrinsic;
  const I::ID kPlain[] = {I::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16, I::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16, I::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16};
  const I::ID kTurned[] = {I::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16, I::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16,
                           I::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16};
  Value* pointer = element_pointer(x.buffer, x.index);
  int size = std::countr_zero(uint64_t(x.count));
  Value* words = b_.CreateIntrinsic((x.transposed ? kTurned : kPlain)[size], {pointer->getType()}, {pointer});
  llvm::Type* element = memory_type(type(x.buffer).element);
  unsigned each = 4 / unsigned(byte_width(type(x.buffer).element));
  Held h;
  for (unsigned j = 0; j < unsigned(x.count); ++j) {
    Value* word = x.count == 1 ? words : b_.CreateExtractValue(words, j);
    Value* parts = b_.CreateBitCast(word, each == 1 ? element : llvm::FixedVectorType::get(element, each));
    for (unsigned e = 0; e < each; ++e) h.parts.push_back(from_memory(type(x.buffer).element, each == 1 ? parts : b_.CreateExtractElement(parts, uint64_t(e))));
  }
  held_[op.result().index] = std::move(h);
}

// Of whole warps: each lane names a row, and gives its part of each matrix.
void ThreadSpeller::one(const ir::Op&, const ir::op::StoreMatrices& x) {
  Scalar element = type(x.buffer).element;
  Values parts, operands = {element_pointer(x.buffer, x.index)};
  for (Value* part : held(x.value).parts) parts.push_back(to_memory(element, part));
  std::string words;
  for (Value* word : packed(parts)) {
    words += (words.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(b_.CreateBitCast(word, b_.getInt32Ty()));
  }
  tied("stmatrix.sync.aligned.m8n8.x" + std::to_string(x.count) + (x.transposed ? ".trans" : "") + ".shared.b16 [$0], {" + words + "};", {}, operands);
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::TurnMatrix& x) {
  Value* word = packed(x.x)[0];
  auto* type = llvm::FunctionType::get(word->getType(), {word->getType()}, false);
  auto* turned = b_.CreateCall(llvm::InlineAsm::get(type, "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", false), {word});
  turned->addFnAttr(llvm::Attribute::Convergent);
  llvm::Type* element = held(x.x).parts[0]->getType();
  Value* both = b_.CreateBitCast(turned, llvm::FixedVectorType::get(element, 2));
  Held h;
  for (uint64_t e = 0; e < 2; ++e) h.parts.push_back(b_.CreateExtractElement(both, e));
  held_[op.result().index] = std::move(h);
}

}  // namespace tilec::target
