// Values of number and string literals.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilec::syntax {

enum class NumberFault : uint8_t { None, Malformed, TooLarge };
struct Integer {
  uint64_t value = 0;
  NumberFault fault = NumberFault::None;
};
Integer integer_value(std::string_view text);  // decimal, 0x, 0b, with `_` between digits
// The number nearest to the digits, and the digits rounded to odd: cut, with the last bit set where something was cut off. What a narrower
// format makes of that is what it makes of the digits.
struct Float {
  double nearest = 0, odd = 0;
};
std::optional<Float> float_value(std::string_view text);

struct Unescaped {
  std::string value;
  // the first escape that is none, from the opening quote; length 0 when all are good
  size_t bad_at = 0, bad_length = 0;
};
// The string between the quotes; the closing one may be missing.
Unescaped unescape(std::string_view text);

}  // namespace tilec::syntax
