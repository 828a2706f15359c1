// Slips of the pen in words that begin statements and declarations, `lunch (i in N)`, `retrun x;`: said once and read as what was meant.
#include "TileLexer.h"
#include "base/scalar.h"
#include "base/text.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;
using Words = std::vector<std::string_view>;

struct Word {
  std::string_view text;
  size_t type;
};
constexpr Word kWords[] = {
    {"import", L::IMPORT}, {"const", L::CONST}, {"enum", L::ENUM}, {"kernel", L::KERNEL}, {"fn", L::FN}, {"export", L::EXPORT}, {"schedule", L::SCHEDULE},
    {"static_assert", L::STATIC_ASSERT}, {"let", L::LET}, {"var", L::VAR}, {"if", L::IF}, {"else", L::ELSE}, {"for", L::FOR}, {"while", L::WHILE},
    {"launch", L::LAUNCH}, {"simt", L::SIMT}, {"sync", L::SYNC}, {"break", L::BREAK}, {"continue", L::CONTINUE}, {"return", L::RETURN},
    {"shared", L::SHARED}, {"fragment", L::FRAGMENT}, {"local", L::LOCAL}, {"workspace", L::WORKSPACE}};

bool is_literal(size_t type) { return type == L::INTEGER || type == L::FLOAT || type == L::TRUE || type == L::FALSE; }

class Slips {
 public:
  Slips(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    int depth = 0, brackets = 0;
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      depth += (type(i) == L::LEFT_BRACE) - (type(i) == L::RIGHT_BRACE);
      brackets += (type(i) == L::LEFT_PAREN || type(i) == L::LEFT_BRACKET) - (type(i) == L::RIGHT_PAREN || type(i) == L::RIGHT_BRACKET);
      if (type(i) == L::LEFT_BRACE || type(i) == L::RIGHT_BRACE) brackets = 0;
      bool is_extent = brackets > 0 && i > 0 && type(i - 1) == L::SEMICOLON;
      if (type(i) != L::ID || is_extent) continue;
      std::string_view word = input_.spelling(*list_[i]);
      Words meant = candidates(i, depth);
      std::string_view nearest_word = nearest(word, meant);
      bool is_theirs = foreign_type(word) || scalar_named(word);
      if (!nearest_word.empty() && !is_theirs) turn(i, nearest_word);
    }
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }

  // Words of the language that would make sense here, where a name makes none.
  Words candidates(size_t i, int depth) const {
    size_t last = i > 0 ? type(i - 1) : size_t(L::SEMICOLON), next = type(i + 1), third = type(i + 2);
    if (last == L::COLON && next == L::ID && scalar_named(input_.spelling(*list_[i + 1]))) return {"shared", "fragment", "local", "workspace"};
    if (last == L::EXPORT && is_name(next)) return {"kernel"};
    if (last != L::SEMICOLON && last != L::LEFT_BRACE && last != L::RIGHT_BRACE) return {};
    if (depth == 0) return in_file(next);
    if (last == L::RIGHT_BRACE && (next == L::LEFT_BRACE || next == L::IF)) return {"else"};
    if (next == L::SEMICOLON) return {"break", "continue", "sync", "return"};
    if (next == L::LEFT_PAREN) return before_parenthesis(i + 1);
    if (is_name(next) && third == L::IN) return {"for", "launch"};
    if (is_name(next) && (third == L::ASSIGN || third == L::COLON)) return {"let", "var"};
    bool is_operand = is_name(next) || is_literal(next) || next == L::NOT;
    return !is_operand ? Words{} : is_head(i + 1) ? Words{"if", "while"} : Words{"return"};
  }
  Words in_file(size_t next) const {
    if (next == L::KERNEL || next == L::FN) return {"export"};
    return is_name(next) ? Words{"import", "const", "enum", "kernel", "fn", "export", "schedule"} : next == L::LEFT_PAREN ? Words{"static_assert"} : Words{};
  }
  // What stands in parentheses tells: `(i in N)`, `(r, c) in`, `(c) {`.
  Words before_parenthesis(size_t open) const {
    int depth = 0;
    bool has_in = false;
    for (size_t i = open; i < list_.size(); ++i) {
      if (type(i) == L::LEFT_PAREN) ++depth;
      if (type(i) == L::IN && depth == 1) has_in = true;
      if (type(i) == L::SEMICOLON || type(i) == L::LEFT_BRACE) return {};
      if (type(i) != L::RIGHT_PAREN || --depth > 0) continue;
      if (has_in) return {"launch"};
      if (type(i + 1) == L::IN) return {"for"};
      return type(i + 1) == L::LEFT_BRACE ? Words{"if", "while", "simt"} : Words{};
    }
    return {};
  }
  // Does a block follow before the statement ends?
  bool is_head(size_t i) const {
    while (i < list_.size() && type(i) != L::SEMICOLON && type(i) != L::LEFT_BRACE && type(i) != L::RIGHT_BRACE) ++i;
    return type(i) == L::LEFT_BRACE;
  }

  void turn(size_t i, std::string_view meant) {
    Span span = input_.span(*list_[i]);
    std::string ours = "`" + std::string(meant) + "`";
    diagnostics_.at(span).error(diag::ExpectedToken, ours, "`" + std::string(input_.spelling(*list_[i])) + "`").fix(span, std::string(meant), "did you mean " + ours + "?");
    auto word = std::ranges::find(kWords, meant, &Word::text);
    dynamic_cast<antlr4::CommonToken&>(*list_[i]).setType(word->type);
  }

  const Input& input_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
};

}  // namespace

void turn_slips(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Slips(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
