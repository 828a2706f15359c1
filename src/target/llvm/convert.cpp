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

// Rounded once. Vectors of integers of 64 bits go to f32 by f64 on some machines, whatever is asked for: what f64 does not hold comes
// there as an odd number of 2^11s, which is no tie and lies between the same two f32s.
Value* Speller::convert_to_float(Scalar from, Scalar to, Value* x) {
  llvm::Type* wanted = shaped(scalar_type(to), x);
  if (to == Scalar::F32 && bit_width(from) > 32 && x->getType()->isVectorTy()) {
    constexpr int64_t kDropped = 0x7ff, kExact = int64_t(1) << 53;
    Value* sticky = b_.CreateAdd(b_.CreateAnd(x, number_like(x, kDropped)), number_like(x, kDropped));
    Value* odd = b_.CreateAnd(b_.CreateOr(x, sticky), number_like(x, ~kDropped));
    Value* is_exact = is_signed(from) ? b_.CreateICmpULT(b_.CreateAdd(x, number_like(x, kExact)), number_like(x, 2 * kExact))
                                      : b_.CreateICmpULT(x, number_like(x, kExact));
    x = b_.CreateSelect(is_exact, x, odd);
  }
  return is_signed(from) ? b_.CreateSIToFP(x, wanted) : b_.CreateUIToFP(x, wanted);
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
