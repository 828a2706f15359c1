#include "ir/scanner.h"

#include <algorithm>
#include <charconv>

namespace tilec::ir {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_sign(char c) { return c == '-' || c == '+'; }
// After one of these the sign of an exponent may stand.
bool begins_exponent(char c) { return c == 'e' || c == 'E' || c == 'p' || c == 'P'; }

std::optional<char> plain_escape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '"':
    case '\\': return c;
    default: return std::nullopt;
  }
}

}  // namespace

bool is_word_character(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '?'; }

std::optional<int64_t> decimal(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void Scanner::skip_blanks() {
  while (position_ < text_.size()) {
    char c = text_[position_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

char Scanner::peek() {
  if (failed_) return '\0';
  skip_blanks();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool Scanner::accept(char c) {
  if (c == '\0' || peek() != c) return false;
  ++position_;
  return true;
}

bool Scanner::expect(char c) { return accept(c) || fail(std::string("expected '") + c + "'"); }

std::string_view Scanner::peek_word() {
  if (peek() == '\0') return {};
  std::string_view rest = text_.substr(position_);
  size_t end = is_sign(rest[0]) && rest.size() > 1 && is_word_character(rest[1]) ? 1 : 0;
  bool is_number = end == 1 || is_digit(rest[0]);
  while (end < rest.size() && (is_word_character(rest[end]) ||
                               (is_number && end > 0 && is_sign(rest[end]) && begins_exponent(rest[end - 1]))))
    ++end;
  return rest.substr(0, end);
}

std::string_view Scanner::word() {
  std::string_view found = peek_word();
  position_ += found.size();
  return found;
}

bool Scanner::accept_word(std::string_view expected) {
  if (peek_word() != expected) return false;
  position_ += expected.size();
  return true;
}

std::optional<std::string_view> Scanner::value_name() {
  if (!accept('%')) {
    fail("expected a value");
    return std::nullopt;
  }
  size_t begin = position_;
  while (position_ < text_.size() && is_word_character(text_[position_])) ++position_;
  if (position_ > begin) return text_.substr(begin, position_ - begin);
  fail("expected a name after '%'");
  return std::nullopt;
}

bool Scanner::string(std::string& out) {
  out.clear();
  if (!accept('"')) return fail("expected a text in quotes");
  while (position_ < text_.size() && text_[position_] != '"') {
    char c = text_[position_++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (position_ == text_.size()) break;
    if (auto plain = plain_escape(text_[position_])) {
      out += *plain;
      ++position_;
      continue;
    }
    int code = 0, digits = 0;
    for (; digits < 3 && position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '7'; ++digits)
      code = code * 8 + (text_[position_++] - '0');
    if (digits == 0) return fail("unknown escape in a text");
    out += char(code);
  }
  if (position_ == text_.size()) return fail("a text has no closing quote");
  ++position_;
  return true;
}

bool Scanner::integer(int64_t& out) {
  auto value = decimal(word());
  if (!value) return fail("expected an integer");
  out = *value;
  return true;
}

std::string_view Scanner::until(char end) {
  if (peek() == '\0') return {};
  size_t stop = std::min(text_.find(end, position_), text_.size());
  std::string_view found = text_.substr(position_, stop - position_);
  position_ = stop;
  return found;
}

int Scanner::line() const { return 1 + int(std::count(text_.begin(), text_.begin() + position_, '\n')); }

bool Scanner::fail(std::string message) {
  if (failed_) return false;
  failed_ = true;
  error_ = "line " + std::to_string(line()) + ": " + std::move(message);
  return false;
}

}  // namespace tilec::ir
