// Parameters as other languages write them, `x: f32*`, `float* x`, `x: f32[M][N]`, `y: out f32[N]`, and slips in their lists: said once for each
// list. What is clear is read as what was meant; any other parameter keeps its name and has a type that is left open, which says nothing more.
#include "TileLexer.h"
#include "base/scalar.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"
#include "syntax/tokens.h"
#include "syntax/token_edits.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

constexpr std::string_view kTensor = "a tensor has its extents in its type, as names or numbers, and is no pointer: `x: f32[N]`, `out y: f32[M, N]`";
constexpr std::string_view kTyped = "a parameter's type stands behind its name, a tensor's with its extents: `x: f32[N]`, `n: int`";

bool is_mode(size_t type) { return type == L::IN || type == L::OUT || type == L::INOUT || type == L::CONST || type == L::ALIAS; }
bool is_space(size_t type) { return type == L::SHARED || type == L::FRAGMENT || type == L::LOCAL || type == L::WORKSPACE || type == L::TENSOR_MEMORY; }

struct Mistake {
  Span span;
  std::string ours, theirs, help;
  std::vector<Fix> fixes;
  std::string why;
};

class Lists : TokenEdits {
 public:
  Lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i)
      if ((type(i) == L::KERNEL || type(i) == L::FN) && is_name(type(i + 1))) head(i);
  }

 private:

  void head(size_t i) {
    mistakes_.clear(), is_open_ = false, is_unclosed_ = false, is_kernel_ = type(i) == L::KERNEL;
    size_t at = i + 2;
    if (type(at) == L::LESS) angles(i);
    if (type(at) == L::LEFT_BRACKET)
      if (auto end = behind_brackets(at, list_.size())) at = *end;
    if (type(at) == L::LEFT_PAREN && end_of_list(at)) parameters(at);
    if (mistakes_.empty()) return;
    Mistake& first = mistakes_[0];
    std::vector<Fix> fixes = std::move(first.fixes);
    for (size_t k = 1; k < mistakes_.size() && !fixes.empty(); ++k) fixes.insert(fixes.end(), mistakes_[k].fixes.begin(), mistakes_[k].fixes.end());
    auto said = is_unclosed_ ? diagnostics_.at(first.span).error(diag::UnclosedBracket, first.theirs)
                             : diagnostics_.at(first.span).error(diag::ExpectedToken, first.ours.starts_with("a ") ? first.ours : "`" + first.ours + "`", "`" + first.theirs + "`");
    if (fixes.empty()) said.help(std::move(first.help));
    else said.fix(std::move(fixes), std::move(first.why));
  }
  void mistake(Span span, std::string ours, std::string theirs, std::string_view help, std::vector<Fix> fixes = {}, std::string_view why = "write it so") {
    mistakes_.push_back({span, std::move(ours), std::move(theirs), std::string(help), std::move(fixes), std::string(why)});
  }

  // `kernel k<T>(...)`. What a kernel is made for stands where it is exported, so that its body is not looked at.
  void angles(size_t i) {
    size_t open = i + 2, close = open + 1;
    while (is_name(type(close)) || type(close) == L::COMMA || type(close) == L::COLON || type(close) == L::ASSIGN || type(close) == L::INTEGER) ++close;
    if (type(close) != L::GREATER || type(close + 1) != L::LEFT_PAREN || close == open + 1) return;
    std::string inner = text(open + 1, close);
    bool is_typed = inner.find(':') != inner.npos;
    std::vector<Fix> fixes{{span(open, open + 1), "["}, {span(close, close + 1), "]"}};
    mistake(span(open, close + 1), "[" + inner + (is_typed ? "]" : ": type]"), text(open, close + 1),
            "what is chosen at compile time stands in brackets: `[T: float, n: int = 64]`", is_typed ? fixes : std::vector<Fix>{});
    is_open_ = true;
    erase(open, close + 1);
  }

  // The `)` of the list that opens at `open`; none where what follows is no list.
  std::optional<size_t> end_of_list(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < list_.size(); ++i) {
      size_t now = type(i);
      depth += (now == L::LEFT_PAREN) - (now == L::RIGHT_PAREN);
      if (depth == 0) return i;
      bool is_word = now >= L::IMPORT && now <= L::ASM && now != L::CONST && now != L::FN && now != L::IN;
      if (is_word || now == L::LEFT_BRACE || now == L::RIGHT_BRACE || now == antlr4::Token::EOF) break;
    }
    return std::nullopt;
  }
  bool begins_parameter(size_t i) const {
    while (is_mode(type(i)) && type(i + 1) != L::COLON) ++i;
    return is_name(type(i)) && type(i + 1) == L::COLON;
  }

  void parameters(size_t open) {
    constexpr size_t kMost = 10;  // mistakes that are looked at
    std::optional<size_t> close = end_of_list(open);
    for (size_t at = open + 1, known = mistakes_.size(); close && at < *close;) {
      if (mistakes_.size() >= kMost) return void(leave_open(at, *close));
      std::optional<size_t> end = parameter(at, *close);
      if (is_open_ && end) end = leave_open(at, *end);
      if (is_open_ || mistakes_.size() != known) close = end_of_list(open), known = mistakes_.size();
      if (!end) continue;  // what was wrong is mended: once more
      if (type(*end) == L::RIGHT_PAREN) return;
      at = *end + 1;
    }
  }

  // Where the parameter ends, at `,` or `)`; none where its tokens were changed.
  std::optional<size_t> parameter(size_t at, size_t close) {
    size_t name = at;
    while (is_mode(type(name)) && type(name + 1) != L::COLON) ++name;
    if (!is_name(type(name)) || type(name + 1) != L::COLON) return untyped(at, name, close);
    size_t first = name + 2, k = first;
    if (type(k) == L::CONST && k + 1 < close && (is_kernel_ || !is_number(k + 1))) return leave_const(at, k, close), std::nullopt;
    if (is_mode(type(k)) && k + 1 < close) return move_mode(at, k, k + 1), std::nullopt;
    k += is_space(type(k)) && is_name(type(k + 1));
    if (type(k) == L::LEFT_PAREN || type(k) == L::FN) return rest(k, close);
    if (!is_name(type(k))) return pointer(at, first, close);
    ++k;
    while (type(k) == L::DOT && is_name(type(k + 1))) k += 2;
    if (type(k) == L::LEFT_BRACKET) {
      std::optional<size_t> end = behind_brackets(k, close);
      if (!end) return close_bracket(k, close), std::nullopt;
      for (size_t i = k; i < *end; ++i)
        if (type(i) == L::COLON) return pointer(at, first, close);
      if (*end == k + 2 && is_indexed(text(name), close)) return pointer(at, first, close);
      if (type(*end) == L::LEFT_BRACKET && behind_brackets(*end, close)) return join_extents(first, *end, close), std::nullopt;
      k = *end;
    }
    k += type(k) == L::QUESTION;
    if (k == close || type(k) == L::COMMA) return k;
    if (type(k) == L::ASSIGN || type(k) == L::SHARDED || type(k) == L::REPLICATED) return rest(k, close);
    return wrong_behind(at, first, k, close);
  }

  // A type is read to `k`, and something else follows.
  std::optional<size_t> wrong_behind(size_t at, size_t first, size_t k, size_t close) {
    if (type(k) == L::LEFT_PAREN) return turn_parentheses(first, k, close), std::nullopt;
    bool is_behind = is_mode(type(k)) && (type(k + 1) == L::COMMA || k + 1 == close);
    if (is_behind && type(k) == L::CONST && (is_kernel_ || !is_number(first))) return leave_const(at, k, close), std::nullopt;
    if (is_behind) return move_mode(at, k, k), std::nullopt;
    if (begins_parameter(k)) {
      mistake(span(k, k + 1), ",", text(k), "", {{behind(k - 1), ","}});
      insert(k, imagined_before(*list_[k], L::COMMA));
      return std::nullopt;
    }
    if (type(k) == L::SEMICOLON) {
      mistake(span(k, k + 1), ",", ";", "", {{span(k, k + 1), ","}});
      retype(k, L::COMMA);
      return std::nullopt;
    }
    return pointer(at, first, close);
  }

  // `x[i]` in the body behind the list: of `x: f32[]`, which is one number, there is no such element.
  bool is_indexed(const std::string& name, size_t close) const {
    for (size_t i = close + 1; i + 2 < list_.size() && type(i) != L::KERNEL && type(i) != L::FN; ++i) {
      bool is_ours = type(i - 1) != L::DOT && is_name(type(i)) && text(i) == name;
      if (is_ours && type(i + 1) == L::LEFT_BRACKET && type(i + 2) != L::RIGHT_BRACKET) return true;
      if (is_ours && type(i + 1) == L::DOT && text(i + 2) == "tile") return true;
    }
    return false;
  }
  // Behind the brackets that open at `open`; none where a parameter begins in them.
  std::optional<size_t> behind_brackets(size_t open, size_t close) const {
    int depth = 0;
    for (size_t i = open; i < close; ++i) {
      depth += (type(i) == L::LEFT_BRACKET) - (type(i) == L::RIGHT_BRACKET);
      if (depth == 0) return i + 1;
      if (type(i) == L::COMMA && begins_parameter(i + 1)) return std::nullopt;
      if (type(i) == L::LEFT_BRACE) return std::nullopt;
    }
    return std::nullopt;
  }
  // The `,` or `)` behind `k`, outside of brackets.
  size_t rest(size_t k, size_t close) const {
    int depth = 0;
    for (; k < close; ++k) {
      size_t now = type(k);
      if (depth == 0 && now == L::COMMA) break;
      depth += (now == L::LEFT_PAREN || now == L::LEFT_BRACKET) - (now == L::RIGHT_PAREN || now == L::RIGHT_BRACKET);
    }
    return k;
  }

  void close_bracket(size_t open, size_t close) {
    size_t end = open;
    while (end < close && !(type(end) == L::COMMA && begins_parameter(end + 1))) ++end;
    end -= type(end - 1) == L::QUESTION;
    if (mistakes_.empty()) is_unclosed_ = true;
    mistake(span(open, open + 1), "", "[", "", {{behind(end - 1), "]"}});
    insert(end, imagined_before(*list_[end], L::RIGHT_BRACKET));
  }
  // `f32[M][N]`: one list.
  void join_extents(size_t first, size_t second, size_t close) {
    size_t end = *behind_brackets(second, close);
    std::string ours = text(first, second - 1) + ", " + text(second + 1, end);
    mistake(span(first, end), ours, text(first, end), "", {{span(second - 1, second + 1), ", "}});
    retype(second, L::COMMA);
    erase(second - 1, second);
  }
  // `f32(N)`.
  void turn_parentheses(size_t first, size_t open, size_t close) {
    size_t end = open;
    while (end < close && type(end) != L::RIGHT_PAREN) ++end;
    mistake(span(first, end + 1), text(first, open) + "[" + (end > open + 1 ? text(open + 1, end) : "") + "]", text(first, end + 1), "",
            {{span(open, open + 1), "["}, {span(end, end + 1), "]"}});
    retype(open, L::LEFT_BRACKET), retype(end, L::RIGHT_BRACKET);
  }
  bool is_number(size_t i) const { return scalar_named(text(i)) && type(i + 1) != L::LEFT_BRACKET; }
  // `x: const f32[N]`.
  void leave_const(size_t at, size_t word, size_t close) {
    size_t end = rest(word + 1, close);
    bool is_last = end == word + 1;
    Span there = is_last ? input_.span(list_[word - 1]->getStopIndex() + 1, list_[word]->getStopIndex() + 1) : input_.span(list_[word]->getStartIndex(), list_[word + 1]->getStartIndex());
    mistake(span(at, end), text(at, word) + (is_last ? "" : " " + text(word + 1, end)), text(at, end), "", {{there, ""}},
            "what is no `out` is not changed: leave `const` away");
    erase(word, word + 1);
  }
  // `y: out f32[N]`, `y: f32[N] out`: it stands in front.
  void move_mode(size_t at, size_t mode, size_t next) {
    Span there = next == mode ? input_.span(list_[mode - 1]->getStopIndex() + 1, list_[mode]->getStopIndex() + 1)
                              : input_.span(list_[mode]->getStartIndex(), list_[next]->getStartIndex());
    Span front = input_.span(list_[at]->getStartIndex(), list_[at]->getStartIndex());
    std::string word = text(mode);
    mistake(span(mode, mode + 1), word + " " + text(at), text(mode), "", {{front, word + " "}, {there, ""}});
    TokenPointer token = std::move(list_[mode]);
    erase(mode, mode + 1);
    insert(at, std::move(token));
  }
  std::optional<size_t> pointer(size_t at, size_t first, size_t close) {
    size_t end = rest(first, close);
    std::string element = scalar_named(text(first)) ? text(first) : "f32";
    if (end == first) mistake(span(end, end + 1), "a type", text(end), kTyped);
    else mistake(span(first, end), element + "[N]", text(first, end), kTensor);
    return leave_open(at, end);
  }

  // `float* x`, `x f32[N]`, `x`.
  std::optional<size_t> untyped(size_t at, size_t name, size_t close) {
    size_t end = rest(at, close), last = at;
    if (end == at) {
      mistake(span(end, end + 1), "a parameter", text(end), kTyped, {{span(end, end + 1), ""}});
      erase(end, end + 1);
      return std::nullopt;
    }
    auto is_word = [&](size_t i) { return is_name(type(i)) || type(i) == L::STAR || type(i) == L::AND || is_mode(type(i)); };
    while (last + 1 < end && is_word(last + 1)) ++last;
    bool is_type = is_name(type(name)) && is_name(type(name + 1)) && scalar_named(text(name + 1)) && !scalar_named(text(name)) && !foreign_type(text(name));
    if (is_type) {
      mistake(span(name + 1, name + 2), ":", text(name + 1), "", {{behind(name), ":"}});
      insert(name + 1, imagined_before(*list_[name + 1], L::COLON));
      return std::nullopt;
    }
    bool is_nameless = name > at && is_name(type(name)) && scalar_named(text(name)) && (type(name + 1) == L::LEFT_BRACKET || name + 1 == end);
    if (is_nameless) mistake(span(at, end), text(at, name) + " y: " + text(name, end), text(at, end), kTyped);
    else if (last == name && is_name(type(name))) mistake(span(name + 1, name + 2), ":", text(name + 1), kTyped);
    else declared_before(at, last, end);
    return leave_open(at, end, last);
  }
  // The type in front of the name.
  void declared_before(size_t at, size_t name, size_t end) {
    std::string element = "f32", theirs = text(at, end);
    bool has_pointer = theirs.find_first_of("*&") != theirs.npos, has_type = false;
    for (size_t i = at; i < name; ++i)
      for (auto scalar : {scalar_named(text(i)), foreign_type(text(i))})
        if (scalar && !has_type) element = tilec::name(*scalar), has_type = true;
    std::string called = is_name(type(name)) ? text(name) : "x";
    if (has_pointer || !has_type) return mistake(span(at, end), called + ": " + element + (has_pointer ? "[N]" : ""), theirs, has_pointer ? kTensor : kTyped);
    std::string ours = called + ": " + element + (name + 1 < end ? text(name + 1, end) : "");
    mistake(span(at, end), ours, theirs, kTyped, {{span(at, end), ours}});
  }

  // `name: (open)`; the place of its end.
  size_t leave_open(size_t at, size_t end, std::optional<size_t> name = std::nullopt) {
    if (!name) {
      name = at;
      while (*name < end && (is_mode(type(*name)) || !is_name(type(*name)))) ++*name;
    }
    bool has_name = *name < end && is_name(type(*name));
    TokenPointer called = has_name ? std::move(list_[*name]) : imagined_before(*list_[end], L::ID);
    erase(at, end);
    insert(at, imagined_before(*list_[at], L::ID));
    insert(at, imagined_before(*list_[at], L::COLON));
    insert(at, std::move(called));
    return at + 3;
  }
  std::vector<Mistake> mistakes_;
  bool is_open_ = false, is_unclosed_ = false, is_kernel_ = false;
};

}  // namespace

void turn_parameter_lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Lists(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
