// Attributes as text, and back. `parse_attribute` reads exactly what `attribute_text` wrote; on anything else it fails
// the scanner and gives false.
#pragma once
#include <concepts>

#include "ir/attributes.h"
#include "ir/scanner.h"

namespace tilec::ir {

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) { names_of(e); };

std::string attribute_text(bool value);
std::string attribute_text(int64_t value);
std::string attribute_text(const Text& value);    // quoted
std::string attribute_text(const Number& value);  // a float keeps its bits: shortest decimal, inf, nan, nan.0x<bits>
std::string attribute_text(const std::optional<int64_t>& value);
template <NamedEnum E>
std::string attribute_text(E value) {
  return std::string(name(value));
}
template <class T>
std::string attribute_text(const std::vector<T>& values);

bool parse_attribute(Scanner& scanner, bool& out);
bool parse_attribute(Scanner& scanner, int64_t& out);
bool parse_attribute(Scanner& scanner, Text& out);
bool parse_attribute(Scanner& scanner, Number& out);
bool parse_attribute(Scanner& scanner, std::optional<int64_t>& out);
template <NamedEnum E>
bool parse_attribute(Scanner& scanner, E& out);
template <class T>
bool parse_attribute(Scanner& scanner, std::vector<T>& out);

// [item, item]: `item` reads one and gives false on failure.
template <class F>
bool parse_list(Scanner& scanner, F&& item) {
  if (!scanner.expect('[')) return false;
  if (scanner.accept(']')) return true;
  do {
    if (!item()) return false;
  } while (scanner.accept(','));
  return scanner.expect(']');
}

template <class T>
std::string attribute_text(const std::vector<T>& values) {
  std::string out = "[";
  for (const T& value : values) {
    if (out.size() > 1) out += ", ";
    out += attribute_text(value);
  }
  return out + "]";
}

template <NamedEnum E>
bool parse_attribute(Scanner& scanner, E& out) {
  EnumNames names = names_of(E{});
  std::string_view word = scanner.word();
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) {
      out = E(i);
      return true;
    }
  return scanner.fail("'" + std::string(word) + "' is none of the words that may stand here");
}

template <class T>
bool parse_attribute(Scanner& scanner, std::vector<T>& out) {
  out.clear();
  return parse_list(scanner, [&] {
    T value{};
    if (!parse_attribute(scanner, value)) return false;
    out.push_back(std::move(value));
    return true;
  });
}

}  // namespace tilec::ir
