#include "target/c_family/scalar_text.h"

#include "base/check.h"
#include "ir/scalar_eval.h"

namespace tilec::target {

using ir::BinaryFn;
using ir::CompareFn;
using ir::ReduceFn;
using ir::UnaryFn;

namespace {

std::string call(const std::string& function, std::initializer_list<std::string> operands) {
  std::string out = function + "(";
  for (const std::string& x : operands) out += (out.back() == '(' ? "" : ", ") + x;
  return out + ")";
}

std::string cast(Scalar element, const std::string& x) { return "(" + c_type(element) + ")(" + x + ")"; }

// "sqrtf" and "sqrt".
std::string math(std::string_view name, Scalar element) {
  return std::string(name) + (element == Scalar::F32 ? "f" : "");
}

}  // namespace

std::string ScalarText::helper(std::string name, Scalar element, std::string_view text) {
  name = "tile_" + name + "_" + std::string(tilec::name(element));
  if (known_.emplace(name, true).second)
    helpers_ += filled(text, {{"F", function_}, {"N", name}, {"T", c_type(element)}, {"U", c_unsigned_type(element)},
                              {"W", std::to_string(bit_width(element))},
                              {"G", is_float(element) ? "" : c_literal(element, ir::Number::integer(int64_t(integer_max(element))))}});
  return name;
}

// In unsigned arithmetic of at least 32 bits, where nothing overflows.
std::string ScalarText::modular(std::string_view sign, Scalar element, const std::string& a, const std::string& b) {
  std::string work = bit_width(element) > 32 ? "(uint64_t)" : "(uint32_t)";
  return cast(element, work + a + " " + std::string(sign) + " " + work + b);
}

std::string ScalarText::unary(UnaryFn fn, Scalar element, const std::string& x) {
  if (is_float(element)) return float_unary(fn, element, x);
  bool is_bool = element == Scalar::Bool;
  switch (fn) {
    case UnaryFn::Neg: return is_bool ? x : modular("-", element, "0", x);
    case UnaryFn::Not: return is_bool ? "!" + x : cast(element, "~" + x);
    case UnaryFn::Abs: return is_signed(element) ? "(" + x + " < 0 ? " + modular("-", element, "0", x) + " : " + x + ")" : x;
    case UnaryFn::IsNan: return "false";
    case UnaryFn::PopCount: {
      if (is_bool) return x;
      return call(helper("popcount", element,
                         "{F} {T} {N}({T} x) {\n  uint64_t bits = ({U})x;\n  int count = 0;\n  for (; bits; bits &= bits - 1) ++count;\n"
                         "  return ({T})count;\n}\n"), {x});
    }
    case UnaryFn::LeadingZeros: {
      if (is_bool) return "true";
      return call(helper("leading_zeros", element,
                         "{F} {T} {N}({T} x) {\n  uint64_t bits = ({U})x;\n  int count = {W};\n  for (; bits; bits >>= 1) --count;\n"
                         "  return ({T})count;\n}\n"), {x});
    }
    default: UNREACHABLE("the function is not one of integers");
  }
}

std::string ScalarText::float_unary(UnaryFn fn, Scalar element, const std::string& x) {
  INVARIANT(!is_narrow_float(element), "narrow floats are legalised before they are spelled");
  switch (fn) {
    case UnaryFn::Neg: return "-" + x;
    case UnaryFn::Abs: return call(math("fabs", element), {x});
    case UnaryFn::Sqrt: return call(math("sqrt", element), {x});
    case UnaryFn::Rsqrt: return "1 / " + call(math("sqrt", element), {x});
    case UnaryFn::Floor: return call(math("floor", element), {x});
    case UnaryFn::Ceil: return call(math("ceil", element), {x});
    case UnaryFn::Round: return call(math("rint", element), {x});
    case UnaryFn::Trunc: return call(math("trunc", element), {x});
    case UnaryFn::IsNan: return x + " != " + x;
    default: UNREACHABLE("transcendental functions are expanded before they are spelled");
  }
}

std::string ScalarText::binary(BinaryFn fn, Scalar element, const std::string& a, const std::string& b) {
  if (element == Scalar::Bool) return bool_binary(fn, a, b);
  return is_float(element) ? float_binary(fn, element, a, b) : integer_binary(fn, element, a, b);
}

std::string ScalarText::float_binary(BinaryFn fn, Scalar element, const std::string& a, const std::string& b) {
  INVARIANT(!is_narrow_float(element), "narrow floats are legalised before they are spelled");
  switch (fn) {
    case BinaryFn::Add: return a + " + " + b;
    case BinaryFn::Sub: return a + " - " + b;
    case BinaryFn::Mul: return a + " * " + b;
    case BinaryFn::Div: return a + " / " + b;
    case BinaryFn::Rem:
      // In double: in float a quotient just below a whole number would round up to it.
      return call(helper("rem", element,
                         "{F} {T} {N}({T} a, {T} b) {\n  double whole = floor((double)a / (double)b);\n"
                         "  double product = (double)b * whole;\n  return ({T})((double)a - product);\n}\n"), {a, b});
    case BinaryFn::Min:
      return call(helper("min", element, "{F} {T} {N}({T} a, {T} b) { return a != a ? b : b < a ? b : a; }\n"), {a, b});
    case BinaryFn::Max:
      return call(helper("max", element, "{F} {T} {N}({T} a, {T} b) { return a != a ? b : b > a ? b : a; }\n"), {a, b});
    case BinaryFn::Minimum:
      return call(helper("minimum", element, "{F} {T} {N}({T} a, {T} b) { return a != a ? a : b != b || b < a ? b : a; }\n"), {a, b});
    case BinaryFn::Maximum:
      return call(helper("maximum", element, "{F} {T} {N}({T} a, {T} b) { return a != a ? a : b != b || b > a ? b : a; }\n"), {a, b});
    default: UNREACHABLE("the function is expanded before it is spelled, or is not one of floats");
  }
}

// What the byte 0 or 1 would give, taken as "not zero".
std::string ScalarText::bool_binary(BinaryFn fn, const std::string& a, const std::string& b) {
  switch (fn) {
    case BinaryFn::And: case BinaryFn::Mul: case BinaryFn::Min: case BinaryFn::Minimum: case BinaryFn::Div: return a + " & " + b;
    case BinaryFn::Or: case BinaryFn::Add: case BinaryFn::Max: case BinaryFn::Maximum: return a + " | " + b;
    case BinaryFn::Xor: case BinaryFn::Sub: return a + " ^ " + b;
    case BinaryFn::Shl: return a;
    case BinaryFn::Shr: return a + " & !" + b;
    case BinaryFn::Rem: return "false";
    default: UNREACHABLE("the function is not one of bools");
  }
}

std::string ScalarText::integer_binary(BinaryFn fn, Scalar element, const std::string& a, const std::string& b) {
  bool has_sign = is_signed(element);
  auto by_helper = [&](const char* name, std::string_view with_sign, std::string_view without) {
    return call(helper(name, element, has_sign ? with_sign : without), {a, b});
  };
  switch (fn) {
    case BinaryFn::Add: return modular("+", element, a, b);
    case BinaryFn::Sub: return modular("-", element, a, b);
    case BinaryFn::Mul: return modular("*", element, a, b);
    case BinaryFn::And: return cast(element, a + " & " + b);
    case BinaryFn::Or: return cast(element, a + " | " + b);
    case BinaryFn::Xor: return cast(element, a + " ^ " + b);
    case BinaryFn::Min: case BinaryFn::Minimum: return a + " < " + b + " ? " + a + " : " + b;
    case BinaryFn::Max: case BinaryFn::Maximum: return a + " > " + b + " ? " + a + " : " + b;
    case BinaryFn::Div:
      return by_helper("div",
                       "{F} {T} {N}({T} a, {T} b) {\n  if (b == 0) return 0;\n  if (b == -1) return ({T})(0 - ({U})a);\n"
                       "  {T} quotient = ({T})(a / b);\n  return ({T})(quotient - (a % b != 0 && (a < 0) != (b < 0)));\n}\n",
                       "{F} {T} {N}({T} a, {T} b) { return ({T})(b == 0 ? 0 : a / b); }\n");
    case BinaryFn::Rem:
      return by_helper("rem",
                       "{F} {T} {N}({T} a, {T} b) {\n  if (b == 0 || b == -1) return 0;\n  {T} rest = ({T})(a % b);\n"
                       "  return ({T})(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);\n}\n",
                       "{F} {T} {N}({T} a, {T} b) { return ({T})(b == 0 ? 0 : a % b); }\n");
    case BinaryFn::Shl: {
      constexpr std::string_view kShl = "{F} {T} {N}({T} a, {T} b) { return ({U})b >= {W} ? 0 : ({T})((uint64_t)a << b); }\n";
      return by_helper("shl", kShl, kShl);
    }
    case BinaryFn::Shr:
      return by_helper("shr",
                       "{F} {T} {N}({T} a, {T} b) {\n  int places = ({U})b >= {W} ? {W} - 1 : (int)b;\n"
                       "  return ({T})(a < 0 ? ~(~a >> places) : a >> places);\n}\n",
                       "{F} {T} {N}({T} a, {T} b) { return ({T})(b >= {W} ? 0 : a >> b); }\n");
    case BinaryFn::Pow: UNREACHABLE("powers are expanded before they are spelled");
  }
  UNREACHABLE("a binary function is one of the table");
}

std::string ScalarText::overflows(BinaryFn fn, const std::string& a, const std::string& b) {
  auto by_helper = [&](const char* name, std::string_view text) { return call(helper(name, Scalar::Index, text), {a, b}); };
  switch (fn) {
    case BinaryFn::Add:
      return by_helper("add_overflows", "{F} int {N}({T} a, {T} b) { return b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b; }\n");
    case BinaryFn::Sub:
      return by_helper("sub_overflows", "{F} int {N}({T} a, {T} b) { return b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b; }\n");
    case BinaryFn::Mul:
      return by_helper("mul_overflows",
                       "{F} int {N}({T} a, {T} b) {\n  if (a == 0 || b == 0) return 0;\n"
                       "  if (a == -1 || b == -1) return (a == -1 ? b : a) == INT64_MIN;\n"
                       "  return ({T})((uint64_t)a * (uint64_t)b) / b != a;\n}\n");
    case BinaryFn::Div: return by_helper("div_overflows", "{F} int {N}({T} a, {T} b) { return a == INT64_MIN && b == -1; }\n");
    case BinaryFn::Shl:
      return by_helper("shl_overflows",
                       "{F} int {N}({T} a, {T} b) {\n  if (b < 0 || b > 63) return a != 0;\n"
                       "  return a > (INT64_MAX >> b) || a < -(INT64_MAX >> b) - 1;\n}\n");
    default: return "0";
  }
}

std::string ScalarText::size_product(const std::string& a, const std::string& b) {
  return call(helper("size_product", Scalar::Index,
                     "{F} {T} {N}({T} a, {T} b) {\n  if (a == -2 || b < 0) return -2;\n  if (a == 0 || b == 0) return 0;\n"
                     "  return a < 0 || a > INT64_MAX / b ? -1 : a * b;\n}\n"), {a, b});
}

// Rounded once, by the library where it is no instruction.
std::string ScalarText::fma(Scalar element, const std::string& a, const std::string& b, const std::string& c) {
  if (!is_float(element)) return modular("+", element, "(" + modular("*", element, a, b) + ")", c);
  return call(math("fma", element), {a, b, c});
}

std::string ScalarText::compare(CompareFn fn, const std::string& a, const std::string& b) {
  constexpr std::string_view kWords[] = {"==", "!=", "<", "<=", ">", ">="};
  return a + " " + std::string(kWords[int(fn)]) + " " + b;
}

std::string ScalarText::reduce_step(ReduceFn fn, Scalar element, const std::string& a, const std::string& b) {
  switch (fn) {
    case ReduceFn::Sum: return binary(BinaryFn::Add, element, a, b);
    case ReduceFn::Prod: return binary(BinaryFn::Mul, element, a, b);
    case ReduceFn::Max: return binary(BinaryFn::Max, element, a, b);
    case ReduceFn::AbsMax:
      if (!is_signed(element)) return binary(BinaryFn::Max, element, a, unary(UnaryFn::Abs, element, b));
      return binary(BinaryFn::Max, element, a, call(helper("magnitude", element, "{F} {T} {N}({T} x) { return x < -{G} ? {G} : ({T})(x < 0 ? -x : x); }\n"), {b}));
    case ReduceFn::Min: return binary(BinaryFn::Min, element, a, b);
    case ReduceFn::Any: return binary(BinaryFn::Or, element, a, b);
    case ReduceFn::All: return binary(BinaryFn::And, element, a, b);
    case ReduceFn::ArgMax: case ReduceFn::ArgMin: UNREACHABLE("positions are reduced by pairs in the IR");
  }
  UNREACHABLE("a reduction is one of the table");
}

}  // namespace tilec::target
