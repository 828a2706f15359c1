// (a + (b - 1)) / b is what the rest of the compiler knows as a division that rounds up. It is taken where b is not negative and the sum
// fits; elsewhere parts of it that cannot leave 64 bits, which the prover reads as the same number.
#include "sema/rounded_up.h"

#include "sema/host_range.h"

namespace tilec::sema {
namespace {

using ir::BinaryFn;

constexpr int64_t kMostDivisor = int64_t(1) << 61;  // to which a rest and one less than it can be added

struct Rounding {
  Instance& in;
  Value a, b;
  Span span;

  Value op(BinaryFn fn, const Value& x, const Value& y) { return apply(in, fn, x, y, span); }
  std::optional<int64_t> known(const Value& x) const {
    if (auto* c = x.as<Const>()) return c->number.i;
    auto* dynamic = x.as<Dynamic>();
    auto n = dynamic ? in.kernel.constant(dynamic->id) : std::nullopt;
    return n ? std::optional(n->i) : std::nullopt;
  }
  bool is_far(const Value& x) const {
    if (auto n = known(x)) return *n > kMostDivisor || *n < -kMostDivisor;
    return x.is<Dynamic>() && sema::is_far(in.kernel, in.near_indices, x.as<Dynamic>()->id);
  }
  bool is_never_negative(const Value& x) const { return x.is<Dynamic>() && sema::is_never_negative(in.kernel, x.as<Dynamic>()->id); }
  bool is_usual() const {
    auto divisor = known(b);
    if (is_far(a)) return false;
    return divisor ? *divisor > 0 && *divisor <= kMostDivisor : is_never_negative(b) && !is_far(b);
  }

  Value usual() { return op(BinaryFn::Div, op(BinaryFn::Add, a, op(BinaryFn::Sub, b, int_const(1))), b); }
  Value has_rest() {
    Value is_other = apply(in, ir::CompareFn::Ne, op(BinaryFn::Rem, a, b), int_const(0));
    return chosen(is_other, int_const(1), int_const(0));
  }
  Value chosen(const Value& condition, const Value& x, const Value& y) {
    if (auto* c = condition.as<Const>()) return c->number.i ? x : y;
    ir::ValueId test = emit(in, condition), yes = emit(in, x), no = emit(in, y);
    in.builder.set_span(span);
    return Dynamic{in.builder.select(test, yes, no)};
  }

  Value quotient() {
    bool is_constant = a.is<Const>() && b.is<Const>();
    if (is_usual() && !is_constant) return usual();
    Value whole = op(BinaryFn::Div, a, b);
    if (whole.is_poison()) return whole;
    auto divisor = known(b);
    if (divisor == 1) return whole;
    if (!divisor || *divisor < 0 || *divisor > kMostDivisor || is_constant) return op(BinaryFn::Add, whole, has_rest());
    Value most = int_const(*divisor - 1);
    return op(BinaryFn::Add, whole, op(BinaryFn::Div, op(BinaryFn::Add, op(BinaryFn::Rem, a, b), most), b));
  }

  // What is missing to the next multiple: the rest has the sign of the divisor.
  Value multiple() {
    auto divisor = known(b);
    if (is_usual() || (divisor && *divisor > 0)) return op(BinaryFn::Mul, quotient(), b);
    Value rest = op(BinaryFn::Rem, a, b);
    if (rest.is_poison()) return rest;
    Value is_positive = apply(in, ir::CompareFn::Gt, b, int_const(0));
    Value step = chosen(is_positive, op(BinaryFn::Sub, b, rest), op(BinaryFn::Sub, int_const(0), rest));
    Value is_multiple = apply(in, ir::CompareFn::Eq, rest, int_const(0));
    return op(BinaryFn::Add, a, chosen(is_multiple, int_const(0), step));
  }
};

}  // namespace

Value ceildiv(Instance& in, const Value& a, const Value& b, Span span) {
  return a.is_poison() || b.is_poison() ? Value(Poison{}) : Rounding{in, a, b, span}.quotient();
}
Value round_up(Instance& in, const Value& a, const Value& b, Span span) {
  return a.is_poison() || b.is_poison() ? Value(Poison{}) : Rounding{in, a, b, span}.multiple();
}

}  // namespace tilec::sema
