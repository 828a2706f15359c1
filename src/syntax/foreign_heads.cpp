// What stands around declarations elsewhere: `static fn`, `__device__ fn`, imports inside of a body, modules of other languages, a `;` or options
// of a launch behind the head of a kernel, results of kernels, `fn f(x: f32): f32`. Said once, and read as what was meant.
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

class Heads : TokenEdits {
 public:
  Heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    int depth = 0;
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      depth += (type(i) == L::LEFT_BRACE) - (type(i) == L::RIGHT_BRACE);
      if (type(i) == L::IMPORT) import(i, depth);
      if (type(i) == L::ID && depth <= 0) qualifier(i);
      bool is_head = (type(i) == L::KERNEL || type(i) == L::FN) && is_name(type(i + 1));
      if (is_head) head(i);
    }
  }

 private:
  Report report(size_t begin, size_t end, const std::string& ours) {
    return diagnostics_.at(span(begin, end)).error(diag::ExpectedToken, ours, "`" + text(begin, end) + "`");
  }

  // In a body: read as one in front of the file. Modules of other languages end with their line.
  void import(size_t i, int depth) {
    size_t end = i + 1;
    if (type(end) == L::STRING) ++end;
    else while (is_name(type(end)) && (end == i + 1 || type(end - 1) == L::DOT) && list_[end]->getLine() == list_[i]->getLine())
      end += type(end + 1) == L::DOT ? 2 : 1;
    if (end == i + 1) return;
    if (type(end) == L::AS && is_name(type(end + 1))) end += 2;
    constexpr std::array<std::string_view, 12> kElsewhere = {"numpy", "torch", "triton", "math", "jax", "cupy", "numba", "tensorflow", "os", "sys", "random", "time"};
    bool is_elsewhere = std::ranges::find(kElsewhere, text(i + 1)) != kElsewhere.end();
    if (is_elsewhere && type(end) != L::SEMICOLON && end + 1 < list_.size() && list_[end]->getLine() != list_[i]->getLine())
      list_.insert(list_.begin() + ssize_t(end), imagined_before(*list_[end], L::SEMICOLON));
    if (depth <= 0 || type(end) != L::SEMICOLON || list_[i]->getCharPositionInLine() == 0) return;
    diagnostics_.at(span(i, i + 1)).error(diag::UnexpectedToken, "`import`").help("imports stand at the beginning of the file, outside of kernels");
    std::rotate(list_.begin(), list_.begin() + ssize_t(i), list_.begin() + ssize_t(end) + 1);
  }

  // `static fn`, `__global__ void kernel`.
  void qualifier(size_t i) {
    bool begins = i == 0 || type(i - 1) == L::SEMICOLON || type(i - 1) == L::RIGHT_BRACE;
    size_t end = i;
    while (type(end) == L::ID) ++end;
    bool is_ours = type(end) == L::FN || type(end) == L::KERNEL || type(end) == L::CONST || (type(end) == L::EXPORT && type(end + 1) == L::KERNEL);
    if (!begins || !is_ours || list_[end]->getLine() != list_[i]->getLine()) return;
    report(i, end, "a declaration").fix(input_.span(list_[i]->getStartIndex(), list_[end]->getStartIndex()), "", "take it away: a `kernel` that is exported is called by programs, a `fn` by kernels");
    erase(i, end);
  }

  size_t behind(size_t open, size_t opener, size_t closer) const {
    int depth = 0;
    for (size_t i = open; i < list_.size(); ++i) {
      depth += (type(i) == opener) - (type(i) == closer);
      if (depth == 0) return i + 1;
    }
    return open;
  }

  void head(size_t i) {
    bool is_kernel = type(i) == L::KERNEL;
    size_t at = i + 2;
    if (type(at) == L::LEFT_BRACKET) at = behind(at, L::LEFT_BRACKET, L::RIGHT_BRACKET);
    if (type(at) != L::LEFT_PAREN) return;
    at = behind(at, L::LEFT_PAREN, L::RIGHT_PAREN);
    if (is_kernel) return behind_kernel(at);
    bool is_typed = type(at) == L::COLON && is_name(type(at + 1));
    if (is_typed) {
      report(at, at + 1, "`->`").fix(input_.span(list_[at - 1]->getStopIndex() + 1, list_[at + 1]->getStartIndex()), " -> ", "the type of a result stands behind `->`");
      dynamic_cast<antlr4::CommonToken&>(*list_[at]).setType(L::ARROW);
    } else if (is_name(type(at)) && type(at + 1) == L::LEFT_BRACE && (scalar_named(text(at)) || foreign_type(text(at)))) {
      uint32_t front = uint32_t(list_[at]->getStartIndex());
      report(at, at + 1, "`->`").fix(input_.span(front, front), "-> ", "the type of a result stands behind `->`");
      list_.insert(list_.begin() + ssize_t(at), imagined_before(*list_[at], L::ARROW));
    }
    result(at);
  }

  // `fn f(a: f32) -> f32 { a * a }`.
  void result(size_t at) {
    if (type(at) != L::ARROW) return;
    size_t open = at;
    while (open < list_.size() && type(open) != L::LEFT_BRACE && type(open) != L::SEMICOLON && type(open) != L::ASSIGN) ++open;
    if (type(open) != L::LEFT_BRACE) return;
    size_t close = behind(open, L::LEFT_BRACE, L::RIGHT_BRACE) - 1, first = close;
    if (close <= open) return;
    while (first > open + 1 && type(first - 1) != L::SEMICOLON && type(first - 1) != L::LEFT_BRACE && type(first - 1) != L::RIGHT_BRACE) --first;
    bool is_value = first < close && (is_name(type(first)) || type(first) == L::INTEGER || type(first) == L::FLOAT || type(first) == L::LEFT_PAREN || type(first) == L::MINUS);
    for (size_t k = first; k < close; ++k)
      if (type(k) >= L::ASSIGN && type(k) <= L::SHIFT_RIGHT_ASSIGN) is_value = false;
    // A block around it belongs to an `if` or a loop.
    if (!is_value || (first > open + 1 && type(first - 1) == L::LEFT_BRACE) || list_[close]->getStartIndex() > list_[close]->getStopIndex()) return;
    uint32_t front = uint32_t(list_[first]->getStartIndex()), end = uint32_t(list_[close - 1]->getStopIndex() + 1);
    report(first, close, "`return " + text(first, close) + ";`").fix({{input_.span(front, front), "return "}, {input_.span(end, end), ";"}}, "what a function gives is returned");
    list_.insert(list_.begin() + ssize_t(close), imagined_before(*list_[close], L::SEMICOLON));
    list_.insert(list_.begin() + ssize_t(first), imagined_before(*list_[first], L::RETURN));
  }

  // `-> f32`, `;`, `threads 128` between the parameters and the body.
  void behind_kernel(size_t at) {
    if (type(at) == L::ARROW || (type(at) == L::THREADS && type(at + 1) != L::LEFT_BRACE)) {
      size_t end = at + 1;
      while (type(end) != L::LEFT_BRACE && type(end) != L::SEMICOLON && type(end) != L::REQUIRES && type(end) != L::RIGHT_BRACE && type(end) != antlr4::Token::EOF) ++end;
      if (end == at + 1 || type(end) == L::RIGHT_BRACE || type(end) == antlr4::Token::EOF) return;
      std::string help = "options stand behind the axes of a launch: `launch (i in N) " + text(at, end) + " { ... }`";
      auto said = report(at, end, "`{`");
      if (type(at) == L::THREADS) said.help(std::move(help));
      else said.fix(span_to(at, end), "", "a kernel has no result: what it makes is stored in an `out`");
      erase(at, end);
    }
    size_t end = at;
    if (type(at) == L::REQUIRES)
      while (end < list_.size() && type(end) != L::SEMICOLON && type(end) != L::LEFT_BRACE && type(end) != L::RIGHT_BRACE) ++end;
    if (type(end) != L::SEMICOLON || type(end + 1) != L::LEFT_BRACE) return;
    report(end, end + 1, "`{`").fix(span(end, end + 1), "", "the body stands behind its head");
    erase(end, end + 1);
  }
  Span span_to(size_t begin, size_t end) const { return input_.span(list_[begin]->getStartIndex(), list_[end]->getStartIndex()); }
};

}  // namespace

void turn_foreign_heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Heads(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
