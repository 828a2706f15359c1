// Types and numbers as C text.
#include <cmath>

#include "base/check.h"
#include "ir/scalar_eval.h"
#include "target/c_family/scalar_text.h"

namespace tilec::target {

std::string c_unsigned_type(Scalar element) { return "uint" + std::to_string(bit_width(element)) + "_t"; }

std::string c_type(Scalar element) {
  switch (element) {
    case Scalar::Bool: return "bool";
    case Scalar::F32: return "float";
    case Scalar::F64: return "double";
    default: break;
  }
  return is_signed(element) ? "int" + std::to_string(bit_width(element)) + "_t" : c_unsigned_type(element);
}

std::string c_memory_type(Scalar element) {
  INVARIANT(bit_width(element) % 8 == 0, "memory is reached by whole bytes");
  if (element == Scalar::TF32) return "tile_tf32_bits";
  return element == Scalar::Bool ? "uint8_t" : c_type(element);
}

namespace {

std::string float_literal(Scalar element, double value) {
  bool is_double = element == Scalar::F64;
  std::string sign = std::signbit(value) ? "-" : "", cast = is_double ? "(double)" : "";
  if (std::isnan(value)) return cast + "NAN";
  if (std::isinf(value)) return "(" + sign + cast + "INFINITY)";
  char text[64];
  std::snprintf(text, sizeof text, "%a%s", std::fabs(value), is_double ? "" : "f");
  return sign.empty() ? text : "(-" + std::string(text) + ")";
}

}  // namespace

std::string c_literal(Scalar element, ir::Number number) {
  if (element == Scalar::F32 || element == Scalar::F64) return float_literal(element, number.f);
  if (element == Scalar::Bool) return number.i ? "true" : "false";
  int width = bit_width(element);
  if (!is_signed(element)) {
    std::string digits = std::to_string(ir::to_bits(element, number));
    return width == 64 ? "UINT64_C(" + digits + ")" : digits + "u";
  }
  if (number.i == integer_min(element)) return "INT" + std::to_string(width) + "_MIN";
  std::string digits = std::to_string(std::abs(number.i));
  if (width == 64) digits = "INT64_C(" + digits + ")";
  return number.i < 0 ? "(-" + digits + ")" : digits;
}

std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    bool is_key = false;
    for (const auto& [key, value] : values) {
      std::string mark = "{" + std::string(key) + "}";
      if (text.substr(i, mark.size()) != mark) continue;
      out += value;
      i += mark.size();
      is_key = true;
      break;
    }
    if (!is_key) out += text[i++];
  }
  return out;
}

}  // namespace tilec::target
