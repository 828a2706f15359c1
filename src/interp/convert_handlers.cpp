// Conversions between scalar types.
#include "base/rounded_to_odd.h"
#include "interp/handlers.h"
#include "interp/rounding.h"

namespace tilec::interp {

using namespace ir;

namespace {

template <class Round>
Status do_float_to_float(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].f = Round::apply(a[lane].f);
  spread(s, i, d);
  return Status::Next;
}

template <class Round>
Status do_integer_to_float(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  constexpr bool is_f64 = std::is_same_v<Round, KeepF64>;
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].f = is_f64 ? double(a[lane].i) : Round::apply(rounded_to_odd(a[lane].i));
  spread(s, i, d);
  return Status::Next;
}

Status do_saturate(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  int64_t least = integer_min(i.type), greatest = int64_t(integer_max(i.type));
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].i = std::clamp(a[lane].i, least, greatest);
  spread(s, i, d);
  return Status::Next;
}

// A float of any width toward zero, clamped; a NaN gives 0.
Status do_float_to_integer(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  double low = double(integer_min(i.type)), high = double(integer_max(i.type));
  for (int lane = 0; lane < i.lanes; ++lane) {
    double x = a[lane].f;
    d[lane].i = x > low && x < high ? int64_t(x) : saturate(i.type, x);
  }
  spread(s, i, d);
  return Status::Next;
}

// Bits as they lie in memory.
Status do_same_bits(Strand& s, const Instr& i) {
  alignas(8) uint8_t bits[64 * 8];
  Slot* d = s.at(i.dst);
  store_elements(i.from, bits, i.lanes, s.at(i.a));
  load_elements(i.type, bits, i.lanes, d);
  spread(s, i, d);
  return Status::Next;
}

Status do_wrap(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  int shift = 64 - bit_width(i.type);
  if (is_signed(i.type))
    for (int lane = 0; lane < i.lanes; ++lane) d[lane].i = int64_t(a[lane].u << shift) >> shift;
  else
    for (int lane = 0; lane < i.lanes; ++lane) d[lane].u = a[lane].u << shift >> shift;
  spread(s, i, d);
  return Status::Next;
}

Status do_generic_convert(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (int lane = 0; lane < i.lanes; ++lane)
    d[lane] = to_slot(evaluate_convert(i.from, i.type, ConvertMode(i.fn), to_number(i.from, a[lane])));
  spread(s, i, d);
  return Status::Next;
}

template <template <class> class Pick>
Handler rounded(Scalar to) {
  switch (to) {
    case Scalar::F64:
      return Pick<KeepF64>::handler;
    case Scalar::F32:
      return Pick<RoundF32>::handler;
    case Scalar::F16:
      return Pick<RoundF16>::handler;
    case Scalar::BF16:
      return Pick<RoundBF16>::handler;
    case Scalar::TF32:
      return Pick<RoundTF32>::handler;
    default:
      return do_generic_convert;
  }
}
template <class Round>
struct FromFloat {
  static constexpr Handler handler = do_float_to_float<Round>;
};
template <class Round>
struct FromInteger {
  static constexpr Handler handler = do_integer_to_float<Round>;
};

}  // namespace

Status do_keep(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* a = s.at(i.a);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane] = a[lane];
  spread(s, i, d);
  return Status::Next;
}

// A slot holds every signed type, and every unsigned one below 64 bits, as a signed number.
Handler convert_handler(Scalar from, Scalar to, ConvertMode mode) {
  bool has_bool = from == Scalar::Bool || to == Scalar::Bool;
  if (mode == ConvertMode::Bits && !has_bool && bit_width(from) == bit_width(to)) return do_same_bits;
  if (mode == ConvertMode::Wrap && is_integer(from) && is_integer(to)) return do_wrap;
  if (mode == ConvertMode::Nearest && is_float(from) && is_integer(to) && (is_signed(to) || bit_width(to) < 64)) return do_float_to_integer;
  if (mode != ConvertMode::Nearest) return do_generic_convert;
  bool is_plain = !is_float(from) && (is_signed(from) || bit_width(from) < 64);
  if (is_float(to))
    return is_float(from) ? rounded<FromFloat>(to) : is_plain ? rounded<FromInteger>(to) : do_generic_convert;
  if (!is_plain || to == Scalar::Bool) return do_generic_convert;
  if (is_signed(to) && bit_width(to) == 64) return do_keep;
  return bit_width(to) < 64 ? do_saturate : do_generic_convert;
}

}  // namespace tilec::interp
