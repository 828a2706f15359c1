// Functions without a name, as other languages write them where a value stands: `lambda x: x + 1`, `[&](int x) { ... }`, `|x| x + 1`,
// `x => x + 1`, `fn (x) { ... }`. Said once and left out: what is called by such a name is left open, which says nothing more.
#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

constexpr std::string_view kHelp = "a function has a name and stands outside of kernels: `fn f(x: f32) -> f32 = x + 1;`";

class Lambdas {
 public:
  Lambdas(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    for (size_t i = 1; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      depth_ += (type(i - 1) == L::LEFT_BRACE) - (type(i - 1) == L::RIGHT_BRACE);
      if (!begins_value(i)) continue;
      size_t body = body_of(i);
      if (body > i) leave_out(i, body);
    }
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  std::string_view text(size_t i) const { return input_.spelling(*list_[i]); }
  bool begins_value(size_t i) const {
    size_t last = type(i - 1);
    return last == L::ASSIGN || last == L::LEFT_PAREN || last == L::COMMA || last == L::RETURN;
  }
  bool is_arrow(size_t i) const {  // `=>`
    return type(i) == L::ASSIGN && type(i + 1) == L::GREATER && list_[i]->getStopIndex() + 1 == list_[i + 1]->getStartIndex();
  }
  // Behind the bracket that closes the one at `i`, or `i`; no head of a function is as long as `kFarthest`.
  size_t behind(size_t i) const {
    constexpr size_t kFarthest = 1000;
    int depth = 0;
    for (size_t k = i; k + 1 < std::min(list_.size(), i + kFarthest) && type(k) != L::SEMICOLON; ++k) {
      size_t now = type(k);
      depth += (now == L::LEFT_PAREN || now == L::LEFT_BRACKET) - (now == L::RIGHT_PAREN || now == L::RIGHT_BRACKET);
      if (depth == 0) return k + 1;
    }
    return i;
  }
  // Past `x, y`, types of them as well.
  size_t behind_names(size_t i) const {
    while (type(i) == L::ID || type(i) == L::COMMA || type(i) == L::AND || type(i) == L::ASSIGN || type(i) == L::COLON) {
      if (is_arrow(i)) break;
      ++i;
    }
    return i;
  }

  // Where the body of a function that begins at `i` does, or `i` where none begins.
  size_t body_of(size_t i) const {
    size_t now = type(i);
    if (now == L::ID && is_arrow(i + 1)) return i + 3;
    if (now == L::ID && text(i) == "lambda") {
      size_t end = i + 1;
      while (type(end) == L::ID || type(end) == L::COMMA) ++end;
      return type(end) == L::COLON ? end + 1 : i;
    }
    if (now == L::OR_OR) return i + 1;
    if (now == L::OR) return type(behind_names(i + 1)) == L::OR ? behind_names(i + 1) + 1 : i;
    if (now == L::LEFT_PAREN) return is_arrow(behind(i)) ? behind(i) + 2 : i;
    bool has_captures = now == L::LEFT_BRACKET && type(behind_names(i + 1)) == L::RIGHT_BRACKET;
    if (now != L::FN && !has_captures) return i;
    size_t open = has_captures ? behind(i) : i + 1;
    if (type(open) != L::LEFT_PAREN) return i;
    size_t end = behind(open);
    while (type(end) == L::ID || type(end) == L::ARROW) ++end;  // `mutable`, `-> int`
    if (type(end) == L::LEFT_BRACE) return end;
    return now == L::FN && type(end) == L::ASSIGN ? end + 1 + is_arrow(end) : i;
  }
  // Behind a block, or a value.
  size_t behind_body(size_t i) const {
    bool is_block = type(i) == L::LEFT_BRACE;
    int depth = 0;
    for (; i + 1 < list_.size(); ++i) {
      size_t now = type(i);
      bool closes = now == L::RIGHT_PAREN || now == L::RIGHT_BRACKET || now == L::RIGHT_BRACE;
      if (depth == 0 && (closes || now == L::COMMA || now == L::SEMICOLON)) return i;
      depth += (now == L::LEFT_PAREN || now == L::LEFT_BRACKET || now == L::LEFT_BRACE) - closes;
      if (depth == 0 && is_block) return i + 1;
    }
    return i;
  }

  void leave_out(size_t i, size_t body) {
    Span head = input_.span(list_[i]->getStartIndex(), list_[body - 1]->getStopIndex() + 1);
    std::string theirs(input_.text.substr(head.begin, head.end - head.begin));
    diagnostics_.at(head).error(diag::ExpectedToken, "a value", "the function `" + theirs + "`").help(kHelp);
    size_t end = behind_body(body);
    TokenPointer open = imagined_before(*list_[end], L::ID);
    list_.erase(list_.begin() + ssize_t(i), list_.begin() + ssize_t(end));
    list_.insert(list_.begin() + ssize_t(i), std::move(open));
    // `f = lambda x: x` declares f, as do `auto f = [](int x) { ... }` and `const f = x => x`.
    bool is_set = i >= 3 && type(i - 1) == L::ASSIGN && type(i - 2) == L::ID;
    size_t before = is_set ? type(i - 3) : size_t(L::COMMA);
    if (before == L::SEMICOLON || before == L::LEFT_BRACE || before == L::RIGHT_BRACE)
      list_.insert(list_.begin() + ssize_t(i) - 2, imagined_before(*list_[i - 2], L::LET));
    else if ((before == L::CONST && depth_ > 0) || (before == L::ID && text(i - 3) == "auto"))
      dynamic_cast<antlr4::CommonToken&>(*list_[i - 3]).setType(L::LET);
  }

  const Input& input_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
  int depth_ = 0;
};

}  // namespace

void leave_out_lambdas(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Lambdas(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
