// Conversions. To integers they saturate and NaN gives 0; between integers they saturate or wrap; floats round to nearest.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "target/llvm/speller.h"

namespace tilec::target {

using ir::ConvertMode;
using llvm::Value;

Value* Speller::convert(Scalar from, Scalar to, ConvertMode mode, Value* x) {
  if (from == to) return x;  // a uniform value given to every lane
  if (mode == ConvertMode::Bits) return convert_bits(from, to, x);
  if (is_float(from) && is_float(to)) return convert_float(from, to, x);
  INVARIANT(!is_narrow_float(from) && !is_narrow_float(to), "narrow floats are legalised before they are spelled");
  if (is_float(to)) return convert_to_float(from, to, x);
  if (to == Scalar::Bool) {
    if (is_float(from)) return b_.CreateFCmpUNE(x, llvm::ConstantFP::getZero(x->getType()));
    return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  }
  llvm::Type* wanted = shaped(scalar_type(to), x);
  if (is_float(from)) {
    auto id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {wanted, x->getType()}, {x});
  }
  if (mode != ConvertMode::Wrap) x = saturate(from, to, x);
  return b_.CreateIntCast(x, wanted, is_signed(from));
}

// The same bits: a bool counts as the byte 0 or 1.
Value* Speller::convert_bits(Scalar from, Scalar to, Value* x) {
  INVARIANT(bit_width(from) == bit_width(to), "bits are read as a type of equal width");
  if (from == Scalar::Bool) x = b_.CreateZExt(x, shaped(b_.getInt8Ty(), x));
  if (to == Scalar::Bool) return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
  return b_.CreateBitCast(x, shaped(scalar_type(to), x));
}

// Narrow floats are bits; f16 has instructions, and bf16 one to round to it, on machines that say so.
Value* Speller::convert_float(Scalar from, Scalar to, Value* x) {
  if (from == to) return x;
  llvm::Type* half = shaped(b_.getHalfTy(), x);
  if (from == Scalar::F16 && to == Scalar::F32 && has_half_conversion_)
    return b_.CreateFPExt(b_.CreateBitCast(x, half), shaped(b_.getFloatTy(), x));
  if (from == Scalar::F32 && to == Scalar::F16 && has_half_conversion_)
    return b_.CreateBitCast(b_.CreateFPTrunc(x, half), shaped(b_.getInt16Ty(), x));
  if (from == Scalar::F32 && to == Scalar::BF16 && machine_.has(Cap::BrainRound))
    return b_.CreateBitCast(b_.CreateFPTrunc(x, shaped(b_.getBFloatTy(), x)), shaped(b_.getInt16Ty(), x));
  INVARIANT(!is_narrow_float(from) && !is_narrow_float(to), "narrow floats are legalised before they are spelled");
  return b_.CreateFPCast(x, shaped(scalar_type(to), x));
}

// Wide integers go by f64, as everywhere in this compiler.
Value* Speller::convert_to_float(Scalar from, Scalar to, Value* x) {
  bool by_double = to == Scalar::F32 && bit_width(from) > 32;
  llvm::Type* wanted = shaped(scalar_type(to), x);
  llvm::Type* first = by_double ? shaped(b_.getDoubleTy(), x) : wanted;
  Value* real = is_signed(from) ? b_.CreateSIToFP(x, first) : b_.CreateUIToFP(x, first);
  return by_double ? b_.CreateFPTrunc(real, wanted) : real;
}

// Clamps x, still of type `from`, to the numbers that `to` has.
Value* Speller::saturate(Scalar from, Scalar to, Value* x) {
  if (from == Scalar::Bool) return x;
  bool has_sign = is_signed(from);
  uint64_t greatest = integer_max(to);
  if (greatest < integer_max(from)) {
    Value* limit = number_like(x, int64_t(greatest));
    x = b_.CreateBinaryIntrinsic(has_sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, x, limit);
  }
  if (has_sign && integer_min(to) > integer_min(from))
    x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, number_like(x, integer_min(to)));
  return x;
}

}  // namespace tilec::target
