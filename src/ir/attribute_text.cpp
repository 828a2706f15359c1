#include "ir/attribute_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace tilec::ir {

namespace {

const uint64_t kQuietNan = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());

std::string float_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char digits[40];
  if (std::isnan(value)) {
    uint64_t bits = std::bit_cast<uint64_t>(value);
    if (bits == kQuietNan) return "nan";
    auto end = std::to_chars(digits, digits + sizeof digits, bits, 16).ptr;
    return "nan.0x" + std::string(digits, end);
  }
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  bool reads_as_float = text.find_first_of(".e") != text.npos;
  return reads_as_float ? text : text + ".0";
}

template <class T, class... Form>
std::optional<T> whole(std::string_view text, Form... form) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, form...);
  bool is_whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_float(std::string_view text) {
  if (text == "nan") return std::bit_cast<double>(kQuietNan);
  if (text.starts_with("nan.0x")) {
    auto bits = whole<uint64_t>(text.substr(6), 16);
    if (!bits || !std::isnan(std::bit_cast<double>(*bits))) return std::nullopt;
    return std::bit_cast<double>(*bits);
  }
  bool is_negative = text.starts_with('-');
  std::string_view magnitude = text.substr(is_negative ? 1 : 0);
  if (magnitude.starts_with('-') || magnitude.starts_with('+')) return std::nullopt;
  std::optional<double> value;
  if (magnitude == "inf")
    value = std::numeric_limits<double>::infinity();
  else if (magnitude.starts_with("0x"))
    value = whole<double>(magnitude.substr(2), std::chars_format::hex);
  else if (!magnitude.empty() && magnitude[0] >= '0' && magnitude[0] <= '9')
    value = whole<double>(magnitude);
  if (value && is_negative) value = -*value;
  return value;
}

bool is_float_text(std::string_view text) {
  if (text.find_first_of("np") != text.npos) return true;  // inf, nan and the exponent of a hexadecimal float
  if (text.find("0x") != text.npos) return text.find('.') != text.npos;
  return text.find_first_of(".e") != text.npos;
}

}  // namespace

std::string attribute_text(bool value) { return value ? "true" : "false"; }
std::string attribute_text(int64_t value) { return std::to_string(value); }
std::string attribute_text(const Text& value) { return quoted(value); }
std::string attribute_text(const Number& value) {
  return value.is_float ? float_text(value.f) : std::to_string(value.i);
}
std::string attribute_text(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "none"; }

bool parse_attribute(Scanner& scanner, bool& out) {
  out = scanner.accept_word("true");
  return out || scanner.accept_word("false") || scanner.fail("expected true or false");
}

bool parse_attribute(Scanner& scanner, int64_t& out) { return scanner.integer(out); }

bool parse_attribute(Scanner& scanner, Text& out) { return scanner.string(out); }

bool parse_attribute(Scanner& scanner, Number& out) {
  std::string_view text = scanner.word();
  if (is_float_text(text)) {
    auto value = parse_float(text);
    if (value) out = Number::real(*value);
    return value || scanner.fail("'" + std::string(text) + "' is not a number");
  }
  bool is_hex = text.starts_with("0x");
  auto bits = is_hex ? whole<uint64_t>(text.substr(2), 16) : std::nullopt;
  auto value = is_hex ? (bits ? std::optional(int64_t(*bits)) : std::nullopt) : decimal(text);
  if (value) out = Number::integer(*value);
  return value || scanner.fail("'" + std::string(text) + "' is not a number");
}

bool parse_attribute(Scanner& scanner, std::optional<int64_t>& out) {
  out.reset();
  if (scanner.accept_word("none")) return true;
  return scanner.integer(out.emplace());
}

}  // namespace tilec::ir
