// Balances brackets, and says which one is to blame when they do not.
//
// A closer that does not fit the innermost opener closes the nearest opener that it fits, unless a `{` stands between.
// `;`, `{` and words that begin statements or declarations cannot stand inside `(` or `[` (but for strides and `if`
// expressions), so they end those where they appear. When braces do not come out even, indentation tells which one is
// missing: a `}` that begins a line belongs to the opener whose line begins at the same column.
#include <set>

#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

enum class Shape : uint8_t { None, Paren, Bracket, Brace };

Shape opens(size_t type) {
  switch (type) {
    case TileLexer::LEFT_PAREN: return Shape::Paren;
    case TileLexer::LEFT_BRACKET: return Shape::Bracket;
    case TileLexer::LEFT_BRACE: return Shape::Brace;
    default: return Shape::None;
  }
}

Shape closes(size_t type) {
  switch (type) {
    case TileLexer::RIGHT_PAREN: return Shape::Paren;
    case TileLexer::RIGHT_BRACKET: return Shape::Bracket;
    case TileLexer::RIGHT_BRACE: return Shape::Brace;
    default: return Shape::None;
  }
}

size_t closer_type(Shape shape) {
  constexpr size_t kTypes[] = {0, TileLexer::RIGHT_PAREN, TileLexer::RIGHT_BRACKET, TileLexer::RIGHT_BRACE};
  return kTypes[size_t(shape)];
}

std::string_view closer_text(Shape shape) {
  constexpr std::string_view kTexts[] = {"", ")", "]", "}"};
  return kTexts[size_t(shape)];
}

bool begins_statement(size_t type) {
  return type >= TileLexer::LET && type <= TileLexer::ASM && type != TileLexer::IF && type != TileLexer::ELSE &&
         type != TileLexer::IN;
}

// `const` also begins a parameter, and `fn (` a type.
bool begins_declaration(size_t type, size_t next_type) {
  return type >= TileLexer::IMPORT && type <= TileLexer::MESH && type != TileLexer::CONST &&
         !(type == TileLexer::FN && next_type == TileLexer::LEFT_PAREN);
}

struct Open {
  Shape shape;
  size_t token;
  size_t indent;        // of the line that it stands on
  bool has_if = false;  // an `if` expression has begun inside it
};

// What to do before (`insert`) and with (`drop`) each token.
struct Edit {
  size_t before;  // index of a token
  Shape insert;   // None: drop that token
  size_t opener;
};

constexpr size_t kDeepest = 2 * kMostBrackets;

class Balancer {
 public:
  Balancer(const Input& input, const std::vector<TokenPointer>& tokens, bool by_indentation)
      : input_(input), tokens_(tokens), by_indentation_(by_indentation) {}

  // Then nothing behind the innermost opener has been looked at.
  bool is_too_deep() const { return stack_.size() > kDeepest; }
  size_t innermost() const { return stack_.back().token; }

  std::vector<Edit> run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      size_t type = tokens_[i]->getType();
      begins_line_ = i == 0 || line_of(i) != line_of(i - 1);
      if (begins_line_) indent_ = tokens_[i]->getCharPositionInLine();
      if (Shape shape = closes(type); shape != Shape::None) {
        close(shape, i);
        continue;
      }
      end_by(type, i);
      if (Shape shape = opens(type); shape != Shape::None) stack_.push_back({shape, i, indent_});
      if (is_too_deep()) return std::move(edits_);
      if (!stack_.empty() && (type == TileLexer::IF || type == TileLexer::ELSE)) stack_.back().has_if = true;
      if (type == antlr4::Token::EOF)
        while (!stack_.empty()) end_innermost(i);
    }
    return std::move(edits_);
  }

 private:
  size_t line_of(size_t i) const { return tokens_[i]->getLine(); }

  void end_innermost(size_t before) {
    edits_.push_back({before, stack_.back().shape, stack_.back().token});
    stack_.pop_back();
  }

  void close(Shape shape, size_t i) {
    size_t match = matching(shape);
    if (match == stack_.size()) {
      edits_.push_back({i, Shape::None, i});
      return;
    }
    while (stack_.size() > match + 1) end_innermost(i);
    stack_.pop_back();
  }

  // Index of the opener that a closer of `shape` closes, or the stack's size.
  size_t matching(Shape shape) const {
    bool is_judged = by_indentation_ && shape == Shape::Brace && begins_line_;
    for (size_t n = stack_.size(); n-- > 0;) {
      const Open& open = stack_[n];
      if (open.shape == shape && (!is_judged || open.indent == indent_)) return n;
      if (open.shape == Shape::Brace && shape != Shape::Brace) break;
      if (is_judged && open.shape == Shape::Brace && open.indent < indent_) break;
    }
    return stack_.size();
  }

  // Ends what cannot hold a token of this type.
  void end_by(size_t type, size_t i) {
    auto is_inner = [&] { return !stack_.empty() && stack_.back().shape != Shape::Brace; };
    if (begins_line_ && i + 1 < tokens_.size() && begins_declaration(type, tokens_[i + 1]->getType())) {
      while (!stack_.empty()) end_innermost(i);
      return;
    }
    while (is_inner()) {
      bool is_ended = (type == TileLexer::SEMICOLON && !is_strides(i)) ||
          (type == TileLexer::LEFT_BRACE && !stack_.back().has_if) ||
                      (begins_line_ && begins_statement(type));
      if (!is_ended) return;
      end_innermost(i);
    }
  }

  // A `;` inside `[ ]` that the bracket outlives: `f16[M, K; lda, 1]`.
  bool is_strides(size_t i) const {
    if (stack_.back().shape != Shape::Bracket) return false;
    int depth = 0;
    bool has_if = false;  // as a value, which has braces
    for (size_t n = i + 1; n < tokens_.size(); ++n) {
      size_t type = tokens_[n]->getType();
      if (type == TileLexer::RIGHT_BRACKET && depth == 0) return true;
      has_if |= type == TileLexer::IF;
      bool is_brace = opens(type) == Shape::Brace || closes(type) == Shape::Brace;
      if (type == TileLexer::SEMICOLON || (is_brace && !has_if)) return false;
      if (opens(type) != Shape::None) ++depth;
      if (closes(type) != Shape::None) --depth;
    }
    return false;
  }

  const Input& input_;
  const std::vector<TokenPointer>& tokens_;
  bool by_indentation_;
  std::vector<Open> stack_;
  std::vector<Edit> edits_;
  size_t indent_ = 0;
  bool begins_line_ = true;
};

bool is_about_braces(const Input& input, const Tokens& tokens, const Edit& edit) {
  return edit.insert == Shape::Brace || (edit.insert == Shape::None &&
      input.spelling(*tokens.list[edit.before]) == "}");
}

// `(a // 2)`: what closes it stands behind `//`, in a comment.
bool is_quotient(const Input& input, const Tokens& tokens, const Edit& edit) {
  if (edit.before == 0 || edit.insert == Shape::None || edit.insert == Shape::Brace) return false;
  size_t end = tokens.list[edit.before - 1]->getStopIndex() + 1;
  if (end > input.text.size()) return false;
  std::string_view behind = input.text.substr(end, std::min(input.text.find('\n', end), input.text.size()) - end);
  size_t comment = behind.find_first_not_of(" \t");
  return comment != behind.npos && behind.substr(comment).starts_with("//") && behind.find(closer_text(edit.insert)) != behind.npos;
}

// `(a + 63) // 64) {`: so does what closes the opener, with all behind it.
bool is_behind_quotient(const Input& input, const antlr4::Token& opener, Shape shape) {
  const size_t begin = opener.getStartIndex(), end = std::min(input.text.find('\n', begin), input.text.size());
  const std::string_view line = std::string_view(input.text).substr(begin, end - begin);
  const size_t comment = line.find("//");
  if (comment == line.npos || line.substr(0, comment).find('"') != line.npos) return false;
  const std::string_view behind = line.substr(comment + 2);
  const size_t word = behind.find_first_not_of(" \t"), closer = behind.find(closer_text(shape));
  return closer != behind.npos && behind.find_first_of(" \t", word) >= closer;
}

void report(const Input& input, Tokens& tokens, const Edit& edit, Diagnostics& diagnostics) {
  const antlr4::Token& token = *tokens.list[edit.before];
  if (edit.insert == Shape::None) {
    diagnostics.at(input.span(token))
        .error(diag::UnmatchedBracket, input.spelling(token))
        .fix(input.span(token), "", "take it away");
    size_t end = std::min(input.text.find('\n', token.getStartIndex()), input.text.size());
    tokens.damaged.push_back(input.span(token.getStartIndex(), end));
    return;
  }
  const antlr4::Token& opener = *tokens.list[edit.opener];
  size_t end = edit.before > 0 ? tokens.list[edit.before - 1]->getStopIndex() + 1 : 0;
  auto said = diagnostics.at(input.span(opener)).error(diag::UnclosedBracket, input.spelling(opener));
  if (is_quotient(input, tokens, edit) || is_behind_quotient(input, opener, edit.insert))
    said.help("`//` begins a comment: integers are divided by `/`, which rounds toward minus infinity");
  else if (edit.insert != Shape::Brace) said.fix(input.span(end, end), closer_text(edit.insert), "close it here");
  tokens.damaged.push_back(input.span(opener.getStartIndex(), token.getStopIndex() + 1));
}

// A block that begins with `:`, and ends with `}`.
bool open_colons(const Input& input, Tokens& tokens, Diagnostics& diagnostics) {
  bool has_one = false;
  for (size_t i = 0; i + 1 < tokens.list.size(); ++i) {
    const antlr4::Token& token = *tokens.list[i];
    if (token.getType() != TileLexer::COLON || tokens.list[i + 1]->getLine() == token.getLine()) continue;
    diagnostics.at(input.span(token)).error(diag::ExpectedToken, "`{`", "`:`").fix(input.span(token), " {", "a block stands in braces");
    tokens.list[i] = imagined_before(token, TileLexer::LEFT_BRACE);
    has_one = true;
  }
  return has_one;
}

}  // namespace

void balance_brackets(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Balancer balancer(input, tokens.list, false);
  std::vector<Edit> edits = balancer.run();
  tokens.is_unreadable = balancer.is_too_deep();
  if (tokens.is_unreadable) return void(diagnostics.at(input.span(*tokens.list[balancer.innermost()])).error(diag::NestedTooDeep, kMostBrackets));
  if (edits.empty()) return;
  const bool has_stray = std::ranges::any_of(edits, [&](const Edit& edit) { return edit.insert == Shape::None && input.spelling(*tokens.list[edit.before]) == "}"; });
  if (has_stray && open_colons(input, tokens, diagnostics)) edits = Balancer(input, tokens.list, false).run();
  if (edits.empty()) return;
  if (std::ranges::any_of(edits, [&](const Edit& edit) { return is_about_braces(input, tokens, edit); })) {
    std::vector<Edit> judged = Balancer(input, tokens.list, true).run();
    if (!judged.empty() && judged.size() <= edits.size()) edits = std::move(judged);
  }
  std::vector<Edit> told = edits;
  std::ranges::sort(told, {}, &Edit::opener);
  std::set<size_t> quotients;  // where they end; one that closes several is told once
  for (const Edit& edit : told) {
    if (is_quotient(input, tokens, edit) && !quotients.insert(edit.before).second) continue;
    report(input, tokens, edit, diagnostics);
    // What stands in the comment as well says which brackets there are.
    if (edit.insert != Shape::None && !is_quotient(input, tokens, edit) && is_behind_quotient(input, *tokens.list[edit.opener], edit.insert)) {
      tokens.is_unreadable = true;
      return;
    }
    if (!patience.is_over(diagnostics)) continue;
    tokens.is_unreadable = true;
    return give_up(patience, diagnostics.at(input.span(*tokens.list[edit.before])), input.name);
  }

  std::vector<TokenPointer> balanced;
  balanced.reserve(tokens.list.size() + edits.size());
  size_t next = 0;
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    bool is_dropped = false;
    for (; next < edits.size() && edits[next].before == i; ++next) {
      bool has_divisor = edits[next].insert != Shape::None && quotients.erase(i) > 0;
      if (has_divisor) {  // which is left open, and says nothing more
        balanced.push_back(imagined_before(*tokens.list[i], TileLexer::SLASH));
        balanced.push_back(imagined_before(*tokens.list[i], TileLexer::ID));
      }
      if (edits[next].insert == Shape::None) is_dropped = true;
      else balanced.push_back(imagined_before(*tokens.list[i], closer_type(edits[next].insert)));
    }
    if (!is_dropped) balanced.push_back(std::move(tokens.list[i]));
  }
  tokens.list = std::move(balanced);
}

}  // namespace tilec::syntax
