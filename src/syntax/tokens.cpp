// Runs the lexer, keeps the comments and answers for tokens that are mistakes.
#include "syntax/tokens.h"

#include "TileLexer.h"
#include "base/advice.h"
#include "base/text.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"

namespace tilec::syntax {
namespace {

// Length of the UTF-8 character at `at`, or 0 when there is none.
size_t character_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return at + i < text.size() ? uint8_t(text[at + i]) : 0; };
  auto follows = [&](size_t count) {
    for (size_t i = 1; i <= count; ++i)
      if ((byte(i) & 0xc0) != 0x80) return false;
    return true;
  };
  uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    bool is_overlong = first == 0xe0 && byte(1) < 0xa0, is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    bool is_overlong = first == 0xf0 && byte(1) < 0x90, is_too_large = first == 0xf4 && byte(1) >= 0x90;
    return follows(3) && !is_overlong && !is_too_large ? 4 : 0;
  }
  return 0;
}

std::string hex_byte(char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02X", unsigned(uint8_t(byte)));
  return text;
}

// Reports the first byte that is no UTF-8; true when there is one.
bool report_encoding(const Input& input, Diagnostics& diagnostics) {
  for (size_t at = 0; at < input.text.size();) {
    size_t length = character_length(input.text, at);
    if (length == 0) {
      diagnostics.at(input.span(at, at + 1)).error(diag::InvalidUtf8, hex_byte(input.text[at]));
      return true;
    }
    at += length;
  }
  return false;
}

// What a file that is no text of ours looks like.
std::string_view kind_of_file(std::string_view text) {
  auto has_zeros_from = [&](size_t first) {
    size_t count = 0, most = std::min<size_t>(text.size(), 64);
    for (size_t i = first; i < most; i += 2) count += text[i] == 0;
    return most > 3 && count * 4 >= most;
  };
  if (text.starts_with("\x7f" "ELF")) return "an object: `tilec inspect` says what is in it";
  if (text.starts_with("!<arch>")) return "a library of objects";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || has_zeros_from(1) || has_zeros_from(0)) return "UTF-16: save it as UTF-8";
  return "no text";
}

// Reports the first character that no text has; true when there is one.
bool report_control(const Input& input, Diagnostics& diagnostics) {
  auto is_control = [](char c) { return (uint8_t(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7f; };
  size_t at = size_t(std::ranges::find_if(input.text, is_control) - input.text.begin());
  if (at == input.text.size()) return false;
  std::string help = "the file is not read: it is " + std::string(kind_of_file(input.text));
  diagnostics.at(input.span(at, at + 1)).error(diag::UnknownCharacter, hex_byte(input.text[at])).help(std::move(help));
  return true;
}

class Reader {
 public:
  Reader(const Input& input, Diagnostics& diagnostics, Tokens& out)
      : input_(input), diagnostics_(diagnostics), out_(out), has_bad_encoding_(report_encoding(input, diagnostics)) {}

  void take(TokenPointer token) {
    bool is_of_dropped_line = token->getStartIndex() < dropped_end_ && token->getType() != antlr4::Token::EOF;
    if (is_of_dropped_line) return;
    switch (token->getType()) {
      case TileLexer::COMMENT:
      case TileLexer::DOC_COMMENT: return comment(*token);
      case TileLexer::BLOCK_COMMENT: return block_comment(*token);
      case TileLexer::UNKNOWN: return unknown(*token);
      case TileLexer::OPEN_STRING: return open_string(std::move(token));
      case TileLexer::INTEGER: return integer(std::move(token));
      case TileLexer::BAD_NUMBER: return bad_number(std::move(token));
      default: out_.list.push_back(std::move(token));
    }
  }

 private:
  void comment(const antlr4::Token& token) {
    size_t begin = token.getStartIndex();
    size_t line = input_.text.find_last_of("\n", begin);
    std::string_view before = input_.text.substr(line + 1, begin - line - 1);  // npos + 1 is the first line's begin
    out_.comments.push_back(
        {input_.span(token), token.getType() == TileLexer::DOC_COMMENT,
            before.find_first_not_of(" \t") == before.npos});
  }

  void block_comment(const antlr4::Token& token) {
    diagnostics_.at(input_.span(token.getStartIndex(), token.getStartIndex() + 2)).error(diag::BlockComment);
    if (!input_.spelling(token).ends_with("*/")) damage_line(token);
  }

  // Neighbouring unknown bytes are one mistake.
  void unknown(const antlr4::Token& token) {
    size_t at = token.getStartIndex();
    bool is_mark = at < 3 && input_.text.starts_with("\xEF\xBB\xBF");
    if (input_.text[at] == '#') return directive(token);
    if (size_t end = end_of_quoted(at); end > at) return quoted(token, end);
    bool is_reported = at < unknown_end_ || (has_bad_encoding_ && uint8_t(input_.text[at]) >= 0x80);
    if (is_mark) return;
    damage_line(token);
    if (is_reported) return;
    size_t length = std::max<size_t>(1, character_length(input_.text, at));
    unknown_end_ = at + length;
    auto said = diagnostics_.at(input_.span(at, at + length)).error(diag::UnknownCharacter, input_.text.substr(at, length));
    if (is_between_digits(at)) said.help("digits are grouped by `_`: `1_000`");
  }

  bool is_between_digits(size_t at) const {
    return input_.text[at] == '\'' && at > 0 && uint8_t(input_.text[at - 1] - '0') < 10;
  }
  // Behind `'a'`, or `at` where none begins there and ends on its line.
  size_t end_of_quoted(size_t at) const {
    if (input_.text[at] != '\'' || is_between_digits(at)) return at;
    for (size_t i = at + 1; i < input_.text.size() && input_.text[i] != '\n'; ++i) {
      if (input_.text[i] == '\'') return i + 1;
      i += input_.text[i] == '\\';
    }
    return at;
  }
  bool is_cast_before(size_t at) const {
    const auto& list = out_.list;
    size_t end = input_.text.find_first_not_of(" ", input_.text.find('\'', at + 1) + 1);
    return list.size() > 1 && list.back()->getType() == TileLexer::LEFT_PAREN && foreign_type(input_.spelling(*list[list.size() - 2])) &&
           end != input_.text.npos && input_.text[end] == ')';
  }
  // A character, or a string of Python: read as a value that is left open.
  void quoted(const antlr4::Token& token, size_t end) {
    size_t at = token.getStartIndex();
    if (at < unknown_end_) return;
    Span span = input_.span(at, end);
    if (is_cast_before(at) && !infinite_word(input_.text.substr(at, end - at)).empty()) {  // `float('inf')` is told as a whole
      auto whole = imagined_before(token, TileLexer::STRING);
      dynamic_cast<antlr4::CommonToken&>(*whole).setStopIndex(end - 1);
      dropped_end_ = end;
      return out_.list.push_back(std::move(whole));
    }
    auto said = diagnostics_.at(span).error(diag::UnknownCharacter, "'");
    bool is_one = end == at + 3 && uint8_t(input_.text[at + 1]) < 0x80;
    if (is_one) said.fix(span, std::to_string(int(input_.text[at + 1])), "a character is the number of its code");
    else said.help("there are no characters: each is the number of its code, `10` for the end of a line; a string stands in `\"`");
    dropped_end_ = end;
    bool may_go_on = input_.text.substr(at, end - at).find_first_of("\"/") != std::string_view::npos;  // as a string, or a comment
    if (may_go_on) damage_line(token);
    out_.list.push_back(imagined_before(token, TileLexer::ID));
  }

  // A line for another compiler, or a comment of Python.
  void directive(const antlr4::Token& token) {
    size_t at = token.getStartIndex(), word = std::min(input_.text.find_first_not_of(" \t", at + 1), input_.text.size());
    std::string_view rest = input_.text.substr(word);
    dropped_end_ = std::min(input_.text.find('\n', at), input_.text.size());
    auto said = diagnostics_.at(input_.span(at, at + 1)).error(diag::UnknownCharacter, "#");
    if (rest.starts_with("pragma") && rest.substr(0, rest.find('\n')).find("once") != rest.npos)
      return void(said.fix(input_.span(at, dropped_end_), "", "a file is read once however often it is imported: take it away"));
    constexpr std::string_view kChoice = "what is chosen at compile time is an `if` over a parameter in brackets: `kernel k[wide: bool = false](...)`";
    constexpr Advice kDirectives[] = {
        {"include", "a module is imported by `import std.math;`, a file beside this one by `import \"file.tile\" as name;`"},
        {"define", "a constant is `const NAME = 64;`, a function `fn f(x: f32) -> f32 = x * x;`"},
        {"pragma", "how a loop is compiled is said by its kind: `for k in unroll(4)`, `for k in vectorized(8)`"},
        {"if", kChoice}, {"ifdef", kChoice}, {"ifndef", kChoice}};
    said.help(help_on(kDirectives, rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz")), "a comment begins with `//`"));
  }

  void open_string(TokenPointer token) {
    diagnostics_.at(input_.span(*token))
        .error(diag::UnterminatedString)
        .fix(input_.span(token->getStopIndex() + 1, token->getStopIndex() + 1), "\"", "end the string");
    damage_line(*token);
    keep_as(std::move(token), TileLexer::STRING);
  }

  // Behind `0x1.8p3`, which is several tokens, or where the token begins.
  size_t end_of_hexadecimal_float(const antlr4::Token& token) const {
    auto is_any = [&](size_t i, std::string_view of) { return i < input_.text.size() && of.find(input_.text[i]) != of.npos; };
    constexpr std::string_view kDigits = "0123456789", kHexDigits = "0123456789abcdefABCDEF";
    size_t begin = token.getStartIndex(), i = begin + 2;
    if (!is_any(begin, "0") || !is_any(begin + 1, "xX")) return begin;
    while (is_any(i, kHexDigits)) ++i;
    bool has_fraction = is_any(i, ".") && is_any(i + 1, kDigits);  // `0xff.abs()` has none
    i += is_any(i, ".") && (has_fraction || is_any(i + 1, "pP"));
    while (has_fraction && is_any(i, kHexDigits)) ++i;
    if (!is_any(i, "pP")) return has_fraction ? i : begin;
    i += 1 + is_any(i + 1, "+-");
    if (!is_any(i, kDigits)) return begin;
    while (is_any(i, kDigits)) ++i;
    while (is_any(i, "fFlL")) ++i;
    return i;
  }
  // Read as a value that is left open.
  void hexadecimal_float(const antlr4::Token& token, size_t end) {
    Span span = input_.span(token.getStartIndex(), end);
    std::string text(input_.text.substr(span.begin, end - span.begin));
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", std::strtod(text.c_str(), nullptr));
    std::string ours = digits;
    if (ours.find_first_of(".en") == ours.npos) ours += ".0";
    diagnostics_.at(span).error(diag::BadNumber, text).fix(span, ours, "floats are written in decimal digits");
    dropped_end_ = end;
    out_.list.push_back(imagined_before(token, TileLexer::ID));
  }
  void integer(TokenPointer token) {
    size_t end = end_of_hexadecimal_float(*token);
    if (end > token->getStartIndex()) return hexadecimal_float(*token, end);
    out_.list.push_back(std::move(token));
  }

  void bad_number(TokenPointer token) {
    size_t end = end_of_hexadecimal_float(*token);
    if (end > token->getStartIndex()) return hexadecimal_float(*token, end);
    auto said = diagnostics_.at(input_.span(*token)).error(diag::BadNumber, input_.spelling(*token));
    std::string_view text = input_.spelling(*token);
    size_t digits = text.find_first_not_of("0123456789_.");
    if (digits != text.npos && (text[digits] == 'e' || text[digits] == 'E') && digits + 1 < text.size() && text.find_first_of("0123456789", digits) == digits + 1)
      digits = text.find_first_not_of("0123456789", digits + 1);
    bool has_suffix = digits != text.npos && text.find_first_not_of("fFlLuUhH", digits) == text.npos;
    if (has_suffix)
      said.fix(input_.span(token->getStartIndex() + digits, token->getStopIndex() + 1), "", "a number has no suffix: it takes the type of what it stands with");
    keep_as(std::move(token), TileLexer::INTEGER);
  }

  void keep_as(TokenPointer token, size_t type) {
    auto* writable = static_cast<antlr4::CommonToken*>(token.get());
    writable->setType(type);
    writable->setChannel(antlr4::Token::DEFAULT_CHANNEL);
    out_.list.push_back(std::move(token));
  }

  // What stands beside a token that was dropped or guessed, up to the end of the next line, says little.
  void damage_line(const antlr4::Token& token) {
    if (!out_.damaged.empty() && token.getStopIndex() < out_.damaged.back().end) return;
    size_t end = input_.text.find('\n', token.getStopIndex() + 1);
    size_t next = end == std::string_view::npos ? end : input_.text.find('\n', end + 1);
    out_.damaged.push_back(input_.span(token.getStartIndex(), std::min(next, input_.text.size())));
  }

  const Input& input_;
  Diagnostics& diagnostics_;
  Tokens& out_;
  bool has_bad_encoding_;
  size_t unknown_end_ = 0, dropped_end_ = 0;
};

}  // namespace

Patience patience_with(std::string_view file_name, const Diagnostics& diagnostics) {
  constexpr int kMostMistakes = 10, kMostElsewhere = 3;
  if (diagnostics.policy().error_limit <= 0) return {};
  bool is_ours = file_name.ends_with(".tile") || file_name.starts_with("<");
  return {is_ours ? kMostMistakes : kMostElsewhere, diagnostics.error_count()};
}

void give_up(const Patience& patience, Place place, std::string_view file_name) {
  auto said = place.error(diag::TooManyMistakes, int64_t(*patience.most));
  if (!file_name.ends_with(".tile")) said.help("is `" + std::string(file_name) + "` a program of this language? These are named `.tile`");
}

TokenPointer imagined_before(const antlr4::Token& token, size_t type) {
  auto imagined = std::make_unique<antlr4::CommonToken>(type);
  imagined->setStartIndex(token.getStartIndex());
  imagined->setStopIndex(token.getStartIndex() - 1);
  imagined->setLine(token.getLine());
  imagined->setCharPositionInLine(token.getCharPositionInLine());
  return imagined;
}

Tokens read_tokens(const Input& input, const TokenReader& next, const Patience& patience, Diagnostics& diagnostics) {
  Tokens tokens;
  tokens.is_unreadable = report_control(input, diagnostics);
  if (tokens.is_unreadable) return tokens;
  Reader reader(input, diagnostics, tokens);
  for (bool is_end = false; !is_end;) {
    TokenPointer token = next();
    is_end = token->getType() == antlr4::Token::EOF;
    Span span = input.span(*token);
    reader.take(std::move(token));
    if (!patience.is_over(diagnostics)) continue;
    tokens.is_unreadable = true;
    give_up(patience, diagnostics.at(span), input.name);
    return tokens;
  }
  turn_slips(input, tokens, patience, diagnostics);
  turn_words_as_names(input, tokens, patience, diagnostics);
  turn_parameter_lists(input, tokens, patience, diagnostics);
  turn_foreign_heads(input, tokens, patience, diagnostics);
  turn_foreign_values(input, tokens, patience, diagnostics);
  turn_foreign_marks(input, tokens, patience, diagnostics);
  leave_out_foreign_lines(input, tokens, diagnostics);
  leave_out_lambdas(input, tokens, patience, diagnostics);
  if (patience.is_over(diagnostics)) {
    tokens.is_unreadable = true;
    give_up(patience, diagnostics.at(input.span(*tokens.list.back())), input.name);
    return tokens;
  }
  turn_c_loops(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return tokens;
  turn_declaration_lists(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return tokens;
  turn_foreign_words(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return tokens;
  turn_launch_heads(input, tokens, patience, diagnostics);
  turn_bare_launches(input, tokens, diagnostics);
  balance_brackets(input, tokens, patience, diagnostics);
  if (!tokens.is_unreadable) limit_nesting(input, tokens, diagnostics);
  return tokens;
}

void limit_nesting(const Input& input, Tokens& tokens, Diagnostics& diagnostics) {
  // A tree is about as deep as the brackets around a place plus the operators beside it, since `a + b + c` nests to the
  // left. Both are counted; a `,` or `;` begins anew.
  constexpr int kMostSteps = 1000;
  std::vector<int> steps = {0};
  int total = 0;
  auto restart = [&] { total -= std::exchange(steps.back(), 0); };
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    size_t type = tokens.list[i]->getType();
    switch (type) {
      case TileLexer::LEFT_PAREN: case TileLexer::LEFT_BRACKET: case TileLexer::LEFT_BRACE:
        ++steps.back(), ++total;
        steps.push_back(0);
        break;
      case TileLexer::RIGHT_PAREN: case TileLexer::RIGHT_BRACKET: case TileLexer::RIGHT_BRACE:
        restart();
        if (steps.size() > 1) steps.pop_back();
        if (type == TileLexer::RIGHT_BRACE && tokens.list[i + 1]->getType() != TileLexer::ELSE) restart();
        break;
      case TileLexer::COMMA: case TileLexer::SEMICOLON: restart(); break;
      default:
        if ((type >= TileLexer::OR_OR && type <= TileLexer::TILDE) || type == TileLexer::DOT || type == TileLexer::AS ||
            type == TileLexer::ELSE || type == TileLexer::ARROW || type == TileLexer::COLON)
          ++steps.back(), ++total;
    }
    bool has_too_many_brackets = steps.size() > kMostBrackets + 1;
    if (has_too_many_brackets || total > kMostSteps) {
      auto report = diagnostics.at(input.span(*tokens.list[i])).error(diag::NestedTooDeep, has_too_many_brackets ? kMostBrackets : kMostSteps);
      if (!has_too_many_brackets)
        report.help("in a chain such as `a + b + c` each operator is a level: it means `(a + b) + c`; name parts of it with `let`, or add up in a loop");
      tokens.is_unreadable = true;
      return;
    }
  }
}

}  // namespace tilec::syntax
