// `launch i in M { }`: said once and read as `launch (i in M) { }`, so that its index is declared and the body looked at.
#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

size_t type_at(const Tokens& tokens, size_t i) {
  return i < tokens.list.size() ? tokens.list[i]->getType() : size_t(antlr4::Token::EOF);
}

bool is_name(size_t type) { return type == TileLexer::ID || (type >= TileLexer::ALIAS && type <= TileLexer::WORKSPACE); }

// May an expression end here?
bool ends_operand(size_t type) {
  return is_name(type) || type == TileLexer::INTEGER || type == TileLexer::RIGHT_PAREN || type == TileLexer::RIGHT_BRACKET;
}

bool begins_option(size_t type) {
  return type == TileLexer::THREADS || type == TileLexer::CLUSTER || type == TileLexer::PERSISTENT || type == TileLexer::RASTER ||
         type == TileLexer::SPLIT;
}

// The token behind the last axis of the launch at `at`; none where the text is any other.
std::optional<size_t> end_of_axes(const Tokens& tokens, size_t at) {
  bool is_bare = type_at(tokens, at) == TileLexer::LAUNCH && is_name(type_at(tokens, at + 1)) && type_at(tokens, at + 2) == TileLexer::IN;
  if (!is_bare) return std::nullopt;
  int depth = 0;
  for (size_t i = at + 3; i < tokens.list.size(); ++i) {
    size_t type = type_at(tokens, i);
    if (type == TileLexer::LEFT_PAREN || type == TileLexer::LEFT_BRACKET) ++depth;
    if (type == TileLexer::RIGHT_PAREN || type == TileLexer::RIGHT_BRACKET) --depth;
    if (depth < 0 || type == TileLexer::SEMICOLON || type == TileLexer::RIGHT_BRACE) return std::nullopt;
    if (depth == 0 && (type == TileLexer::LEFT_BRACE || (begins_option(type) && ends_operand(type_at(tokens, i - 1))))) return i;
  }
  return std::nullopt;
}

}  // namespace

void turn_bare_launches(const Input& input, Tokens& tokens, Diagnostics& diagnostics) {
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    std::optional<size_t> end = end_of_axes(tokens, i);
    if (!end) continue;
    Span first = input.span(*tokens.list[i + 1]), last = input.span(*tokens.list[*end - 1]);
    diagnostics.at(first)
        .error(diag::ExpectedToken, "`(`", "`" + std::string(input.spelling(*tokens.list[i + 1])) + "`")
        .fix({{input.span(first.begin, first.begin), "("}, {input.span(last.end, last.end), ")"}}, "the axes of a launch stand in parentheses");
    auto closer = imagined_before(*tokens.list[*end], TileLexer::RIGHT_PAREN);
    auto opener = imagined_before(*tokens.list[i + 1], TileLexer::LEFT_PAREN);
    tokens.list.insert(tokens.list.begin() + ssize_t(*end), std::move(closer));
    tokens.list.insert(tokens.list.begin() + ssize_t(i) + 1, std::move(opener));
  }
}

}  // namespace tilec::syntax
