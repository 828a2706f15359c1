#include "sema/cast_advice.h"

#include "base/text.h"

namespace tilec::sema {

namespace {

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// Behind the bracket that closes the one at `open`.
size_t behind_bracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += opens(text[i]) - closes(text[i]);
    if (depth == 0) return i + 1;
  }
  return text.size();
}

std::string_view without_brackets(std::string_view text) {
  for (text = trim(text); text.starts_with('(') && behind_bracket(text, 0) == text.size();) text = trim(text.substr(1, text.size() - 2));
  return text;
}

bool is_integer_text(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789_") == text.npos; }

std::string as_float(std::string_view factor, std::string_view type) {
  if (is_integer_text(factor)) return std::string(factor) + ".0";
  return "(" + std::string(factor) + " as " + std::string(type) + ")";
}

}  // namespace

bool has_quotient(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    bool is_grouping = text[i] == '(' && (i == 0 || !(is_of_word(text[i - 1]) || closes(text[i - 1])));
    if (opens(text[i]) && !is_grouping) i = behind_bracket(text, i) - 1;  // arguments, indices
    else if (text[i] == '/') return true;
  }
  return false;
}

std::optional<std::string> float_quotient(std::string_view text, std::string_view type) {
  text = without_brackets(text);
  if (text.find("//") != text.npos || !has_quotient(text)) return std::nullopt;
  std::string ours;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && opens(text[i])) i = behind_bracket(text, i);
    bool is_end = i >= text.size();
    if (!is_end && text[i] != '*' && text[i] != '/') {
      if (!is_of_word(text[i]) && text[i] != '.' && text[i] != ' ' && !opens(text[i])) return std::nullopt;
      i -= opens(text[i]);
      continue;
    }
    std::string_view factor = trim(text.substr(begin, std::min(i, text.size()) - begin)), whole = without_brackets(factor);
    bool is_choice = whole.find(' ') != whole.npos && (whole.starts_with("if ") || whole.find(" as ") != whole.npos);
    if (factor.empty() || is_choice || factor.find(' ') < factor.find_first_of("([")) return std::nullopt;
    bool is_compound = factor.size() != whole.size();
    if (!is_compound && has_quotient(factor)) return std::nullopt;  // in what something is made of, `(n / m).abs()`
    if (is_compound && has_quotient(whole)) {
      auto inner = float_quotient(whole, type);
      if (!inner) return std::nullopt;
      ours += "(" + *inner + ")";
    } else {
      ours += as_float(factor, type);
    }
    if (is_end) return ours;
    ours += " " + std::string(1, text[i]) + " ";
    begin = i + 1;
  }
  return std::nullopt;
}

void advise_cast(Instance& in, Report& report, Span span, Scalar from, Scalar to) {
  std::string type(name(to)), cast = " as " + type;
  std::string_view text = in.text(span);
  bool is_rounded = is_integer(from) && is_float(to) && has_quotient(text);
  auto ours = is_rounded ? float_quotient(text, type) : std::nullopt;
  if (ours && text.starts_with('(') && without_brackets(text) != text) ours = "(" + *ours + ")";
  if (ours) return void(report.fix(span, *ours, "a quotient of integers is rounded down: convert what is divided"));
  if (is_rounded) return void(report.help("a quotient of integers is rounded down: convert with `as` what is divided, `1.0 / (n" + cast + ")`"));
  Span begin{span.file, span.begin, span.begin}, end{span.file, span.end, span.end};
  bool is_simple = text.find_first_of(" +-*/%@") == std::string_view::npos;
  if (is_simple) report.fix(end, cast, "convert it with `as`");
  else report.fix({{begin, "("}, {end, ")" + cast}}, "convert it with `as`");
}

}  // namespace tilec::sema
