// Runs the lexer, keeps the comments and answers for tokens that are mistakes.
#include "syntax/tokens.h"

#include <set>

#include "TileLexer.h"
#include "base/advice.h"
#include "base/text.h"
#include "diag/diag.h"
#include "syntax/characters.h"
#include "syntax/foreign_words.h"

namespace tilec::syntax {
namespace {

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
    if (is_mark || at < unknown_end_) return;
    if (auto blank = blank_at(input_.text, at)) return invisible(at, *blank);
    if (const Lookalike* sign = lookalike_at(input_.text, at)) return meant_sign(token, *sign);
    if (auto text = quoted_at(input_.text, at)) return meant_quotes(token, *text);
    damage_line(token);
    if (is_reported) return;
    size_t length = std::max<size_t>(1, character_length(input_.text, at));
    unknown_end_ = at + length;
    auto said = diagnostics_.at(input_.span(at, at + length)).error(diag::UnknownCharacter, input_.text.substr(at, length));
    if (is_between_digits(at)) said.help("digits are grouped by `_`: `1_000`");
  }

  // Said once, for all of them.
  void invisible(size_t at, const Blank& blank) {
    unknown_end_ = at + blank.length;
    if (std::exchange(has_blanks_, true)) return;
    std::vector<Fix> fixes;
    for (size_t i = at; i < input_.text.size(); i += std::max<size_t>(1, character_length(input_.text, i)))
      if (auto one = blank_at(input_.text, i)) fixes.push_back({input_.span(i, i + one->length), std::string(one->ours)});
    diagnostics_.at(input_.span(at, unknown_end_)).error(diag::UnknownCharacter, blank.number)
        .fix(std::move(fixes), "it is " + std::string(blank.name) + ", which is not seen" + (blank.ours.empty() ? "" : ": write a plain one"));
  }
  void meant_sign(const antlr4::Token& token, const Lookalike& sign) {
    size_t at = token.getStartIndex();
    unknown_end_ = at + sign.theirs.size();
    Span span = input_.span(at, unknown_end_);
    diagnostics_.at(span).error(diag::UnknownCharacter, sign.theirs).fix(span, sign.ours, "write `" + std::string(sign.ours) + "`");
    auto meant = imagined_before(token, sign.type);
    dynamic_cast<antlr4::CommonToken&>(*meant).setStopIndex(unknown_end_ - 1);
    out_.list.push_back(std::move(meant));
  }
  // `“abc”`, `‘a’`: the first is a string, what is imported by it is left open.
  void meant_quotes(const antlr4::Token& token, const Quoted& quoted) {
    size_t at = token.getStartIndex();
    Span span = input_.span(at, quoted.end);
    bool is_letter = quoted.is_single && quoted.text.size() == 1, is_import = !out_.list.empty() && out_.list.back()->getType() == TileLexer::IMPORT;
    std::string ours = is_letter ? std::to_string(int(quoted.text[0])) : "\"" + std::string(quoted.text) + "\"";
    auto said = diagnostics_.at(span).error(diag::UnknownCharacter, input_.text.substr(at, character_length(input_.text, at)));
    said.fix(span, ours, is_letter ? "a character is the number of its code" : "a string stands in `\"`");
    dropped_end_ = unknown_end_ = quoted.end;
    if (is_import) return leave_out_import(quoted.end);
    out_.list.push_back(imagined_before(token, TileLexer::ID));
  }
  // Its words up to the end of the line, of which `end` and before are read; what it would declare is left open.
  void leave_out_import(size_t end) {
    size_t begin = out_.list.back()->getStopIndex() + 1;
    dropped_end_ = std::min(input_.text.find('\n', end), input_.text.size());
    std::string_view line = input_.text.substr(begin, dropped_end_ - begin);
    size_t as = line.rfind(" as "), name = as == line.npos ? as : line.find_first_not_of(" \"", as + 4);
    if (name != line.npos) out_.left_open.emplace_back(line.substr(name, line.find_first_of("; \"\t\r", name) - name));
    out_.list.pop_back();
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
    if (rest.starts_with("define ")) return definition(said, at);
    constexpr std::string_view kChoice = "what is chosen at compile time is an `if` over a parameter in brackets: `kernel k[wide: bool = false](...)`";
    constexpr Advice kDirectives[] = {
        {"include", "a module is imported by `import std.math;`, a file beside this one by `import \"file.tile\" as name;`"},
        {"pragma", "how a loop is compiled is said by its kind: `for k in unroll(4)`, `for k in vectorized(8)`"},
        {"if", kChoice}, {"ifdef", kChoice}, {"ifndef", kChoice}};
    said.help(help_on(kDirectives, rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz")), "a comment begins with `//`"));
  }

  // `#define N 64`: what it names is left open.
  void definition(Report& said, size_t at) {
    std::string_view line = input_.text.substr(at, dropped_end_ - at), words = trim(line.substr(line.find("define") + 6));
    size_t end = std::min(words.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), words.size());
    std::string name(words.substr(0, end)), value(trim(words.substr(end)));
    out_.left_open.push_back(name);
    bool is_number = !value.empty() && uint8_t(value[0] - '0') < 10 && value.find_first_not_of("0123456789.") == value.npos && value.back() != '.';
    if (!is_number) return void(said.help("a constant is `const NAME = 64;`, a function `fn f(x: f32) -> f32 = x * x;`"));
    said.fix(input_.span(at, dropped_end_), "const " + name + " = " + value + ";", "a constant is declared so");
  }

  void open_string(TokenPointer token) {
    std::string_view text = trim(input_.spelling(*token));
    size_t end = token->getStartIndex() + text.size() - (text.ends_with(");") ? 2 : text.ends_with(';'));
    diagnostics_.at(input_.span(*token)).error(diag::UnterminatedString).fix(input_.span(end, end), "\"", "end the string");
    bool is_import = !out_.list.empty() && out_.list.back()->getType() == TileLexer::IMPORT;
    if (is_import) return leave_out_import(token->getStopIndex() + 1);
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
  // `010` is 8 in C, and 10 for others.
  void leading_zero(const antlr4::Token& token) {
    std::string text(input_.spelling(token));
    std::erase(text, '_');
    const size_t first = text.find_first_not_of('0');
    if (text.size() < 2 || text[0] != '0' || text.find_first_not_of("0123456789") != text.npos || first == text.npos) return;
    const Span span = input_.span(token);
    auto said = diagnostics_.at(span).error(diag::BadNumber, input_.spelling(token));
    if (text.find_first_of("89") == text.npos && text.size() < 20) said.help("C reads it in octal digits: that is `" + std::to_string(std::strtoull(text.c_str(), nullptr, 8)) + "` here");
    said.fix(span, text.substr(first), "a decimal number begins with no 0");
  }

  void integer(TokenPointer token) {
    size_t end = end_of_hexadecimal_float(*token);
    if (end > token->getStartIndex()) return hexadecimal_float(*token, end);
    leading_zero(*token);
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
  bool has_blanks_ = false;
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

namespace {

// What would have been declared by lines that were told and left out says nothing more.
void leave_names_open(const Input& input, Tokens& tokens) {
  using L = TileLexer;
  auto& list = tokens.list;
  auto type = [&](size_t i) { return i < list.size() ? list[i]->getType() : size_t(antlr4::Token::EOF); };
  auto is_declared = [&](size_t i) {
    size_t last = i > 0 ? type(i - 1) : size_t(L::SEMICOLON), next = type(i + 1);
    return last == L::LET || last == L::VAR || last == L::CONST || last == L::FN || last == L::KERNEL || last == L::FOR || next == L::COLON || next == L::IN;
  };
  std::set<std::string_view> names(tokens.left_open.begin(), tokens.left_open.end());
  auto is_one = [&](size_t i) { return !names.empty() && type(i) == L::ID && names.contains(input.spelling(*list[i])) && (i == 0 || type(i - 1) != L::DOT); };
  for (size_t i = 0; i < list.size(); ++i)
    if (is_one(i) && is_declared(i)) names.erase(input.spelling(*list[i]));
  for (size_t i = 0; i < list.size(); ++i)
    if (is_one(i)) list[i] = imagined_before(*list[i], L::ID);
}

}  // namespace

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
  return tokens;
}

void mend(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  turn_slips(input, tokens, patience, diagnostics);
  turn_words_as_names(input, tokens, patience, diagnostics);
  turn_foreign_declarations(input, tokens, patience, diagnostics);
  turn_parameter_lists(input, tokens, patience, diagnostics);
  turn_foreign_heads(input, tokens, patience, diagnostics);
  turn_foreign_values(input, tokens, patience, diagnostics);
  turn_foreign_marks(input, tokens, patience, diagnostics);
  leave_out_foreign_lines(input, tokens, diagnostics);
  leave_out_lambdas(input, tokens, patience, diagnostics);
  if (patience.is_over(diagnostics)) {
    tokens.is_unreadable = true;
    give_up(patience, diagnostics.at(input.span(*tokens.list.back())), input.name);
    return;
  }
  turn_c_loops(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return;
  turn_declaration_lists(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return;
  turn_foreign_words(input, tokens, patience, diagnostics);
  if (tokens.is_unreadable) return;
  turn_launch_heads(input, tokens, patience, diagnostics);
  turn_bare_launches(input, tokens, diagnostics);
  leave_names_open(input, tokens);
  balance_brackets(input, tokens, patience, diagnostics);
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

bool is_name(size_t type) { return type == TileLexer::ID || (type >= TileLexer::ALIAS && type <= TileLexer::WORKSPACE); }

}  // namespace tilec::syntax
