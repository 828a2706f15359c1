// Arithmetic on integers and bool: wrapped to the type's width; `int` is exact or a fault.
#include "interp/handlers.h"
#include "ir/source_words.h"

namespace tilec::interp {

using ir::BinaryFn;

namespace {

struct IntAdd {
  static int64_t apply(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
  static bool overflows(int64_t a, int64_t b, int64_t* wrapped) { return __builtin_add_overflow(a, b, wrapped); }
};
struct IntSub {
  static int64_t apply(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
  static bool overflows(int64_t a, int64_t b, int64_t* wrapped) { return __builtin_sub_overflow(a, b, wrapped); }
};
struct IntMul {
  static int64_t apply(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }
  static bool overflows(int64_t a, int64_t b, int64_t* wrapped) { return __builtin_mul_overflow(a, b, wrapped); }
};
struct IntAnd {
  static int64_t apply(int64_t a, int64_t b) { return a & b; }
};
struct IntOr {
  static int64_t apply(int64_t a, int64_t b) { return a | b; }
};
struct IntXor {
  static int64_t apply(int64_t a, int64_t b) { return a ^ b; }
};
struct SignedMin {
  static int64_t apply(int64_t a, int64_t b) { return a < b ? a : b; }
};
struct SignedMax {
  static int64_t apply(int64_t a, int64_t b) { return a > b ? a : b; }
};

// Operands lie in the type already, so functions that stay inside need no wrap.
template <class Fn>
Status do_closed(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].i = Fn::apply(a[lane].i, b[lane].i);
  spread(s, i, d);
  return Status::Next;
}

template <class Fn, bool is_signed>
Status do_wrapped(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  int shift = int(i.imm);
  for (int lane = 0; lane < i.lanes; ++lane) {
    uint64_t up = uint64_t(Fn::apply(a[lane].i, b[lane].i)) << shift;
    if constexpr (is_signed)
      d[lane].i = int64_t(up) >> shift;
    else
      d[lane].u = up >> shift;
  }
  spread(s, i, d);
  return Status::Next;
}

Status overflow_fault(Strand& s, const Instr& i, int64_t a, int64_t b) {
  return fail(s, FaultKind::Overflow, i, "an `int` leaves 64 bits: " + ir::source_words(BinaryFn(i.fn), std::to_string(a), std::to_string(b)));
}

template <class Fn>
Status do_exact(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  bool any = false;
  for (int lane = 0; lane < i.lanes; ++lane) any |= Fn::overflows(a[lane].i, b[lane].i, &d[lane].i);
  for (uint64_t left = any ? s.acting(i) : 0; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (int64_t wrapped; Fn::overflows(a[lane].i, b[lane].i, &wrapped)) return overflow_fault(s, i, a[lane].i, b[lane].i);
  }
  spread(s, i, d);
  return Status::Next;
}

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t floor_remainder(int64_t a, int64_t b) { return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); }

// Signed division by a divisor that is neither 0 nor -1 in any acting lane; the rest goes the long way.
template <bool is_quotient>
Status do_divide(Strand& s, const Instr& i);

// `fast`: what has no value gives 0, as in compiled code.
Status do_slow_binary(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (uint64_t left = s.acting(i); left; left &= left - 1) {
    int lane = std::countr_zero(left);
    auto result = ir::evaluate(BinaryFn(i.fn), i.type, to_number(i.type, a[lane]), to_number(i.type, b[lane]));
    if (result || i.fast) {
      d[lane] = to_slot(result.value_or(ir::Number::integer(0)));
      continue;
    }
    bool divides = BinaryFn(i.fn) == BinaryFn::Div || BinaryFn(i.fn) == BinaryFn::Rem;
    if (divides && b[lane].i == 0)
      return fail(s, FaultKind::DivisionByZero, i, (is_signed(i.type) ? std::to_string(a[lane].i) : std::to_string(uint64_t(a[lane].i))) + " is divided by zero");
    return overflow_fault(s, i, a[lane].i, b[lane].i);
  }
  spread(s, i, d);
  return Status::Next;
}

template <bool is_quotient>
Status do_divide(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (uint64_t left = s.acting(i); left; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (uint64_t(b[lane].i) + 1 <= 1) return do_slow_binary(s, i);
    d[lane].i = is_quotient ? floor_quotient(a[lane].i, b[lane].i) : floor_remainder(a[lane].i, b[lane].i);
  }
  spread(s, i, d);
  return Status::Next;
}

// By as many bits as the type has, or more: zeros, or the sign to the right.
template <bool is_left>
Status do_shift(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  const uint64_t width = uint64_t(bit_width(i.type));
  const int spare = int(64 - width);
  const bool has_sign = is_signed(i.type);
  for (int lane = 0; lane < i.lanes; ++lane) {
    const uint64_t by = b[lane].u;
    if (is_left) {
      const uint64_t up = by < width ? a[lane].u << by << spare : 0;
      d[lane].i = has_sign ? int64_t(up) >> spare : int64_t(up >> spare);
    } else {
      d[lane].i = has_sign ? a[lane].i >> std::min<uint64_t>(by, 63) : by < width ? int64_t(a[lane].u >> by) : 0;
    }
  }
  spread(s, i, d);
  return Status::Next;
}

template <class Fn>
Handler arithmetic(Scalar type) {
  if (type == Scalar::Index) return do_exact<Fn>;
  if (type == Scalar::Bool) return do_slow_binary;
  if (bit_width(type) == 64) return do_closed<Fn>;
  return is_signed(type) ? do_wrapped<Fn, true> : do_wrapped<Fn, false>;
}

}  // namespace

Status do_overflows(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot *a = s.at(i.a), *b = s.at(i.b);
  for (uint64_t left = s.acting(i); left; left &= left - 1) {
    int lane = std::countr_zero(left);
    d[lane].i = ir::overflows(BinaryFn(i.fn), a[lane].i, b[lane].i);
  }
  spread(s, i, d);
  return Status::Next;
}

Handler integer_binary_handler(BinaryFn fn, Scalar type) {
  bool is_plain = is_signed(type) || bit_width(type) < 64;  // its slots compare as signed numbers
  switch (fn) {
    case BinaryFn::Add:
      return arithmetic<IntAdd>(type);
    case BinaryFn::Sub:
      return arithmetic<IntSub>(type);
    case BinaryFn::Mul:
      return arithmetic<IntMul>(type);
    case BinaryFn::And:
      return do_closed<IntAnd>;
    case BinaryFn::Or:
      return do_closed<IntOr>;
    case BinaryFn::Xor:
      return do_closed<IntXor>;
    case BinaryFn::Min:
    case BinaryFn::Minimum:
      return is_plain ? do_closed<SignedMin> : do_slow_binary;
    case BinaryFn::Max:
    case BinaryFn::Maximum:
      return is_plain ? do_closed<SignedMax> : do_slow_binary;
    case BinaryFn::Div:
      return is_plain ? do_divide<true> : do_slow_binary;
    case BinaryFn::Rem:
      return is_plain ? do_divide<false> : do_slow_binary;
    case BinaryFn::Shl:
      return type == Scalar::Index || type == Scalar::Bool ? do_slow_binary : do_shift<true>;
    case BinaryFn::Shr:
      return type == Scalar::Bool ? do_slow_binary : do_shift<false>;
    default:
      return do_slow_binary;
  }
}

}  // namespace tilec::interp
