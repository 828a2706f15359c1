#include "syntax/quick_lexer.h"

#include <array>
#include <algorithm>
#include <deque>
#include <unordered_map>

#include "TileLexer.h"

namespace tilec::syntax {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_of_word(char c) { return is_letter(c) || is_digit(c); }
bool is_of_line(char c) { return c != '\r' && c != '\n'; }

// What the grammar spells out.
struct Literals {
  struct Sign {
    std::string_view text;
    size_t type;
  };
  std::deque<std::string> names;  // with quotes; the others are views of these
  std::unordered_map<std::string_view, size_t> words;
  std::array<std::vector<Sign>, 256> signs;  // by first character, the longest first

  explicit Literals(const antlr4::dfa::Vocabulary& vocabulary) {
    for (size_t type = 1; type <= vocabulary.getMaxTokenType(); ++type) {
      std::string_view text = names.emplace_back(vocabulary.getLiteralName(type));
      if (text.size() < 3) continue;
      text = text.substr(1, text.size() - 2);
      if (is_letter(text[0])) words.emplace(text, type);
      else signs[uint8_t(text[0])].push_back({text, type});
    }
    for (auto& list : signs) std::sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.text.size() > b.text.size(); });
  }
};

const Literals& literals(const antlr4::Recognizer& lexer) {
  static const Literals all(lexer.getVocabulary());
  return all;
}

}  // namespace

TokenPointer QuickLexer::next() {
  move_to(end_while(at_, is_space));
  if (at_ == text_.size()) return token(antlr4::Token::EOF, at_);
  char c = text_[at_];
  if (is_letter(c)) return word();
  if (uint8_t(c) >= 0x80) return token(TileLexer::UNKNOWN, at_ + 1);
  if (is_digit(c)) return number();
  if (text_.substr(at_).starts_with("//")) return comment();
  if (text_.substr(at_).starts_with("/*")) return of_grammar();
  return sign();
}

size_t QuickLexer::end_while(size_t at, bool (*belongs)(char)) const {
  while (at < text_.size() && belongs(text_[at])) ++at;
  return at;
}

TokenPointer QuickLexer::token(size_t type, size_t end, size_t channel) {
  // Without the lexer, which a token would ask for its place.
  std::pair<antlr4::TokenSource*, antlr4::CharStream*> source(nullptr, &stream_);
  return placed(std::make_unique<antlr4::CommonToken>(source, type, channel, at_, end - 1), end);
}

TokenPointer QuickLexer::placed(std::unique_ptr<antlr4::CommonToken> token, size_t end) {
  token->setLine(line_);
  token->setCharPositionInLine(at_ - line_begin_);
  move_to(end);
  return token;
}

void QuickLexer::move_to(size_t at) {
  for (; at_ < at; ++at_)
    if (text_[at_] == '\n') ++line_, line_begin_ = at_ + 1;
}

TokenPointer QuickLexer::word() {
  size_t end = end_while(at_, is_of_word);
  const auto& words = literals(lexer_).words;
  auto found = words.find(text_.substr(at_, end - at_));
  return token(found == words.end() ? size_t(TileLexer::ID) : found->second, end);
}

TokenPointer QuickLexer::comment() {
  bool is_doc = text_.substr(at_).starts_with("///");
  return token(is_doc ? TileLexer::DOC_COMMENT : TileLexer::COMMENT, end_while(at_, is_of_line), antlr4::Token::HIDDEN_CHANNEL);
}

TokenPointer QuickLexer::sign() {
  for (const Literals::Sign& sign : literals(lexer_).signs[uint8_t(text_[at_])])
    if (text_.substr(at_).starts_with(sign.text)) return token(sign.type, at_ + sign.text.size());
  return of_grammar();
}

// Decimal and without underscores; what follows at once is no part of a longer number.
TokenPointer QuickLexer::number() {
  auto is_digit_at = [&](size_t at) { return at < text_.size() && is_digit(text_[at]); };
  size_t end = end_while(at_, is_digit), type = TileLexer::INTEGER;
  auto take = [&](size_t digits) { end = end_while(digits, is_digit), type = TileLexer::FLOAT; };
  if (end < text_.size() && text_[end] == '.' && is_digit_at(end + 1)) take(end + 1);
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t sign = end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-');
    if (is_digit_at(end + 1 + sign)) take(end + 1 + sign);
  }
  return end < text_.size() && is_of_word(text_[end]) ? of_grammar() : token(type, end);
}

TokenPointer QuickLexer::of_grammar() {
  stream_.seek(at_);
  std::unique_ptr<antlr4::CommonToken> token(static_cast<antlr4::CommonToken*>(lexer_.nextToken().release()));
  size_t end = token->getStopIndex() + 1;
  return placed(std::move(token), end);
}

}  // namespace tilec::syntax
