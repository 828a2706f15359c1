// Values, conditions and ranges as other languages write them, `float("inf")`, `np.inf`, `a > 0 & a < 1`, `if i in [1, 2]`, `0...4`, `0..10..2`,
// `x >>> 2`: said once, with what to write, and read as that.
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

bool is_comparison(size_t type) { return type >= L::EQUAL && type <= L::GREATER_EQUAL; }
bool opens(size_t type) { return type == L::LEFT_PAREN || type == L::LEFT_BRACKET; }
bool closes(size_t type) { return type == L::RIGHT_PAREN || type == L::RIGHT_BRACKET; }
// Of an operand of `&` or `|` that stands in no brackets.
bool ends_part(size_t type) {
  constexpr std::array<size_t, 16> kEnds = {L::SEMICOLON, L::COMMA, L::LEFT_BRACE, L::RIGHT_BRACE, L::AND_AND, L::OR_OR, L::AND, L::OR,
                                            L::IF, L::WHILE, L::RETURN, L::REQUIRES, L::IN, L::COLON, L::DOT_DOT, L::ELSE};
  return std::ranges::find(kEnds, type) != kEnds.end() || (type >= L::ASSIGN && type <= L::SHIFT_RIGHT_ASSIGN) || type == antlr4::Token::EOF;
}

class Values : TokenEdits {
 public:
  Values(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : TokenEdits(input, tokens, patience, diagnostics) {}

  void run() {
    for (size_t i = 1; i < list_.size() && !patience_.is_over(diagnostics_); ++i) switch (type(i)) {
      case L::ID: infinite_text(i); break;
      case L::INFINITE: case L::NOT_A_NUMBER: infinite_member(i); break;
      case L::AND: case L::OR: conditions(i); break;
      case L::IN: membership(i); break;
      case L::DOT_DOT: range(i); break;
      case L::SHIFT_RIGHT: shift(i); break;
    }
  }

 private:
  void report(Span span, const std::string& theirs, const std::string& ours, std::vector<Fix> fixes, std::string_view why = "write it so") {
    diagnostics_.at(span).error(diag::ExpectedToken, "`" + ours + "`", "`" + theirs + "`").fix(std::move(fixes), std::string(why));
  }
  bool are_joined(size_t i) const { return i + 1 < list_.size() && list_[i]->getStopIndex() + 1 == list_[i + 1]->getStartIndex(); }

  // `float("-inf")`.
  void infinite_text(size_t i) {
    bool is_cast = type(i + 1) == L::LEFT_PAREN && type(i + 2) == L::STRING && type(i + 3) == L::RIGHT_PAREN && (foreign_type(text(i)) || scalar_named(text(i)));
    std::string_view ours = is_cast ? infinite_word(text(i + 2)) : "";
    if (ours.empty()) return;
    bool is_negative = ours.starts_with('-');
    size_t first = i;  // `np.float32("inf")`
    while (first >= 2 && type(first - 1) == L::DOT && is_name(type(first - 2))) first -= 2;
    report(span(first, i + 4), text(first, i + 4), std::string(ours), {{span(first, i + 4), std::string(ours)}});
    erase(first, i), i = first;
    retype(i, is_negative ? L::MINUS : ours == "nan" ? L::NOT_A_NUMBER : L::INFINITE);
    if (is_negative) retype(i + 1, L::INFINITE);
    erase(i + 1 + is_negative, i + 4);
  }
  // `np.inf`, where no import or parameter of such a name is.
  void infinite_member(size_t i) {
    if (i < 2 || type(i - 1) != L::DOT || !is_name(type(i - 2))) return;
    size_t first = i - 2;
    while (first >= 2 && type(first - 1) == L::DOT && is_name(type(first - 2))) first -= 2;
    report(span(first, i + 1), text(first, i + 1), text(i), {{span(first, i), ""}}, "it is a word of the language");
    erase(first, i);
  }

  // Is a comparison in the part of the condition that ends at `i`, or begins behind it?
  bool has_comparison(size_t i, ssize_t step) const {
    int depth = 0;
    for (size_t k = i + size_t(step); k > 0 && k < list_.size(); k += size_t(step)) {
      depth += opens(type(k)) - closes(type(k));
      if (depth * step < 0 || (depth == 0 && ends_part(type(k)))) return false;
      if (depth == 0 && is_comparison(type(k))) return true;
    }
    return false;
  }
  // `a > 0 & a < 1 & b`, all of them at once.
  void conditions(size_t i) {
    std::vector<Fix> fixes;
    int depth = 0;
    for (size_t k = i; k < list_.size() && depth >= 0; ++k) {
      depth += opens(type(k)) - closes(type(k));
      if (depth == 0 && k > i && ends_part(type(k)) && type(k) != L::AND && type(k) != L::OR) break;
      bool is_joint = depth == 0 && (type(k) == L::AND || type(k) == L::OR) && has_comparison(k, -1) && has_comparison(k, 1);
      if (!is_joint) {
        if (k == i) return;
        continue;
      }
      fixes.push_back({span(k, k + 1), text(k) + text(k)});
      retype(k, type(k) == L::AND ? L::AND_AND : L::OR_OR);
    }
    std::string theirs = text(i), ours = theirs + theirs;
    report(span(i, i + 1), theirs, ours, std::move(fixes), "`" + theirs + "` binds tighter than a comparison: conditions are joined by `" + ours + "`");
  }

  // Does a loop or a launch begin the statement, whose axes have an `in`?
  bool is_of_head(size_t in) const {
    for (size_t k = in; k-- > 0;) {
      size_t t = type(k);
      if (t == L::FOR || t == L::LAUNCH || t == L::TUNE || t == L::FN || t == L::KERNEL) return true;
      if (t == L::IF || t == L::WHILE || t == L::SEMICOLON || t == L::LEFT_BRACE || t == L::RIGHT_BRACE) return false;
    }
    return true;
  }
  // `i in [1, 2]`, `i not in (1, 2)`, in a condition.
  void membership(size_t in) {
    if (!opens(type(in + 1)) || is_of_head(in)) return;
    bool has_not = text(in - 1) == "not";
    size_t last = in - has_not, first = last, begin = in + 2, end = begin;
    while (first > 0 && (is_name(type(first - 1)) || type(first - 1) == L::DOT || type(first - 1) == L::INTEGER || type(first - 1) == L::PERCENT)) --first;
    if (first == last) return;
    std::vector<std::string> items;
    for (; end < list_.size() && !closes(type(end)); ++end) {
      if (opens(type(end)) || ends_part(type(end)) != (type(end) == L::COMMA)) return;
      if (type(end) != L::COMMA || end == begin) continue;
      items.push_back(text(begin, end)), begin = end + 1;
    }
    if (end > begin) items.push_back(text(begin, end));
    if (items.empty() || end >= list_.size()) return;
    std::string value = text(first, last), ours;
    for (const std::string& item : items) ours += (ours.empty() ? "" : has_not ? " && " : " || ") + value + (has_not ? " != " : " == ") + item;
    bool is_whole = (type(first - 1) == L::IF || type(first - 1) == L::WHILE) && type(end + 1) == L::LEFT_BRACE;
    if (!is_whole && items.size() > 1) ours = "(" + ours + ")";
    report(span(first, end + 1), text(first, end + 1), ours, {{span(first, end + 1), ours}}, "what is one of several is compared with each");
    erase(in, end + 1);
    insert(in, imagined_before(*list_[in], L::ID)), insert(in, imagined_before(*list_[in], L::EQUAL));
    if (has_not) erase(in - 1, in);
  }

  // `0...4`, `for j in 0..10..2`, `for j in 0..10 step 2`.
  void range(size_t i) {
    bool is_number = is_name(type(i - 1)) || type(i - 1) == L::INTEGER || closes(type(i - 1));
    if (is_number && type(i + 1) == L::DOT && are_joined(i)) {
      report(span(i, i + 2), "...", "..", {{span(i + 1, i + 2), ""}}, "a range has two dots, and ends in front of its limit");
      return erase(i + 1, i + 2);
    }
    size_t first = i, second = i + 1, block;
    while (first > 0 && type(first - 1) != L::IN && !ends_part(type(first - 1))) --first;
    auto is_step = [&](size_t k) { return type(k) == L::DOT_DOT || (type(k) == L::ID && (text(k) == "step" || text(k) == "by")); };
    while (!ends_part(type(second)) && !(second > i + 1 && is_step(second))) ++second;
    if (type(first - 1) != L::IN || first == i || !is_step(second) || second == i + 1) return;
    for (block = second + 1; !ends_part(type(block));) ++block;
    if (type(block) != L::LEFT_BRACE || block == second + 1) return;
    std::string ours = "range(" + text(first, i) + ", " + text(i + 1, second) + ", " + text(second + 1, block) + ")";
    report(span(first, block), text(first, block), ours, {{span(first, block), ours}}, "a range with a step is written so");
    erase(second, block);
  }

  // `x >>> 2`; of three signs that belong to a launch `launch<<<n, 32>>>` is none.
  void shift(size_t i) {
    if (type(i + 1) != L::GREATER || !are_joined(i) || type(i + 2) == L::LEFT_PAREN || type(i + 2) == L::LEFT_BRACE) return;
    report(span(i, i + 2), ">>>", ">>", {{span(i, i + 2), ">>"}}, "`>>` brings zeros into a number without a sign, and the sign into any other: the bits of an `i32` are `x.bits[u32]()`");
    erase(i + 1, i + 2);
  }
};

}  // namespace

std::string_view infinite_word(std::string_view quoted) {
  constexpr std::array<std::string_view, 4> kWords = {"inf", "-inf", "infinity", "-infinity"};
  constexpr std::string_view kSigns = "\"'";
  if (quoted.size() < 2 || kSigns.find(quoted[0]) == kSigns.npos) return {};
  std::string_view word = quoted.substr(1, quoted.size() - 2);
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word == "nan" || word == "NaN") return "nan";
  auto same = [&](std::string_view known) {
    return std::ranges::equal(known, word, [](char ours, char theirs) { return ours == (theirs >= 'A' && theirs <= 'Z' ? theirs + 32 : theirs); });
  };
  auto found = std::ranges::find_if(kWords, same);
  return found == kWords.end() ? std::string_view() : found->starts_with('-') ? "-inf" : "inf";
}

void turn_foreign_values(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) { Values(input, tokens, patience, diagnostics).run(); }

}  // namespace tilec::syntax
