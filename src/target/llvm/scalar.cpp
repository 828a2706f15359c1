// Scalar operations, each on one number or on the lanes of a warp: the dispatch, and what floats do.
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Intrinsics.h>

#include "target/llvm/elementwise.h"

namespace tilec::target {

using ir::BinaryFn;
using ir::CompareFn;
using ir::UnaryFn;
using llvm::Intrinsic::ID;
using llvm::Value;

void Speller::one(const ir::Op& op, const ir::op::Constant& x) {
  hold(op.result(), constant(type(op.result()).element, x.number));
  if (type(op.result()).varying) held_[op.result().index].parts[0] = splat(uniform(op.result()));
}

void Speller::one(const ir::Op& op, const ir::op::Unary& x) {
  elementwise(op, [&](auto pick) { return unary(x.fn, type(x.x).element, pick(x.x)); });
}

void Speller::one(const ir::Op& op, const ir::op::Binary& x) {
  elementwise(op, [&](auto pick) { return binary(x.fn, type(x.a).element, pick(x.a), pick(x.b)); });
}

void Speller::one(const ir::Op& op, const ir::op::Overflows& x) {
  elementwise(op, [&](auto pick) { return overflows(x.fn, pick(x.a), pick(x.b)); });
}

// Rounded once: machines without an instruction for it have none left. Narrow floats are bits, as everywhere.
void Speller::one(const ir::Op& op, const ir::op::Fma& x) {
  Scalar element = type(op.result()).element;
  elementwise(op, [&](auto pick) -> Value* {
    Value *a = pick(x.a), *b = pick(x.b), *c = pick(x.c);
    if (!is_float(element)) return b_.CreateAdd(b_.CreateMul(a, b), c);
    INVARIANT(is_narrow_float(element) || machine_.has(Cap::FusedMultiplyAdd), "fma is legalised where there is no instruction for it");
    if (!is_narrow_float(element)) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
    INVARIANT(machine_.has(Cap::HalfFused), "narrow floats are legalised before they are spelled");
    llvm::Type *bits = a->getType(), *half = shaped(element == Scalar::F16 ? b_.getHalfTy() : b_.getBFloatTy(), a);
    for (Value** operand : {&a, &b, &c}) *operand = b_.CreateBitCast(*operand, half);
    return b_.CreateBitCast(b_.CreateIntrinsic(llvm::Intrinsic::fma, {half}, {a, b, c}), bits);
  });
}

void Speller::one(const ir::Op& op, const ir::op::Compare& x) {
  elementwise(op, [&](auto pick) { return compare(x.fn, type(x.a).element, pick(x.a), pick(x.b)); });
}

void Speller::one(const ir::Op& op, const ir::op::Select& x) {
  elementwise(op, [&](auto pick) { return b_.CreateSelect(pick(x.condition), pick(x.a), pick(x.b)); });
}

void Speller::one(const ir::Op& op, const ir::op::Convert& x) {
  Scalar from = type(x.x).element, to = type(op.result()).element;
  elementwise(op, [&](auto pick) { return convert(from, to, x.mode, pick(x.x)); });
}

Value* Speller::unary(UnaryFn fn, Scalar element, Value* x) {
  if (!is_float(element)) return integer_unary(fn, element, x);
  INVARIANT(x->getType()->isFPOrFPVectorTy(), "narrow floats are legalised before they are spelled");
  return float_unary(fn, x);
}

// Without a function of the C library. A sum with a number whose unit is 1 is rounded to a whole one; greater numbers are whole.
Value* Speller::rounded(UnaryFn fn, Value* x) {
  if (has_rounding_) {
    const ID id = fn == UnaryFn::Floor ? llvm::Intrinsic::floor : fn == UnaryFn::Ceil ? llvm::Intrinsic::ceil : fn == UnaryFn::Trunc ? llvm::Intrinsic::trunc : llvm::Intrinsic::roundeven;
    return b_.CreateUnaryIntrinsic(id, x);
  }
  const llvm::IRBuilderBase::FastMathFlagGuard exactly(b_);
  b_.clearFastMathFlags();
  auto number = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  Value *size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), *unit = number(x->getType()->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
  Value* near = b_.CreateFSub(b_.CreateFAdd(size, unit), unit);
  if (fn == UnaryFn::Trunc) near = b_.CreateSelect(b_.CreateFCmpOGT(near, size), b_.CreateFSub(near, number(1)), near);
  near = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, near, x);
  if (fn == UnaryFn::Floor) near = b_.CreateSelect(b_.CreateFCmpOGT(near, x), b_.CreateFSub(near, number(1)), near);
  if (fn == UnaryFn::Ceil) near = b_.CreateSelect(b_.CreateFCmpOLT(near, x), b_.CreateFAdd(near, number(1)), near);
  near = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, near, x);
  return b_.CreateSelect(b_.CreateFCmpOLT(size, unit), near, x);
}

Value* Speller::float_unary(UnaryFn fn, Value* x) {
  auto call = [&](ID id) { return b_.CreateUnaryIntrinsic(id, x); };
  switch (fn) {
    case UnaryFn::Neg: return b_.CreateFNeg(x);
    case UnaryFn::Abs: return call(llvm::Intrinsic::fabs);
    case UnaryFn::Sqrt: return call(llvm::Intrinsic::sqrt);
    case UnaryFn::Rsqrt: return b_.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), call(llvm::Intrinsic::sqrt));
    case UnaryFn::Floor: case UnaryFn::Ceil: case UnaryFn::Round: case UnaryFn::Trunc: return rounded(fn, x);
    case UnaryFn::IsNan: return b_.CreateFCmpUNO(x, x);
    default: UNREACHABLE("transcendental functions are expanded before they are spelled");
  }
}

Value* Speller::binary(BinaryFn fn, Scalar element, Value* a, Value* b) {
  if (element == Scalar::Bool) return bool_binary(fn, a, b);
  if (!is_float(element)) return integer_binary(fn, element, a, b);
  INVARIANT(a->getType()->isFPOrFPVectorTy(), "narrow floats are legalised before they are spelled");
  return float_binary(fn, a, b);
}

namespace {

// LLVM 19 takes maxnum(fabs(x), -1) for a number that is never below 0, but of NaN it is -1: it asks for one operand that is never below 0
// and one that is never NaN, and does not mind that they are two. Of minnum the same, on the other side.
bool is_misread(const llvm::DataLayout& layout, BinaryFn fn, Value* end, Value* other) {
  const llvm::KnownFPClass a = llvm::computeKnownFPClass(end, layout), b = llvm::computeKnownFPClass(other, layout);
  auto is_on_side = [&](const llvm::KnownFPClass& known) { return fn == BinaryFn::Max ? known.cannotBeOrderedLessThanZero() : known.cannotBeOrderedGreaterThanZero(); };
  return is_on_side(a) && !a.isKnownNeverNaN() && b.isKnownNeverNaN() && !is_on_side(b);
}

}  // namespace

Value* Speller::float_binary(BinaryFn fn, Value* a, Value* b) {
  if (fn == BinaryFn::Max || fn == BinaryFn::Min) {
    const llvm::DataLayout& layout = b_.GetInsertBlock()->getModule()->getDataLayout();
    bool is_first = is_misread(layout, fn, a, b);
    if (!is_first && is_misread(layout, fn, b, a)) std::swap(a, b), is_first = true;
    if (is_first) return b_.CreateSelect(fn == BinaryFn::Max ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  }
  auto call = [&](ID id) { return b_.CreateBinaryIntrinsic(id, a, b); };
  switch (fn) {
    case BinaryFn::Add: return b_.CreateFAdd(a, b);
    case BinaryFn::Sub: return b_.CreateFSub(a, b);
    case BinaryFn::Mul: return b_.CreateFMul(a, b);
    case BinaryFn::Div: return b_.CreateFDiv(a, b);
    case BinaryFn::Rem: return float_remainder(a, b);
    case BinaryFn::Min: return call(llvm::Intrinsic::minnum);
    case BinaryFn::Max: return call(llvm::Intrinsic::maxnum);
    case BinaryFn::Minimum: return call(llvm::Intrinsic::minimum);
    case BinaryFn::Maximum: return call(llvm::Intrinsic::maximum);
    default: UNREACHABLE("the function is expanded before it is spelled, or is not one of floats");
  }
}

// a - b * floor(a / b), in f64: in f32 a quotient just below a whole number would round up to it.
Value* Speller::float_remainder(Value* a, Value* b) {
  llvm::Type* wide = shaped(b_.getDoubleTy(), a);
  Value *x = b_.CreateFPExt(a, wide), *y = b_.CreateFPExt(b, wide);
  Value* whole = rounded(UnaryFn::Floor, b_.CreateFDiv(x, y));
  return b_.CreateFPTrunc(b_.CreateFSub(x, b_.CreateFMul(y, whole)), a->getType());
}

Value* Speller::compare(CompareFn fn, Scalar element, Value* a, Value* b) {
  using P = llvm::CmpInst;
  struct Row {
    P::Predicate real, with_sign, without;
  };
  constexpr Row kRows[] = {{P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},   {P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
                           {P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT}, {P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
                           {P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT}, {P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE}};
  const Row& row = kRows[int(fn)];
  if (!is_float(element)) return b_.CreateICmp(is_signed(element) ? row.with_sign : row.without, a, b);
  INVARIANT(a->getType()->isFPOrFPVectorTy(), "narrow floats are legalised before they are spelled");
  return b_.CreateFCmp(row.real, a, b);
}

}  // namespace tilec::target
