// Reads literals without the locale.
#include "syntax/literals.h"

#include <bit>
#include <cfenv>
#include <charconv>
#include <cstdlib>

namespace tilec::syntax {
namespace {

std::string without_separators(std::string_view text) {
  std::string digits;
  for (char c : text)
    if (c != '_') digits += c;
  return digits;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Integer integer_value(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    if (text[1] == 'x' || text[1] == 'X') base = 16;
    if (text[1] == 'b' || text[1] == 'B') base = 2;
  }
  std::string digits = without_separators(base == 10 ? text : text.substr(2));
  Integer result;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.value, base);
  if (error == std::errc::result_out_of_range) result.fault = NumberFault::TooLarge;
  else if (error != std::errc() || end != digits.data() + digits.size()) result.fault = NumberFault::Malformed;
  return result;
}

namespace {

double read_rounded(const std::string& digits, int direction) {
  int before = std::fegetround();
  std::fesetround(direction);
  double value = std::strtod(digits.c_str(), nullptr);
  std::fesetround(before);
  return value;
}

}  // namespace

std::optional<Float> float_value(std::string_view text) {
  std::string digits = without_separators(text);
  char* end = nullptr;
  double value = std::strtod(digits.c_str(), &end);  // too small is zero, too large is infinite
  if (end != digits.c_str() + digits.size()) return std::nullopt;
  double cut = read_rounded(digits, FE_TOWARDZERO);
  bool is_exact = cut == read_rounded(digits, FE_UPWARD);
  return Float{value, is_exact ? cut : std::bit_cast<double>(std::bit_cast<uint64_t>(cut) | 1)};
}

Unescaped unescape(std::string_view text) {
  Unescaped result;
  bool is_closed = text.size() >= 2 && text.back() == '"';
  size_t end = is_closed ? text.size() - 1 : text.size();
  auto bad = [&](size_t at, size_t length) {
    if (result.bad_length == 0) result.bad_at = at, result.bad_length = std::min(length, end - at);
  };
  for (size_t i = 1; i < end; ++i) {
    if (text[i] != '\\') {
      result.value += text[i];
      continue;
    }
    size_t at = i++;
    char c = i < end ? text[i] : '\0';
    if (c == 'n') result.value += '\n';
    else if (c == 't') result.value += '\t';
    else if (c == 'r') result.value += '\r';
    else if (c == '0') result.value += '\0';
    else if (c == '\\' || c == '"') result.value += c;
    else if (c == 'x' && i + 2 < end && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      result.value += char(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else bad(at, 2);
  }
  return result;
}

}  // namespace tilec::syntax
