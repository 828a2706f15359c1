// Types, constants and held values: how numbers of the IR look to LLVM.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "ir/scalar_eval.h"
#include "target/llvm/speller.h"

namespace tilec::target {

using llvm::Value;

// Narrow floats are storage: their bits as an integer.
llvm::Type* Speller::scalar_type(Scalar element) const {
  if (element == Scalar::Bool) return llvm::Type::getInt1Ty(context_);
  if (element == Scalar::F32) return llvm::Type::getFloatTy(context_);
  if (element == Scalar::F64) return llvm::Type::getDoubleTy(context_);
  return llvm::Type::getIntNTy(context_, bit_width(element));
}

llvm::Type* Speller::memory_type(Scalar element) const {
  INVARIANT(bit_width(element) % 8 == 0, "memory is reached by whole bytes");
  return element == Scalar::Bool ? llvm::Type::getInt8Ty(context_) : scalar_type(element);
}

llvm::Type* Speller::part_type(const ir::Type& type) const {
  llvm::Type* element = scalar_type(type.element);
  return type.varying && width_ > 1 ? llvm::FixedVectorType::get(element, width_) : element;
}

int Speller::part_count(const ir::Type& type) {
  return type.kind == ir::TypeKind::Vector || type.kind == ir::TypeKind::Flight ? int(type.shape[0]) : 1;
}

Value* Speller::constant(Scalar element, ir::Number number) const {
  llvm::Type* type = scalar_type(element);
  if (!type->isFloatingPointTy()) return llvm::ConstantInt::get(type, ir::to_bits(element, number));
  uint64_t bits = ir::to_bits(element, number);
  return llvm::ConstantFP::get(context_, llvm::APFloat(type->getFltSemantics(), llvm::APInt(bit_width(element), bits)));
}

Value* Speller::number_like(Value* x, int64_t number) { return llvm::ConstantInt::getSigned(x->getType(), number); }

Value* Speller::to_index(Value* x, Scalar element) {
  return b_.CreateIntCast(x, shaped(b_.getInt64Ty(), x), is_signed(element));
}

llvm::Type* Speller::shaped(llvm::Type* element, Value* like) const {
  return like->getType()->isVectorTy() ? llvm::FixedVectorType::get(element, width_) : element;
}

const Speller::Held& Speller::held(ir::ValueId v) const {
  const Held& h = held_[v.index];
  INVARIANT(!h.parts.empty() || h.first, "a value is spelled before it is used");
  return h;
}

Values Speller::parts_as(ir::ValueId v, const ir::Type& wanted) {
  Values parts = held(v).parts;
  INVARIANT(!parts.empty(), "all lanes of a value were demanded");
  if (int(parts.size()) < part_count(wanted)) parts.resize(part_count(wanted), parts[0]);
  if (wanted.varying)
    for (Value*& part : parts) part = splat(part);
  return parts;
}

Value* Speller::operand(ir::ValueId v, bool varying) {
  const Held& h = held(v);
  INVARIANT(!h.parts.empty(), "all lanes of a value were demanded");
  return varying ? splat(h.parts[0]) : h.parts[0];
}

Value* Speller::first_lane(ir::ValueId v) {
  const Held& h = held(v);
  if (h.first) return h.first;
  return h.parts[0]->getType()->isVectorTy() ? b_.CreateExtractElement(h.parts[0], uint64_t(0)) : h.parts[0];
}

}  // namespace tilec::target
