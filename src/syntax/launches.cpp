// `launch i in M { }`, `launch (M)`, `launch (i: M)`, `launch (i in 0..M)`, `launch (i in M, threads = 128)`: said once and read as `launch (i in M) { }`, so that
// its index is declared and the body looked at.
#include <array>

#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

size_t type_at(const Tokens& tokens, size_t i) {
  return i < tokens.list.size() ? tokens.list[i]->getType() : size_t(antlr4::Token::EOF);
}

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

constexpr std::string_view kAxis = "an axis is a name and its extent";

class Axes {
 public:
  Axes(const Input& input, Tokens& tokens, Diagnostics& diagnostics) : input_(input), tokens_(tokens), list_(tokens.list), diagnostics_(diagnostics) {}

  // What stands in the parentheses behind the `launch` at `at`.
  void run(size_t at) {
    size_t open = at + 1;
    if (type_at(tokens_, open) != TileLexer::LEFT_PAREN) return;
    for (size_t i = open + 1;;) {
      size_t end = end_of_axis(i);
      size_t after = type_at(tokens_, end);
      if (after != TileLexer::COMMA && after != TileLexer::RIGHT_PAREN) return;
      if (is_option(i)) return move_options(i);
      end = axis(i, end);
      if (after == TileLexer::RIGHT_PAREN) return;
      i = end + 1;
    }
  }

 private:
  size_t end_of_axis(size_t i) const {
    int depth = 0;
    for (; i < list_.size(); ++i) {
      size_t type = type_at(tokens_, i);
      if (type == TileLexer::SEMICOLON || type == TileLexer::LEFT_BRACE || type == TileLexer::RIGHT_BRACE) break;
      bool closes = type == TileLexer::RIGHT_PAREN || type == TileLexer::RIGHT_BRACKET;
      if (depth == 0 && (closes || type == TileLexer::COMMA)) break;
      depth += (type == TileLexer::LEFT_PAREN || type == TileLexer::LEFT_BRACKET) - closes;
    }
    return i;
  }
  std::string text(size_t begin, size_t end) const {
    size_t first = list_[begin]->getStartIndex();
    return std::string(input_.text.substr(first, list_[end - 1]->getStopIndex() + 1 - first));
  }
  Span span(size_t begin, size_t end) const { return input_.span(list_[begin]->getStartIndex(), list_[end - 1]->getStopIndex() + 1); }
  Report report(size_t begin, size_t end, const std::string& ours) {
    return diagnostics_.at(span(begin, end)).error(diag::ExpectedToken, "`" + ours + "`", "`" + text(begin, end) + "`");
  }

  // `launch (i: N)`, `launch (i = N)`, `launch (i < N)`
  static bool stands_for_in(size_t type) { return type == TileLexer::COLON || type == TileLexer::ASSIGN || type == TileLexer::LESS; }

  // `launch (ceildiv(N, 64))`: an extent alone.
  bool has_no_index(size_t i, size_t end) const {
    const size_t word = type_at(tokens_, i + 1);
    const bool is_named = is_name(type_at(tokens_, i)) && (word == TileLexer::IN || stands_for_in(word));
    if (end == i || is_named || begins_option(type_at(tokens_, i))) return false;
    for (size_t k = i; k < end; ++k)
      if (type_at(tokens_, k) == TileLexer::IN || type_at(tokens_, k) == TileLexer::DOT_DOT) return false;
    return ends_operand(type_at(tokens_, end - 1));
  }

  // The place of the axis' end.
  size_t axis(size_t i, size_t end) {
    const size_t word = type_at(tokens_, i + 1);
    if (has_no_index(i, end)) {
      const std::string head = std::string(kNames[std::min(taken_++, kNames.size() - 1)]) + " in ";
      report(i, end, head + text(i, end)).fix(input_.span(list_[i]->getStartIndex(), list_[i]->getStartIndex()), head, kAxis);
      list_.insert(list_.begin() + ssize_t(i), imagined_before(*list_[i], TileLexer::IN));
      list_.insert(list_.begin() + ssize_t(i), imagined_before(*list_[i], TileLexer::ID));
      return end + 2;
    }
    if (!is_name(type_at(tokens_, i))) return end;
    if (stands_for_in(word)) {
      uint32_t behind_name = uint32_t(list_[i]->getStopIndex() + 1);
      report(i + 1, i + 2, "in").fix({{input_.span(behind_name, list_[i + 2]->getStartIndex()), " in "}}, kAxis);
      dynamic_cast<antlr4::CommonToken&>(*list_[i + 1]).setType(TileLexer::IN);
    } else if (word != TileLexer::IN) {
      return end;
    }
    return extent(i + 2, end);
  }
  // `0..M`: a launch counts from 0.
  size_t extent(size_t first, size_t end) {
    size_t dots = first;
    while (dots < end && type_at(tokens_, dots) != TileLexer::DOT_DOT) ++dots;
    if (dots == end || dots == first || dots + 1 >= end) return end;
    constexpr std::string_view kExtent = "an axis of a launch has an extent, and counts from 0";
    std::string limit = text(dots + 1, end), begin = text(first, dots);
    if (begin == "0") report(first, end, limit).fix({{span(first, end), limit}}, kExtent);
    else report(first, end, limit + " - " + begin).help(std::string(kExtent) + ": `" + begin + "` is added in its block");
    list_.erase(list_.begin() + ssize_t(first), list_.begin() + ssize_t(dots) + 1);
    return end - (dots + 1 - first);
  }

  bool is_option(size_t i) const {
    size_t next = type_at(tokens_, i + 1);
    return begins_option(type_at(tokens_, i)) && next != TileLexer::IN && next != TileLexer::COLON;
  }
  // `threads = 128` in the parentheses stands behind them.
  void move_options(size_t i) {
    size_t end = i;
    std::string ours;
    std::vector<TokenPointer> options;
    for (size_t at = i;; at = end + 1) {
      end = end_of_axis(at);
      if (!is_option(at)) return;
      size_t value = at + 1 + (type_at(tokens_, at + 1) == TileLexer::ASSIGN);
      ours += " " + text(at, at + 1) + (value < end ? " " + text(value, end) : "");
      if (type_at(tokens_, end) == TileLexer::COMMA) continue;
      if (type_at(tokens_, end) != TileLexer::RIGHT_PAREN) return;
      break;
    }
    bool is_behind = type_at(tokens_, i - 1) == TileLexer::COMMA;
    size_t from = is_behind ? i - 1 : i;
    Span out = input_.span(list_[from]->getStartIndex(), list_[end]->getStartIndex());
    uint32_t there = uint32_t(list_[end]->getStopIndex() + 1);
    report(i, end, ")" + ours).fix({{out, ""}, {input_.span(there, there), ours}}, "options of a launch stand behind its parentheses");
    for (size_t k = i; k < end; ++k) {
      size_t type = type_at(tokens_, k);
      if (type != TileLexer::COMMA && type != TileLexer::ASSIGN) options.push_back(std::move(list_[k]));
    }
    list_.erase(list_.begin() + ssize_t(from), list_.begin() + ssize_t(end));
    list_.insert(list_.begin() + ssize_t(from) + 1, std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
  }

  static constexpr std::array<std::string_view, 3> kNames = {"i", "j", "k"};

  const Input& input_;
  Tokens& tokens_;
  std::vector<TokenPointer>& list_;
  Diagnostics& diagnostics_;
  size_t taken_ = 0;  // of the names
};

}  // namespace

void turn_bare_launches(const Input& input, Tokens& tokens, Diagnostics& diagnostics) {
  for (size_t i = 0; i < tokens.list.size(); ++i) {
    if (type_at(tokens, i) == TileLexer::LAUNCH) Axes(input, tokens, diagnostics).run(i);
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
