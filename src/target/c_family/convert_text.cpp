// Conversions and atomics as C text.
#include "base/check.h"
#include "ir/scalar_eval.h"
#include "target/c_family/scalar_text.h"

namespace tilec::target {

using ir::AtomicFn;
using ir::ConvertMode;
using ir::Number;

namespace {

// Bounds as literals of the type that is converted from.
struct Limits {
  std::string low, high;  // empty: nothing lies beyond
};

Limits integer_limits(Scalar from, Scalar to) {
  Limits limits;
  if (is_signed(from) && integer_min(to) > integer_min(from)) limits.low = c_literal(from, Number::integer(integer_min(to)));
  if (integer_max(to) < integer_max(from)) limits.high = c_literal(from, Number::integer(int64_t(integer_max(to))));
  return limits;
}

Limits float_limits(Scalar to) {
  return {c_literal(Scalar::F64, Number::real(double(integer_min(to)))),
          c_literal(Scalar::F64, Number::real(double(integer_max(to))))};
}

}  // namespace

std::string ScalarText::saturate(Scalar from, Scalar to, const std::string& x) {
  bool from_float = is_float(from);
  Limits limits = from_float ? float_limits(to) : integer_limits(from, to);
  std::string name = "to_" + std::string(tilec::name(to)), body;
  if (limits.low.empty() && limits.high.empty()) return "(" + c_type(to) + ")" + x;
  if (from_float) body += "  if (x != x) return 0;\n";
  if (!limits.low.empty()) body += "  if (x <= " + limits.low + ") return " + c_literal(to, Number::integer(integer_min(to))) + ";\n";
  if (!limits.high.empty())
    body += "  if (x >= " + limits.high + ") return " + c_literal(to, Number::integer(int64_t(integer_max(to)))) + ";\n";
  std::string text = "{F} " + c_type(to) + " {N}({T} x) {\n" + body + "  return (" + c_type(to) + ")x;\n}\n";
  return helper(name, from, text) + "(" + x + ")";
}

std::string ScalarText::convert(Scalar from, Scalar to, ConvertMode mode, const std::string& x) {
  if (from == to) return x;
  if (mode == ConvertMode::Bits) {
    INVARIANT(bit_width(from) == bit_width(to), "bits are read as a type of equal width");
    if (to == Scalar::Bool) return x + " != 0";
    bool has_no_float = !c_type(from).starts_with("float") && from != Scalar::F64 && !c_type(to).starts_with("float") && to != Scalar::F64;
    if (has_no_float) return "(" + c_type(to) + ")" + x;
    std::string text = "{F} " + c_type(to) + " {N}({T} x) {\n  " + c_type(to) + " y;\n  memcpy(&y, &x, sizeof y);\n  return y;\n}\n";
    return helper("bits_" + std::string(tilec::name(to)), from, text) + "(" + x + ")";
  }
  if (is_narrow_float(to)) return rounded(from, to, x);
  if (is_narrow_float(from)) {
    INVARIANT(to == Scalar::F32, "narrow floats are legalised before they are spelled");
    return widened(from, x);
  }
  if (to == Scalar::Bool) return x + " != 0";
  if (is_float(to)) return "(" + c_type(to) + ")" + x;
  if (from == Scalar::Bool || (!is_float(from) && mode == ConvertMode::Wrap)) return "(" + c_type(to) + ")" + x;
  return saturate(from, to, x);
}

std::string ScalarText::atomic(AtomicFn fn, ir::MemoryOrder order, Scalar element, const std::string& pointer,
                               const std::vector<std::string>& operands) {
  constexpr std::string_view kOrders[] = {"RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL"};
  constexpr std::string_view kWhenFailed[] = {"RELAXED", "ACQUIRE", "RELAXED", "ACQUIRE"};
  std::string success = "__ATOMIC_" + std::string(kOrders[int(order)]), failure = "__ATOMIC_" + std::string(kWhenFailed[int(order)]);
  std::string suffix = "_" + std::string(kOrders[int(order)]);
  if (fn == AtomicFn::CompareExchange) {
    std::string text = "{F} {T} {N}({T} *p, {T} expected, {T} wanted) {\n  __atomic_compare_exchange(p, &expected, &wanted, 0, " +
                       success + ", " + failure + ");\n  return expected;\n}\n";
    return helper("atomic_compare_exchange" + suffix, element, text) + "(" + pointer + ", " + operands[0] + ", " + operands[1] + ")";
  }
  std::string next;
  switch (fn) {
    case AtomicFn::Add: next = binary(ir::BinaryFn::Add, element, "old", "x"); break;
    case AtomicFn::Max: next = binary(ir::BinaryFn::Max, element, "old", "x"); break;
    case AtomicFn::Min: next = binary(ir::BinaryFn::Min, element, "old", "x"); break;
    case AtomicFn::And: next = binary(ir::BinaryFn::And, element, "old", "x"); break;
    case AtomicFn::Or: next = binary(ir::BinaryFn::Or, element, "old", "x"); break;
    case AtomicFn::Xor: next = binary(ir::BinaryFn::Xor, element, "old", "x"); break;
    default: next = "x"; break;
  }
  std::string text = "{F} {T} {N}({T} *p, {T} x) {\n  {T} old, next;\n  __atomic_load(p, &old, __ATOMIC_RELAXED);\n  do {\n    next = " +
                     next + ";\n  } while (!__atomic_compare_exchange(p, &old, &next, 1, " + success + ", " + failure +
                     "));\n  return old;\n}\n";
  std::string word(ir::name(fn));
  return helper("atomic_" + word + suffix, element, text) + "(" + pointer + ", " + operands[0] + ")";
}

}  // namespace tilec::target
