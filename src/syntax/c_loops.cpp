// `for (int i = 0; i < n; i++)`: said once and read as `for i in 0..n`, so that the loop's body is looked at as well.
#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

// Places of tokens: `for ( [type] name = [first, semicolon) ; name < [limit, end) ; step )`.
struct CLoop {
  size_t name, first, semicolon, limit, end, close;
  bool has_limit_inside;  // `<=`
  std::string step;       // empty: 1
};

class Reader {
 public:
  Reader(const Input& input, const std::vector<TokenPointer>& tokens) : input_(input), tokens_(tokens) {}

  // The loop whose `for` is token `at`; none where the text is any other.
  std::optional<CLoop> loop(size_t at) const {
    if (type(at) != TileLexer::FOR || type(at + 1) != TileLexer::LEFT_PAREN) return std::nullopt;
    CLoop loop{};
    loop.name = at + 2 + (type(at + 3) == type(at + 2));  // a type stands before it, a name as well
    if (type(loop.name) != TileLexer::ID || type(loop.name + 1) != TileLexer::ASSIGN) return std::nullopt;
    loop.first = loop.name + 2;
    loop.semicolon = find(loop.first, TileLexer::SEMICOLON);
    loop.limit = loop.semicolon + 3;
    size_t comparison = type(loop.semicolon + 2);
    loop.has_limit_inside = comparison == TileLexer::LESS_EQUAL;
    if (!is_name(loop.semicolon + 1, loop.name) || (comparison != TileLexer::LESS && !loop.has_limit_inside)) return std::nullopt;
    loop.end = find(loop.limit, TileLexer::SEMICOLON);
    loop.close = find(loop.end + 1, TileLexer::RIGHT_PAREN);
    if (loop.close == tokens_.size() || loop.first == loop.semicolon || loop.limit == loop.end) return std::nullopt;
    return read_step(loop) ? std::optional(loop) : std::nullopt;
  }

  // The `;` behind a body that is one plain statement without braces.
  std::optional<size_t> end_of_bare_body(const CLoop& loop) const {
    size_t first = type(loop.close + 1);
    bool is_plain = first == TileLexer::ID || first == TileLexer::LEFT_PAREN;
    size_t end = is_plain ? find(loop.close + 1, TileLexer::SEMICOLON) : tokens_.size();
    return end < tokens_.size() ? std::optional(end) : std::nullopt;
  }

  std::string text(size_t begin, size_t end) const {
    return std::string(input_.text.substr(tokens_[begin]->getStartIndex(), tokens_[end - 1]->getStopIndex() + 1 - tokens_[begin]->getStartIndex()));
  }

 private:
  size_t type(size_t i) const { return i < tokens_.size() ? tokens_[i]->getType() : size_t(antlr4::Token::EOF); }
  bool is_name(size_t i, size_t name) const { return type(i) == TileLexer::ID && input_.spelling(*tokens_[i]) == input_.spelling(*tokens_[name]); }

  // The next token of this type outside of brackets; a block ends the search, and what no head of a loop is as long as.
  size_t find(size_t from, size_t wanted) const {
    constexpr size_t kFarthest = 1000;
    int depth = 0;
    for (size_t i = from; i < std::min(tokens_.size(), from + kFarthest); ++i) {
      size_t now = type(i);
      if (depth == 0 && now == wanted) return i;
      if (now == TileLexer::LEFT_BRACE || now == TileLexer::RIGHT_BRACE) break;
      if (now == TileLexer::LEFT_PAREN || now == TileLexer::LEFT_BRACKET) ++depth;
      if ((now == TileLexer::RIGHT_PAREN || now == TileLexer::RIGHT_BRACKET) && --depth < 0) break;
    }
    return tokens_.size();
  }

  // `++i`, `i++` or `i += step`.
  bool read_step(CLoop& loop) const {
    size_t at = loop.end + 1, count = loop.close - at;
    auto is_plus = [&](size_t i) { return type(i) == TileLexer::PLUS; };
    if (count == 3 && is_plus(at + 1) && is_plus(at + 2)) return is_name(at, loop.name);
    if (count == 3 && is_plus(at) && is_plus(at + 1)) return is_name(at + 2, loop.name);
    if (count < 3 || !is_name(at, loop.name) || type(at + 1) != TileLexer::ADD_ASSIGN) return false;
    loop.step = text(at + 2, loop.close);
    return true;
  }

  const Input& input_;
  const std::vector<TokenPointer>& tokens_;
};

std::string in_our_words(const Reader& reader, const CLoop& loop) {
  std::string name = reader.text(loop.name, loop.name + 1), first = reader.text(loop.first, loop.semicolon);
  std::string limit = reader.text(loop.limit, loop.end) + (loop.has_limit_inside ? " + 1" : "");
  return name + " in " + (loop.step.empty() ? first + ".." + limit : "range(" + first + ", " + limit + ", " + loop.step + ")");
}

TokenPointer retyped(TokenPointer token, size_t type) {
  dynamic_cast<antlr4::CommonToken&>(*token).setType(type);
  return token;
}

}  // namespace

void turn_c_loops(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  std::vector<TokenPointer> turned;
  turned.reserve(tokens.list.size());
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    Reader reader(input, tokens.list);
    std::optional<CLoop> loop = reader.loop(i);
    if (!loop) {
      turned.push_back(std::move(tokens.list[i]));
      continue;
    }
    Span head = input.span(tokens.list[i + 1]->getStartIndex(), tokens.list[loop->close]->getStopIndex() + 1);
    std::optional<size_t> body_end = reader.end_of_bare_body(*loop);
    std::vector<Fix> fixes{{head, in_our_words(reader, *loop)}};
    if (body_end) {
      uint32_t begin = uint32_t(tokens.list[loop->close + 1]->getStartIndex()), end = uint32_t(tokens.list[*body_end]->getStopIndex() + 1);
      fixes.push_back({input.span(begin, begin), "{ "});
      fixes.push_back({input.span(end, end), " }"});
    }
    diagnostics.at(head).error(diag::CLoop).fix(std::move(fixes), "write it so");
    if (patience.is_over(diagnostics)) {
      tokens.is_unreadable = true;
      return give_up(patience, diagnostics.at(head), input.name);
    }
    auto& list = tokens.list;
    turned.push_back(std::move(list[i]));
    turned.push_back(std::move(list[loop->name]));
    turned.push_back(retyped(std::move(list[loop->name + 1]), TileLexer::IN));
    for (size_t n = loop->first; n < loop->semicolon; ++n) turned.push_back(std::move(list[n]));
    turned.push_back(retyped(std::move(list[loop->semicolon]), TileLexer::DOT_DOT));
    for (size_t n = loop->limit; n < loop->end; ++n) turned.push_back(std::move(list[n]));
    i = loop->close;
    // A body without braces is no mistake of its own.
    if (i + 1 < list.size() && list[i + 1]->getType() != TileLexer::LEFT_BRACE) {
      size_t end = std::min(input.text.find('\n', head.end), input.text.size());
      tokens.damaged.push_back(input.span(head.begin, end));
    }
  }
  tokens.list = std::move(turned);
}

}  // namespace tilec::syntax
