// Functions and constants of other languages in a file, `float sq(float a) { ... }`, `constexpr int B = 32;`, `B = 32`: said once and read as
// `fn sq(a: f32) -> f32 { ... }` and `const B = 32;`. What is no such thing is left out by a later pass.
#include "TileLexer.h"
#include "base/scalar.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"
#include "syntax/tokens.h"
#include "syntax/token_edits.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

bool is_literal(size_t type) { return type == L::INTEGER || type == L::FLOAT || (type >= L::INFINITE && type <= L::FALSE); }

class Declarations : TokenEdits {
 public:
  Declarations(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    int depth = 0;
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      bool begins = i == 0 || type(i - 1) == L::SEMICOLON || type(i - 1) == L::RIGHT_BRACE;
      if (begins && depth == 0 && type(i) == L::ID && list_[i]->getCharPositionInLine() == 0 && !function(i)) constant(i);
      depth += (type(i) == L::LEFT_BRACE) - (type(i) == L::RIGHT_BRACE);
    }
  }

 private:
  std::optional<Scalar> type_at(size_t i) const {
    if (type(i) != L::ID) return std::nullopt;
    auto ours = scalar_named(text(i));
    return ours ? ours : foreign_type(text(i));
  }
  // The last word of those in a row from `i`, of which any may be `const`.
  size_t last_word(size_t i) const {
    while (type(i + 1) == L::ID || type(i + 1) == L::CONST) ++i;
    return i;
  }
  // The type among words; none where there is none.
  std::optional<size_t> type_among(size_t begin, size_t end) const {
    for (size_t i = end; i-- > begin;)
      if (type_at(i)) return i;
    return std::nullopt;
  }
  // A type of ours is kept; one of theirs is left open, which says nothing more.
  TokenPointer read_type(size_t i) {
    return scalar_named(text(i)) && text(i) != "int" ? std::move(list_[i]) : imagined_before(*list_[i], L::ID);
  }
  std::string ours_of(size_t i) const { return std::string(tilec::name(*type_at(i))); }
  void report(size_t begin, size_t end, const std::string& ours, std::string_view why) {
    diagnostics_.at(span(begin, end)).error(diag::ExpectedToken, "`" + ours + "`", "`" + text(begin, end) + "`").fix(span(begin, end), ours, why);
  }
  void put(size_t begin, size_t end, std::vector<TokenPointer> turned) {
    erase(begin, end);
    list_.insert(list_.begin() + ssize_t(begin), std::make_move_iterator(turned.begin()), std::make_move_iterator(turned.end()));
  }

  struct Parameter {
    size_t type, name;
  };
  // `(float a, int n)`, with the place of its `)`.
  std::optional<std::vector<Parameter>> parameters(size_t& at) const {
    std::vector<Parameter> all;
    while (type(++at) != L::RIGHT_PAREN || !all.empty()) {
      size_t name = last_word(at);
      auto element = type_among(at, name);
      if (!element || type(name) != L::ID || (type(name + 1) != L::COMMA && type(name + 1) != L::RIGHT_PAREN)) return std::nullopt;
      all.push_back({*element, name});
      at = name + 1;
      if (type(at) == L::RIGHT_PAREN) break;
    }
    return all;
  }
  // `__device__ float sq(float a) {`.
  bool function(size_t i) {
    size_t name = last_word(i), close = name + 1;
    auto result = type_among(i, name);
    if (!result || type(name) != L::ID || type(close) != L::LEFT_PAREN) return false;
    auto all = parameters(close);
    if (!all || type(close + 1) != L::LEFT_BRACE) return false;
    std::string list;
    for (Parameter p : *all) list += (list.empty() ? "" : ", ") + text(p.name) + ": " + ours_of(p.type);
    report(i, close + 1, "fn " + text(name) + "(" + list + ") -> " + ours_of(*result), "a function is declared so");
    std::vector<TokenPointer> turned;
    const antlr4::Token& brace = *list_[close + 1];
    turned.push_back(imagined_before(*list_[name], L::FN)), turned.push_back(std::move(list_[name])), turned.push_back(std::move(list_[name + 1]));
    for (Parameter p : *all) {
      if (p.name != (*all)[0].name) turned.push_back(imagined_before(brace, L::COMMA));
      TokenPointer element = read_type(p.type);
      turned.push_back(std::move(list_[p.name])), turned.push_back(imagined_before(brace, L::COLON)), turned.push_back(std::move(element));
    }
    turned.push_back(std::move(list_[close])), turned.push_back(imagined_before(brace, L::ARROW)), turned.push_back(read_type(*result));
    put(i, close + 1, std::move(turned));
    return true;
  }

  // Behind a value that a constant may have, at its `;` or on another line; none where it is any other.
  std::optional<size_t> behind_value(size_t first) const {
    size_t end = first;
    int depth = 0;
    for (; type(end) != L::SEMICOLON && end + 1 < list_.size() && list_[end]->getLine() == list_[first]->getLine(); ++end) {
      size_t t = type(end);
      depth += (t == L::LEFT_PAREN) - (t == L::RIGHT_PAREN);
      bool is_call = t == L::ID && type(end + 1) == L::LEFT_PAREN, is_operator = t >= L::OR_OR && t <= L::TILDE && t != L::AT;
      if (is_call || depth < 0 || (t != L::ID && !is_literal(t) && !is_operator && t != L::LEFT_PAREN && t != L::RIGHT_PAREN)) return std::nullopt;
    }
    return end > first && depth == 0 ? std::optional(end) : std::nullopt;
  }
  // `constexpr int B = 32;`, `B: int = 32`, `B = 32`.
  void constant(size_t i) {
    size_t name = last_word(i), assign = name + 1;
    auto element = type_among(i, name);
    if (name == i && type(assign) == L::COLON && is_name(type(assign + 1))) {
      if (type_at(assign + 1)) element = assign + 1;
      assign += 2;
      while (type(assign) == L::DOT && is_name(type(assign + 1))) assign += 2;
    }
    auto end = type(assign) == L::ASSIGN && type(name) == L::ID && list_[assign]->getLine() == list_[i]->getLine() ? behind_value(assign + 1) : std::nullopt;
    if (!end || list_[assign + 1]->getLine() != list_[i]->getLine()) return;
    bool has_end = type(*end) == L::SEMICOLON, is_typed = element && ours_of(*element) != "int" && ours_of(*element) != "i32";
    std::string ours = "const " + text(name) + (is_typed ? ": " + ours_of(*element) : "") + " = " + text(assign + 1, *end) + ";";
    report(i, *end + has_end, ours, "a constant is declared so");
    if (!has_end) insert(*end, imagined_before(*list_[*end], L::SEMICOLON));
    TokenPointer called = std::move(list_[name]), word = imagined_before(*list_[assign], L::CONST);
    erase(i, assign);
    insert(i, std::move(called)), insert(i, std::move(word));
  }
};

}  // namespace

void turn_foreign_declarations(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Declarations(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
