// What integers do. The meaning is ir/scalar_eval.cpp's: wrapping, division toward minus infinity, nothing traps.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "target/llvm/speller.h"

namespace tilec::target {

using ir::BinaryFn;
using ir::UnaryFn;
using llvm::Value;

Value* Speller::integer_unary(UnaryFn fn, Scalar element, Value* x) {
  bool is_bool = element == Scalar::Bool;
  switch (fn) {
    case UnaryFn::Neg: return is_bool ? x : b_.CreateNeg(x);
    case UnaryFn::Not: return b_.CreateNot(x);
    case UnaryFn::Abs: return is_signed(element) ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse()) : x;
    case UnaryFn::IsNan: return llvm::ConstantInt::getFalse(shaped(b_.getInt1Ty(), x));
    case UnaryFn::PopCount: return is_bool ? x : b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    case UnaryFn::LeadingZeros:
      // A bool is a byte, of which seven bits at least are zero: not 0, so true.
      if (is_bool) return llvm::ConstantInt::getTrue(x->getType());
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b_.getFalse());
    default: UNREACHABLE("the function is not one of integers");
  }
}

Value* Speller::magnitude(Scalar element, Value* x) {
  if (is_signed(element)) x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, number_like(x, -int64_t(integer_max(element))));
  return unary(UnaryFn::Abs, element, x);
}

// What the byte 0 or 1 would give, taken as "not zero".
Value* Speller::bool_binary(BinaryFn fn, Value* a, Value* b) {
  switch (fn) {
    case BinaryFn::And: case BinaryFn::Mul: case BinaryFn::Min: case BinaryFn::Minimum: case BinaryFn::Div:
      return b_.CreateAnd(a, b);
    case BinaryFn::Or: case BinaryFn::Add: case BinaryFn::Max: case BinaryFn::Maximum: return b_.CreateOr(a, b);
    case BinaryFn::Xor: case BinaryFn::Sub: return b_.CreateXor(a, b);
    case BinaryFn::Shl: return a;
    case BinaryFn::Shr: return b_.CreateAnd(a, b_.CreateNot(b));
    case BinaryFn::Rem: return llvm::ConstantInt::getFalse(a->getType());
    default: UNREACHABLE("the function is not one of bools");
  }
}

Value* Speller::integer_binary(BinaryFn fn, Scalar element, Value* a, Value* b) {
  bool has_sign = is_signed(element);
  auto call = [&](llvm::Intrinsic::ID with_sign, llvm::Intrinsic::ID without) {
    return b_.CreateBinaryIntrinsic(has_sign ? with_sign : without, a, b);
  };
  switch (fn) {
    case BinaryFn::Add: return b_.CreateAdd(a, b);
    case BinaryFn::Sub: return b_.CreateSub(a, b);
    case BinaryFn::Mul: return b_.CreateMul(a, b);
    case BinaryFn::Div: return has_sign ? divide_signed(a, b, false) : divide_unsigned(a, b, false);
    case BinaryFn::Rem: return has_sign ? divide_signed(a, b, true) : divide_unsigned(a, b, true);
    case BinaryFn::Min: case BinaryFn::Minimum: return call(llvm::Intrinsic::smin, llvm::Intrinsic::umin);
    case BinaryFn::Max: case BinaryFn::Maximum: return call(llvm::Intrinsic::smax, llvm::Intrinsic::umax);
    case BinaryFn::And: return b_.CreateAnd(a, b);
    case BinaryFn::Or: return b_.CreateOr(a, b);
    case BinaryFn::Xor: return b_.CreateXor(a, b);
    case BinaryFn::Shl: case BinaryFn::Shr: return shift(fn, element, a, b);
    case BinaryFn::Pow: UNREACHABLE("powers are expanded before they are spelled");
  }
  UNREACHABLE("a binary function is one of the table");
}

// Moves everything out at the width and beyond; a negative amount is one beyond.
Value* Speller::shift(BinaryFn fn, Scalar element, Value* a, Value* b) {
  int width = bit_width(element);
  Value* zero = llvm::Constant::getNullValue(a->getType());
  if (fn == BinaryFn::Shr && is_signed(element)) {
    Value* last = number_like(b, width - 1);
    return b_.CreateAShr(a, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, last));
  }
  Value* moved = fn == BinaryFn::Shl ? b_.CreateShl(a, b) : b_.CreateLShr(a, b);
  return b_.CreateSelect(b_.CreateICmpULT(b, number_like(b, width)), moved, zero);
}

Value* Speller::overflows(BinaryFn fn, Value* a, Value* b) {
  auto flag_of = [&](llvm::Intrinsic::ID id) {
    return b_.CreateExtractValue(b_.CreateBinaryIntrinsic(id, a, b), 1);
  };
  switch (fn) {
    case BinaryFn::Add: return flag_of(llvm::Intrinsic::sadd_with_overflow);
    case BinaryFn::Sub: return flag_of(llvm::Intrinsic::ssub_with_overflow);
    case BinaryFn::Mul: return flag_of(llvm::Intrinsic::smul_with_overflow);
    case BinaryFn::Div:
      return b_.CreateAnd(b_.CreateICmpEQ(a, number_like(a, INT64_MIN)), b_.CreateICmpEQ(b, number_like(b, -1)));
    case BinaryFn::Shl: {
      Value* back = b_.CreateAShr(shift(fn, Scalar::Index, a, b), b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b, number_like(b, 63)));
      return b_.CreateICmpNE(back, a);
    }
    default: return llvm::ConstantInt::getFalse(shaped(b_.getInt1Ty(), a));
  }
}

namespace {

// The exponent of a power of two that is known here, or -1.
int known_power_of_two(Value* x) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(x);
  if (constant && x->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  if (!number || !number->getValue().isStrictlyPositive() || !number->getValue().isPowerOf2()) return -1;
  return int(number->getValue().logBase2());
}

}  // namespace

// Toward minus infinity; 0 where b is 0. The hardware's division sees neither 0 nor -1, at which it may trap.
Value* Speller::divide_signed(Value* a, Value* b, bool remainder) {
  if (int power = known_power_of_two(b); power >= 0)
    return remainder ? b_.CreateAnd(a, b_.CreateSub(b, number_like(b, 1))) : b_.CreateAShr(a, number_like(a, power));
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value *by_zero = b_.CreateICmpEQ(b, zero), *by_minus_one = b_.CreateICmpEQ(b, number_like(b, -1));
  Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), number_like(b, 1), b);
  Value* quotient = b_.CreateSDiv(a, divisor);
  Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, divisor));
  Value* signs_differ = b_.CreateICmpSLT(b_.CreateXor(rest, divisor), zero);
  Value* is_above = b_.CreateAnd(b_.CreateICmpNE(rest, zero), signs_differ);
  // By 1, which stands for 0 and -1, the rest is 0.
  if (remainder) return b_.CreateAdd(rest, b_.CreateSelect(is_above, divisor, zero));
  Value* down = b_.CreateAdd(quotient, b_.CreateSExt(is_above, a->getType()));
  return b_.CreateSelect(by_zero, zero, b_.CreateSelect(by_minus_one, b_.CreateNeg(a), down));
}

Value* Speller::divide_unsigned(Value* a, Value* b, bool remainder) {
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  Value* divisor = b_.CreateSelect(by_zero, number_like(b, 1), b);
  if (remainder) return b_.CreateURem(a, divisor);  // 0 by the 1 that stands for 0
  return b_.CreateSelect(by_zero, zero, b_.CreateUDiv(a, divisor));
}

}  // namespace tilec::target
