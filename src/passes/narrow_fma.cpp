// a * b + c rounded once, where no instruction does it.
//
// Of floats of up to 24 digits the product is exact in a wider type: f32 holds those of f16 and of 8 bits, f64 the others. What their
// sum with c loses is a number, too: the sum is rounded to odd by it, and then to its type.
#include "passes/narrow.h"
#include "passes/wide_product.h"

namespace tilec::passes {

using ir::BinaryFn;
using ir::CompareFn;
using ir::ConvertMode;
using ir::ValueId;

ValueId Narrow::fma(ValueId a, ValueId b, ValueId c, Scalar to) {
  if (to == Scalar::F64) return fused_in_integers(b_, a, b, c);
  const Scalar work = float_format(to).exponent_bits < 8 ? Scalar::F32 : Scalar::F64;
  ValueId product = b_.mul(b_.convert(a, work), b_.convert(b, work)), added = b_.convert(c, work);
  ValueId sum = b_.add(product, added), odd = sum_rounded_to_odd(product, added, sum);
  if (to == Scalar::F32) return meant(odd, to, {sum, false}, ConvertMode::Nearest);
  return rounded(odd, to, sum, false);
}

// What was lost has the sign of `sum` where the number lies further from zero: there the last bit is set, else the one below is taken.
// A sum that is infinite, or none, loses nothing that compares.
ValueId Narrow::sum_rounded_to_odd(ValueId x, ValueId y, ValueId sum) {
  const Scalar type = b_.kernel().type(sum).element, as = type == Scalar::F64 ? Scalar::I64 : Scalar::I32;
  ValueId of_y = b_.sub(sum, x), lost = b_.add(b_.sub(x, b_.sub(sum, of_y)), b_.sub(y, of_y)), zero = b_.real(type, 0);
  ValueId is_above = b_.compare(CompareFn::Gt, lost, zero), is_below = b_.compare(CompareFn::Lt, lost, zero);
  ValueId is_outward = b_.binary(BinaryFn::Xor, is_above, b_.compare(CompareFn::Lt, sum, zero));
  ValueId one = b_.constant(as, ir::Number::integer(1)), pattern = bits(sum, as);
  ValueId outward = b_.binary(BinaryFn::Or, pattern, one), inward = b_.binary(BinaryFn::Or, b_.sub(pattern, one), one);
  ValueId odd = b_.select(b_.logical_or(is_above, is_below), b_.select(is_outward, outward, inward), pattern);
  return same(odd, type, sum);
}

// As f64, so that rounding on is rounding once: where the number has more digits than f64, the last eleven places of 64 are
// left out, and that they were not zero is kept in the place above.
ValueId Narrow::integer_rounded_to_odd(ValueId x) {
  const Scalar from = b_.kernel().type(x).element;
  if (bit_width(from) <= 32) return b_.convert(x, Scalar::F64);
  ValueId pattern = b_.convert(x, Scalar::U64, ConvertMode::Wrap);
  auto number = [&](uint64_t n) { return b_.constant(Scalar::U64, ir::Number::integer(int64_t(n))); };
  constexpr uint64_t kDropped = 0x7ff, kExact = uint64_t(1) << 53;
  ValueId sticky = b_.add(b_.binary(BinaryFn::And, pattern, number(kDropped)), number(kDropped));
  ValueId odd = b_.binary(BinaryFn::And, b_.binary(BinaryFn::Or, pattern, sticky), number(~kDropped));
  ValueId is_exact = is_signed(from) ? b_.compare(CompareFn::Lt, b_.add(pattern, number(kExact)), number(2 * kExact))
                                     : b_.compare(CompareFn::Lt, pattern, number(kExact));
  ValueId kept = b_.select(is_exact, pattern, odd);
  return b_.convert(is_signed(from) ? b_.convert(kept, Scalar::I64, ConvertMode::Wrap) : kept, Scalar::F64);
}

}  // namespace tilec::passes
