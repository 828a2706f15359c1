// Reads IR text word by word. Blanks and `// comments` stand between words and mean nothing. The first failure counts
// and ends the reading: everything after it finds no text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tilec::ir {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() { return peek() == '\0'; }
  char peek();  // the next character that means something; 0 at the end
  bool accept(char c);
  bool expect(char c);
  bool accept_word(std::string_view word);
  // Letters, digits, `_`, `.` and `?`, and the signs of numbers; empty when something else comes next.
  std::string_view word();
  std::string_view peek_word();
  // `%name`, without the sign.
  std::optional<std::string_view> value_name();
  bool string(std::string& out);  // "text" with C escapes
  bool integer(int64_t& out);     // decimal
  // The characters up to `end`, which stays.
  std::string_view until(char end);

  size_t position() const { return position_; }
  void rewind(size_t position) { position_ = position; }
  int line() const;

  bool fail(std::string message);  // gives false
  bool failed() const { return failed_; }
  const std::string& error() const { return error_; }  // with its line

 private:
  void skip_blanks();

  std::string_view text_;
  size_t position_ = 0;
  bool failed_ = false;
  std::string error_;
};

bool is_word_character(char c);
// A whole text as a decimal number.
std::optional<int64_t> decimal(std::string_view text);

}  // namespace tilec::ir
