// The characters of a file: mistakes of its encoding, and what is meant by characters that look like ours.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "diag/sink.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

// Length of the UTF-8 character at `at`, or 0 when there is none.
size_t character_length(std::string_view text, size_t at);
// Reports the first byte that is no UTF-8; true when there is one.
bool report_encoding(const Input& input, Diagnostics& diagnostics);
// Reports the first character that no text has; true when there is one.
bool report_control(const Input& input, Diagnostics& diagnostics);

// A sign that looks like one of ours, `–` or `≤`.
struct Lookalike {
  std::string_view theirs, ours;
  size_t type;
};
const Lookalike* lookalike_at(std::string_view text, size_t at);  // none: null

// A character that is not seen, `U+00A0`.
struct Blank {
  size_t length;
  std::string number;
  std::string_view name, ours;
};
std::optional<Blank> blank_at(std::string_view text, size_t at);

// A text in quotes of a word processor, that ends on its line.
struct Quoted {
  std::string_view text;
  size_t end;
  bool is_single;  // `‘a’`
};
std::optional<Quoted> quoted_at(std::string_view text, size_t at);

}  // namespace tilec::syntax
