// Signs of other languages inside of statements, `if a = 3`, `static_cast<float>(x)`, `&h[0]`, `1 + if c { a } else { b }`, `a <> b`, `.5`: said
// once, with what to write, and read as that.
#include <array>

#include "TileLexer.h"
#include "base/scalar.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"
#include "syntax/tokens.h"
#include "syntax/token_edits.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

bool is_operator(size_t type) { return type >= L::OR_OR && type <= L::TILDE && type != L::AT; }

class Marks : TokenEdits {
 public:
  Marks(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    int depth = 0;
    for (size_t i = 1; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      depth += (type(i - 1) == L::LEFT_BRACE) - (type(i - 1) == L::RIGHT_BRACE);
      cast(i);
      if (depth > 0) statement(i);
      if (depth == 0 && type(i) == L::REQUIRES) test(i);
    }
  }

 private:
  bool are_joined(size_t i) const { return i + 1 < list_.size() && list_[i]->getStopIndex() + 1 == list_[i + 1]->getStartIndex(); }
  void report(Span span, const std::string& theirs, const std::string& ours, std::vector<Fix> fixes, std::string_view why = "write it so") {
    diagnostics_.at(span).error(diag::ExpectedToken, "`" + ours + "`", "`" + theirs + "`").fix(std::move(fixes), std::string(why));
  }
  bool ends_operand(size_t i) const {
    size_t t = type(i);
    return is_name(t) || t == L::INTEGER || t == L::FLOAT || t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET || t == L::TRUE || t == L::FALSE;
  }
  bool begins_statement(size_t i) const { return type(i - 1) == L::SEMICOLON || type(i - 1) == L::LEFT_BRACE || type(i - 1) == L::RIGHT_BRACE; }
  // Behind the bracket that closes the one at `i`, or `i`; what is farther away is no part of one statement.
  size_t behind_bracket(size_t i) const {
    constexpr size_t kFarthest = 1000;
    int depth = 0;
    for (size_t k = i; k < std::min(list_.size(), i + kFarthest); ++k) {
      size_t t = type(k);
      depth += (t == L::LEFT_PAREN || t == L::LEFT_BRACKET || t == L::LEFT_BRACE) - (t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET || t == L::RIGHT_BRACE);
      if (depth == 0) return k + 1;
    }
    return i;
  }
  // The `{` of the head that begins at `i`; none where it has none.
  std::optional<size_t> block_of(size_t i) const {
    for (int depth = 0; i < list_.size(); ++i) {
      size_t t = type(i);
      if (depth == 0 && t == L::LEFT_BRACE) return i;
      if (t == L::SEMICOLON || t == L::RIGHT_BRACE || t == L::LEFT_BRACE) break;
      depth += (t == L::LEFT_PAREN || t == L::LEFT_BRACKET) - (t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET);
    }
    return std::nullopt;
  }

  void statement(size_t i) {
    switch (type(i)) {
      case L::IF: return choice(i);
      case L::WHILE: return test(i);
      case L::AND: return address(i);
      case L::LET: return memory(i);
      case L::FOR: return loop(i);
      case L::LESS: return twins(i, L::GREATER, L::NOT_EQUAL, "!=");
      case L::EQUAL: return twins(i, L::ASSIGN, L::EQUAL, "==");
      case L::NOT_EQUAL: return twins(i, L::ASSIGN, L::NOT_EQUAL, "!=");
      case L::SYNC: return sync(i);
      case L::DOT: return fraction(i);
      case L::INTEGER: return suffix(i);
      case L::ID: if (text(i) == "foreach" && begins_statement(i) && is_name(type(i + 1)) && type(i + 2) == L::IN) foreach(i);
    }
  }

  void choice(size_t i) {
    test(i);
    if (!is_operator(type(i - 1))) return;
    std::optional<size_t> block = block_of(i);
    size_t end = block ? behind_bracket(*block) : i;
    while (block && type(end) == L::ELSE) {
      block = block_of(end);
      if (block) end = behind_bracket(*block);
    }
    if (!block || end == i || end >= list_.size() || begins_statement(i)) return;
    report(span(i, i + 1), "if", "(", {{front(i), "("}, {behind(end - 1), ")"}}, "inside an expression a choice stands in brackets: `x + (if c { 1 } else { 2 })`");
    imagine(end, L::RIGHT_PAREN), imagine(i, L::LEFT_PAREN);
  }
  // `if a = 3 {`, `requires N = 8 {`.
  void test(size_t i) {
    std::optional<size_t> block = type(i + 1) == L::LET ? std::nullopt : block_of(i);
    int depth = 0;
    for (size_t k = i; block && k < *block; ++k) {
      size_t t = type(k);
      depth += (t == L::LEFT_PAREN || t == L::LEFT_BRACKET) - (t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET);
      bool is_whole = depth == 1 && type(i + 1) == L::LEFT_PAREN && behind_bracket(i + 1) == *block;  // `if (a = 3) {`
      bool is_part = type(k - 1) == L::EQUAL || type(k - 1) == L::NOT_EQUAL || type(k - 1) == L::DOT_DOT;
      if (t != L::ASSIGN || is_part || (depth != 0 && !is_whole)) continue;
      report(span(k, k + 1), "=", "==", {{span(k, k + 1), "=="}}, "`=` sets a variable, `==` compares");
      retype(k, L::EQUAL);
    }
  }

  // `static_cast<float>(x)`, and `float(x)` where that is no type of ours.
  void cast(size_t i) {
    if (type(i) != L::ID || type(i - 1) == L::FN || type(i - 1) == L::KERNEL || type(i - 1) == L::DOT || type(i - 1) == L::ID) return;
    constexpr std::array<std::string_view, 7> kCasts = {"static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "bit_cast", "cast", "convert"};
    bool has_angles = std::ranges::find(kCasts, text(i)) != kCasts.end() && type(i + 1) == L::LESS && type(i + 2) == L::ID && type(i + 3) == L::GREATER && type(i + 4) == L::LEFT_PAREN;
    size_t name = has_angles ? i + 2 : i, open = has_angles ? i + 4 : i + 1;
    if (type(name) != L::ID || type(open) != L::LEFT_PAREN) return;
    auto ours = scalar_named(text(name)), theirs = foreign_type(text(name));
    if ((!has_angles && (ours || has_function(text(name)))) || (!ours && !theirs)) return;
    size_t end = behind_bracket(open);
    if (end < open + 3) return;
    for (size_t k = open + 1; k + 1 < end; ++k)
      if (type(k) == L::COMMA || type(k) == L::ASSIGN) return;
    std::string called(tilec::name(ours ? *ours : *theirs));
    bool is_one = type(open + 1) != L::LEFT_PAREN && !is_compound(open + 1, end - 1);
    std::string operand = is_one ? text(open + 1, end - 1) : text(open, end);
    Span head = input_.span(list_[i]->getStartIndex(), is_one ? list_[open + 1]->getStartIndex() : list_[open]->getStartIndex());
    Span last = is_one ? input_.span(list_[end - 2]->getStopIndex() + 1, list_[end - 1]->getStopIndex() + 1) : behind(end - 1);
    bool is_tight = type(end) == L::DOT || type(end) == L::LEFT_BRACKET;  // `float(x).abs()`
    std::vector<Fix> fixes{{head, is_tight ? "(" : ""}, {last, " as " + called + (is_tight ? ")" : "")}};
    report(span(i, end), text(i, end), operand + " as " + called, std::move(fixes), "a conversion is written so");
    imagine(end, L::ID), imagine(end, L::AS);  // the type is left open, which says nothing more
    erase(i, open);
  }
  bool is_compound(size_t begin, size_t end) const {
    int depth = 0;
    for (size_t k = begin; k < end; ++k) {
      size_t t = type(k);
      depth += (t == L::LEFT_PAREN || t == L::LEFT_BRACKET) - (t == L::RIGHT_PAREN || t == L::RIGHT_BRACKET);
      if (depth == 0 && (is_operator(t) || t == L::IF || t == L::AS)) return true;
    }
    return false;
  }
  bool has_function(const std::string& name) const {
    for (size_t i = 0; i + 1 < list_.size(); ++i)
      if (type(i) == L::FN && text(i + 1) == name) return true;
    return false;
  }

  // `&h[0]`: a place.
  void address(size_t i) {
    bool begins = type(i - 1) == L::LEFT_PAREN || type(i - 1) == L::COMMA || type(i - 1) == L::ASSIGN;
    if (!begins || !is_name(type(i + 1))) return;
    report(span(i, i + 2), "&" + text(i + 1), text(i + 1), {{input_.span(list_[i]->getStartIndex(), list_[i + 1]->getStartIndex()), ""}}, "a place stands for itself: there are no pointers");
    erase(i, i + 1);
  }
  // `let s: shared f32[32];`, `let s: f32;`: what has no value yet is a variable.
  void memory(size_t i) {
    if (!is_name(type(i + 1)) || type(i + 2) != L::COLON) return;
    size_t end = i + 3;
    while (is_name(type(end)) || type(end) == L::INTEGER || type(end) == L::COMMA || type(end) == L::STAR) end = end + 1;
    if (type(end) == L::LEFT_BRACKET) end = behind_bracket(end);
    if (type(end) != L::SEMICOLON || end == i + 3) return;
    report(span(i, i + 1), "let", "var", {{span(i, i + 1), "var"}}, "what gets its value later is a variable");
    retype(i, L::VAR);
  }

  void twins(size_t i, size_t second, size_t ours_type, const std::string& ours) {
    if (type(i + 1) != second || !are_joined(i)) return;
    report(span(i, i + 2), text(i, i + 2), ours, {{span(i, i + 2), ours}});
    retype(i, ours_type);
    erase(i + 1, i + 2);
  }
  void sync(size_t i) {
    if (type(i + 1) != L::LEFT_PAREN || type(i + 2) != L::RIGHT_PAREN) return;
    report(span(i, i + 3), text(i, i + 3), "sync", {{span(i + 1, i + 3), ""}});
    erase(i + 1, i + 3);
  }
  // `.5`, read as a value that is left open.
  void fraction(size_t i) {
    if (ends_operand(i - 1) || type(i + 1) != L::INTEGER || !are_joined(i)) return;
    report(span(i, i + 2), text(i, i + 2), "0" + text(i, i + 2), {{front(i), "0"}}, "a float has digits on both sides of its dot");
    imagine(i + 2, L::ID);
    erase(i, i + 2);
  }
  // `2.f`.
  void suffix(size_t i) {
    bool is_suffix = type(i + 1) == L::DOT && type(i + 2) == L::ID && are_joined(i) && are_joined(i + 1) && type(i + 3) != L::LEFT_PAREN;
    if (!is_suffix || text(i + 2).find_first_not_of("fFlLhH") != std::string::npos) return;
    report(span(i, i + 3), text(i, i + 3), text(i) + ".0", {{span(i + 2, i + 3), "0"}}, "a float has digits on both sides of its dot, and no suffix");
    imagine(i + 3, L::ID);
    erase(i, i + 3);
  }

  void foreach(size_t i) {
    report(span(i, i + 1), "foreach", "for", {{span(i, i + 1), "for"}});
    retype(i, L::FOR);
  }
  // `for j = 0..3`, `for (j in 0..4)`, `for r, c in parallel(4, 4)`, `for j in 0..=4`.
  void loop(size_t i) {
    std::optional<size_t> block = block_of(i);
    if (!block) return;
    if (is_name(type(i + 1)) && type(i + 2) == L::ASSIGN && type(i + 3) != L::IN) {
      report(span(i + 2, i + 3), "=", "in", {{input_.span(list_[i + 1]->getStopIndex() + 1, list_[i + 3]->getStartIndex()), " in "}});
      retype(i + 2, L::IN);
    }
    if (type(i + 1) == L::LEFT_PAREN && is_name(type(i + 2)) && type(i + 3) == L::IN && behind_bracket(i + 1) == *block) {
      report(span(i + 1, *block), text(i + 1, *block), text(i + 2, *block - 1), {{span(i + 1, i + 2), ""}, {span(*block - 1, *block), ""}}, "the head of a loop has no brackets");
      erase(*block - 1, *block), erase(i + 1, i + 2);
      *block -= 2;
    }
    size_t end = i + 1;
    while (is_name(type(end)) && type(end + 1) == L::COMMA) end += 2;
    if (end > i + 1 && is_name(type(end)) && type(end + 1) == L::IN) {
      report(span(i + 1, end + 1), text(i + 1, end + 1), "(" + text(i + 1, end + 1) + ")", {{front(i + 1), "("}, {behind(end), ")"}}, "several indices stand in brackets");
      imagine(end + 1, L::RIGHT_PAREN), imagine(i + 1, L::LEFT_PAREN);
      *block += 2;
    }
    inclusive(i, *block);
  }
  void inclusive(size_t i, size_t block) {
    for (size_t k = i; k + 2 < block; ++k) {
      if (type(k) != L::DOT_DOT || type(k + 1) != L::ASSIGN) continue;
      report(span(k, k + 2), "..=", "..", {{span(k + 1, k + 2), ""}, {behind(block - 1), " + 1"}}, "a range ends in front of its limit");
      return erase(k + 1, k + 2);
    }
  }
};

}  // namespace

void turn_foreign_marks(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Marks(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
