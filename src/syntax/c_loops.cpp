// `for (int i = 0; i < n; i++)`: said once and read as `for i in 0..n`, so that the loop's body is looked at as well. Other loops with such a
// head, `for (int i = n; i > 0; i /= 2)`, `for (float v : A)`, go over what is left open, which says nothing more.
#include <set>

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

// A statement where a block should stand: its first and its last token.
struct Bare {
  size_t begin, end;
};

class Reader {
 public:
  Reader(const Input& input, const std::vector<TokenPointer>& tokens) : input_(input), tokens_(tokens) {}

  // The loop whose `for` is token `at`; none where the text is any other.
  std::optional<CLoop> loop(size_t at) const {
    if (type(at) != TileLexer::FOR || type(at + 1) != TileLexer::LEFT_PAREN) return std::nullopt;
    CLoop loop{};
    loop.name = name_behind(at + 2);
    if (type(loop.name) != TileLexer::ID || type(loop.name + 1) != TileLexer::ASSIGN) return std::nullopt;
    loop.first = loop.name + 2;
    loop.semicolon = find(loop.first, TileLexer::SEMICOLON);
    loop.limit = loop.semicolon + 3;
    size_t comparison = type(loop.semicolon + 2);
    loop.has_limit_inside = comparison == TileLexer::LESS_EQUAL;
    bool is_below = comparison == TileLexer::LESS || comparison == TileLexer::NOT_EQUAL || loop.has_limit_inside;
    if (!is_name(loop.semicolon + 1, loop.name) || !is_below) return std::nullopt;
    loop.end = find(loop.limit, TileLexer::SEMICOLON);
    loop.close = find(loop.end + 1, TileLexer::RIGHT_PAREN);
    if (loop.close == tokens_.size() || loop.first == loop.semicolon || loop.limit == loop.end) return std::nullopt;
    bool is_one = find(loop.first, TileLexer::COMMA) > loop.semicolon && find(loop.end, TileLexer::COMMA) > loop.close;
    if (!is_one || !read_step(loop)) return std::nullopt;
    return comparison == TileLexer::NOT_EQUAL && !loop.step.empty() ? std::nullopt : std::optional(loop);
  }

  // The closing parenthesis of a head `(...; ...; ...)` or `(... : ...)` behind the `for` at `at`.
  std::optional<size_t> end_of_head(size_t at, size_t separator) const {
    if (type(at) != TileLexer::FOR || type(at + 1) != TileLexer::LEFT_PAREN) return std::nullopt;
    size_t middle = find(at + 2, separator);
    if (middle < tokens_.size() && separator == TileLexer::SEMICOLON) middle = find(middle + 1, separator);
    size_t close = middle < tokens_.size() ? find(middle + 1, TileLexer::RIGHT_PAREN) : middle;
    return close < tokens_.size() ? std::optional(close) : std::nullopt;
  }
  // Behind the words that declare: `int`, `unsigned int`, `let`, `const auto`.
  size_t name_behind(size_t at) const {
    auto declares = [&](size_t i) { return type(i) == TileLexer::ID || type(i) == TileLexer::LET || type(i) == TileLexer::VAR || type(i) == TileLexer::CONST; };
    while (declares(at) && type(at + 1) == TileLexer::ID && input_.spelling(*tokens_[at + 1]) != "of") ++at;
    return at;
  }
  // `(int j in 0..n)`, `(let v of A)`.
  std::optional<size_t> end_of_declared_head(size_t at) const {
    if (type(at) != TileLexer::FOR || type(at + 1) != TileLexer::LEFT_PAREN) return std::nullopt;
    size_t name = name_behind(at + 2), word = type(name + 1);
    bool is_of = word == TileLexer::ID && input_.spelling(*tokens_[name + 1]) == "of";
    if ((name == at + 2 || word != TileLexer::IN) && !is_of) return std::nullopt;
    size_t close = find(name + 2, TileLexer::RIGHT_PAREN);
    return close < tokens_.size() ? std::optional(close) : std::nullopt;
  }

  // What stands without braces in the body that begins at `at`, itself before its parts; nothing where the body does not end.
  std::vector<Bare> bare_bodies(size_t at) const {
    std::vector<Bare> all;
    return add_body(at, all) ? all : std::vector<Bare>{};
  }

  std::string text(size_t begin, size_t end) const {
    return std::string(input_.text.substr(tokens_[begin]->getStartIndex(), tokens_[end - 1]->getStopIndex() + 1 - tokens_[begin]->getStartIndex()));
  }

 private:
  // Both answer where it ends, at its `;` or `}`.
  std::optional<size_t> add_body(size_t at, std::vector<Bare>& all) const {
    if (type(at) == TileLexer::LEFT_BRACE) return end_of_block(at);
    size_t known = all.size();
    std::optional<size_t> end = add_statement(at, all);
    if (end) all.insert(all.begin() + ssize_t(known), {at, *end});
    return end;
  }
  std::optional<size_t> add_statement(size_t at, std::vector<Bare>& all) const {
    size_t first = type(at);
    bool is_plain = first == TileLexer::ID || first == TileLexer::LEFT_PAREN || (first >= TileLexer::SYNC && first <= TileLexer::RETURN);
    size_t end = is_plain ? find(at, TileLexer::SEMICOLON) : tokens_.size();
    if (end < tokens_.size()) return end;
    bool has_block = first == TileLexer::IF || first == TileLexer::FOR || first == TileLexer::WHILE, has_head = has_block && type(at + 1) == TileLexer::LEFT_PAREN;
    size_t open = has_block && !has_head ? find(at + 1, TileLexer::LEFT_BRACE) : tokens_.size();
    if (open < tokens_.size()) return behind_choice(end_of_block(open), first, all);
    size_t close = has_head ? find(at + 2, TileLexer::RIGHT_PAREN) : tokens_.size();
    if (first == TileLexer::FOR && has_head) close = end_of_head(at, TileLexer::SEMICOLON).value_or(tokens_.size());
    if (close >= tokens_.size()) return std::nullopt;
    std::vector<Bare> of_loop;  // which says it of itself
    return behind_choice(add_body(close + 1, first == TileLexer::FOR ? of_loop : all), first, all);
  }
  std::optional<size_t> behind_choice(std::optional<size_t> body, size_t word, std::vector<Bare>& all) const {
    bool has_other = body && word == TileLexer::IF && type(*body + 1) == TileLexer::ELSE;
    if (!has_other) return body;
    return type(*body + 2) == TileLexer::IF ? add_statement(*body + 2, all) : add_body(*body + 2, all);
  }
  std::optional<size_t> end_of_block(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < tokens_.size(); ++i) {
      depth += (type(i) == TileLexer::LEFT_BRACE) - (type(i) == TileLexer::RIGHT_BRACE);
      if (depth == 0) return i;
    }
    return std::nullopt;
  }

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
  std::string limit = reader.text(loop.limit, loop.end);
  const bool is_loose = limit.find_first_of("<>&|^=") != limit.npos;  // binds less than `+`
  if (loop.has_limit_inside) limit = (is_loose ? "(" + limit + ")" : limit) + " + 1";
  return name + " in " + (loop.step.empty() ? first + ".." + limit : "range(" + first + ", " + limit + ", " + loop.step + ")");
}

constexpr std::string_view kCounts = "a loop counts up, `for k in 0..n`, `for k in range(from, to, step)`; any other is `while test { ... }` with its variable in front of it";
constexpr std::string_view kElements = "elements are reached by their index: `for k in 0..n { ... x[k] ... }`";

// Any other head; the place of its closing parenthesis.
std::optional<size_t> open_loop(const Reader& reader, const Input& input, const std::vector<TokenPointer>& list, size_t at, Diagnostics& diagnostics) {
  std::optional<size_t> counts = reader.end_of_head(at, TileLexer::SEMICOLON), close = counts ? counts : reader.end_of_head(at, TileLexer::COLON);
  if (!close) close = reader.end_of_declared_head(at);
  if (!close) return std::nullopt;
  Span head = input.span(list[at + 1]->getStartIndex(), list[*close]->getStopIndex() + 1);
  if (counts) diagnostics.at(head).error(diag::CLoop).help(kCounts);
  else diagnostics.at(head).error(diag::ExpectedToken, "`for k in 0..n`", "`for " + reader.text(at + 1, *close + 1) + "`").help(kElements);
  return close;
}

TokenPointer retyped(TokenPointer token, size_t type) {
  dynamic_cast<antlr4::CommonToken&>(*token).setType(type);
  return token;
}

class Turner {
 public:
  Turner(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), tokens_(tokens), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    turned_.reserve(list_.size());
    for (size_t i = 0; i < list_.size(); ++i) {
      Reader reader(input_, list_);
      if (auto loop = reader.loop(i)) report(reader, *loop, i), open_body(reader, loop->close, i), i = turn(*loop, i);
      else if (auto close = open_loop(reader, input_, list_, i, diagnostics_)) open_body(reader, *close, i), i = turn_open(reader, *close, i);
      else keep(i);
      if (!tokens_.is_unreadable) continue;
      return give_up(patience_, diagnostics_.at(input_.span(*turned_.back())), input_.name);
    }
    list_ = std::move(turned_);
  }

 private:
  void report(const Reader& reader, const CLoop& loop, size_t i) {
    Span head = input_.span(list_[i + 1]->getStartIndex(), list_[loop.close]->getStopIndex() + 1);
    std::vector<Fix> fixes{{head, in_our_words(reader, loop)}};
    for (Bare body : reader.bare_bodies(loop.close + 1)) {
      uint32_t begin = uint32_t(list_[body.begin]->getStartIndex()), end = uint32_t(list_[body.end]->getStopIndex() + 1);
      fixes.push_back({input_.span(begin, begin), "{ "});
      auto same = std::ranges::find_if(fixes, [&](const Fix& fix) { return fix.span.begin == end; });
      if (same == fixes.end()) fixes.push_back({input_.span(end, end), " }"});
      else same->replacement += " }";  // bodies that end together
    }
    diagnostics_.at(head).error(diag::CLoop).fix(std::move(fixes), "write it so");
  }

  // Both answer where the head ends.
  size_t turn(const CLoop& loop, size_t i) {
    keep(i), keep(loop.name), keep(loop.name + 1, TileLexer::IN);
    for (size_t n = loop.first; n < loop.semicolon; ++n) keep(n);
    keep(loop.semicolon, TileLexer::DOT_DOT);
    for (size_t n = loop.limit; n < loop.end; ++n) keep(n);
    return end_head(loop.close, list_[i + 1]->getStartIndex());
  }
  size_t turn_open(const Reader& reader, size_t close, size_t i) {
    size_t name = reader.name_behind(i + 2), begin = list_[i + 1]->getStartIndex();
    TokenPointer in = imagined_before(*list_[close], TileLexer::IN), domain = imagined_before(*list_[close], TileLexer::ID);
    keep(i);
    if (list_[name]->getType() == TileLexer::ID) keep(name);
    else turned_.push_back(imagined_before(*list_[close], TileLexer::UNDERSCORE));
    turned_.push_back(std::move(in)), turned_.push_back(std::move(domain));
    return end_head(close, begin);
  }
  // A body without braces is no mistake of its own: it gets them.
  void open_body(const Reader& reader, size_t close, size_t i) {
    brace(i);
    for (Bare body : reader.bare_bodies(close + 1)) begins_.insert(body.begin), ends_.insert(body.end);
  }
  void brace(size_t i) {
    if (begins_.erase(i)) turned_.push_back(imagined_before(*list_[i], TileLexer::LEFT_BRACE));
  }
  size_t end_head(size_t close, size_t begin) {
    if (close + 1 < list_.size() && list_[close + 1]->getType() != TileLexer::LEFT_BRACE && !begins_.contains(close + 1))
      tokens_.damaged.push_back(input_.span(begin, std::min(input_.text.find('\n', list_[close]->getStopIndex()), input_.text.size())));
    tokens_.is_unreadable = patience_.is_over(diagnostics_);
    return close;
  }
  void keep(size_t i) {
    brace(i);
    std::vector<TokenPointer> closers;
    for (size_t count = ends_.erase(i); count > 0; --count) closers.push_back(imagined_before(*list_[i + 1], TileLexer::RIGHT_BRACE));
    turned_.push_back(std::move(list_[i]));
    for (TokenPointer& closer : closers) turned_.push_back(std::move(closer));
  }
  void keep(size_t i, size_t type) { turned_.push_back(retyped(std::move(list_[i]), type)); }

  const Input& input_;
  Tokens& tokens_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
  std::vector<TokenPointer> turned_;
  std::set<size_t> begins_;  // of bodies without braces
  std::multiset<size_t> ends_;
};

}  // namespace

void turn_c_loops(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Turner(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
