// Several names in one declaration, `int x = a, y = b;`, `let x = a, y = b;`, `x, y = a, b;`, or several words in front of one, `unsigned int x = a;`:
// said once and read as one declaration each.
#include "TileLexer.h"
#include "base/scalar.h"
#include "diag/diag.h"
#include "syntax/foreign_words.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

// Places of tokens [begin, end); no value where they meet.
struct Part {
  size_t begin, end;
  bool is_empty() const { return begin == end; }
};
struct Declared {
  size_t name;
  Part type, value;  // the type behind a `:`
};

class Lists {
 public:
  Lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), tokens_(tokens), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    int depth = 0, brackets = 0;
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i) {
      depth += (type(i) == L::LEFT_BRACE) - (type(i) == L::RIGHT_BRACE);
      brackets += (type(i) == L::LEFT_PAREN || type(i) == L::LEFT_BRACKET) - (type(i) == L::RIGHT_PAREN || type(i) == L::RIGHT_BRACKET);
      if (type(i) == L::LEFT_BRACE || type(i) == L::RIGHT_BRACE) brackets = 0;
      size_t last = i > 0 ? type(i - 1) : size_t(L::SEMICOLON);
      bool begins = brackets == 0 && (last == L::SEMICOLON || last == L::LEFT_BRACE || last == L::RIGHT_BRACE);
      if (depth > 0 && begins) turn(i);
    }
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  std::string_view text(size_t i) const { return input_.spelling(*list_[i]); }
  std::string text(Part part) const {
    size_t begin = list_[part.begin]->getStartIndex();
    return std::string(input_.text.substr(begin, list_[part.end - 1]->getStopIndex() + 1 - begin));
  }
  std::optional<Scalar> type_at(size_t i) const {
    auto ours = scalar_named(text(i));
    return ours ? ours : foreign_type(text(i));
  }

  static bool is_qualifier(std::string_view word) { return word == "static" || word == "constexpr" || word == "volatile" || word == "register" || word == "signed"; }
  // `unsigned long`, `long long`, `static float`; empty where none is a type.
  std::string type_of_words(size_t begin, size_t end) const {
    std::optional<Scalar> found;
    bool is_unsigned = false;
    for (size_t i = begin; i < end; ++i) {
      is_unsigned |= text(i) == "unsigned";
      bool says_more = !is_qualifier(text(i)) && text(i) != "unsigned" && (text(i) != "int" || !found);
      if (says_more) found = type_at(i);
    }
    if (!found && !is_unsigned) return "";
    std::string name(tilec::name(found.value_or(Scalar::U32)));
    if (!is_unsigned) return name;
    return name == "int" ? "u32" : name.starts_with('i') ? "u" + name.substr(1) : name;
  }

  // What commas outside of brackets part; none where the statement is no plain line.
  std::vector<Part> parts(size_t from) const {
    std::vector<Part> out;
    int depth = 0;
    for (size_t i = from; i + 1 < list_.size(); ++i) {
      size_t now = type(i);
      if (now == L::LEFT_BRACE || now == L::RIGHT_BRACE) return {};
      depth += (now == L::LEFT_PAREN || now == L::LEFT_BRACKET) - (now == L::RIGHT_PAREN || now == L::RIGHT_BRACKET);
      if (now == L::SEMICOLON) depth = 0;
      if (depth > 0 || (now != L::COMMA && now != L::SEMICOLON)) continue;
      out.push_back({from, i});
      if (now == L::SEMICOLON) return out;
      from = i + 1;
    }
    return {};
  }
  // `name`, `name = value`, `name: type = value`.
  std::optional<Declared> declared(Part part) const {
    if (part.is_empty() || !is_name(type(part.begin))) return std::nullopt;
    size_t at = part.begin + 1, behind_type = at;
    if (at < part.end && type(at) == L::COLON)
      while (behind_type < part.end && type(behind_type) != L::ASSIGN) ++behind_type;
    if (behind_type < part.end && type(behind_type) != L::ASSIGN) return std::nullopt;
    Part colon_type{at == behind_type ? at : at + 1, behind_type};
    return Declared{part.begin, colon_type, {std::min(behind_type + 1, part.end), part.end}};
  }
  std::vector<Declared> each_declared(const std::vector<Part>& all) const {
    std::vector<Declared> out;
    for (const Part& part : all) {
      auto one = declared(part);
      if (!one) return {};
      out.push_back(*one);
    }
    return out;
  }
  // `x, y = a, b` as Python has it: as many values as names.
  std::vector<Declared> paired(const std::vector<Part>& all) const {
    size_t count = (all.size() + 1) / 2;
    if (all.size() % 2 == 0 || count < 2) return {};
    std::vector<Declared> out;
    for (size_t k = 0; k < count; ++k) {
      auto one = declared(all[k]);
      if (!one || one->value.is_empty() != (k + 1 < count)) return {};
      out.push_back(*one);
    }
    out[0].value = out.back().value;
    for (size_t k = 1; k < count; ++k) out[k].value = all[count + k - 1];
    return out;
  }

  bool is_variable(size_t name, size_t before) const {
    for (size_t i = 1; i < before; ++i)
      if (type(i - 1) == L::VAR && text(i) == text(name)) return true;
    return false;
  }

  void turn(size_t i) {
    bool has_word = type(i) == L::LET || type(i) == L::VAR || type(i) == L::CONST || (type(i) == L::ID && text(i) == "auto" && is_name(type(i + 1)));
    size_t at = i + has_word;
    while (type(at) == L::ID && is_name(type(at + 1)) && (type_at(at) || is_qualifier(text(at)))) ++at;
    size_t words = at - i - has_word;
    std::string type_name = words > 0 ? type_of_words(i + has_word, at) : "";
    bool has_type = !type_name.empty();
    if (!is_name(type(at)) || (type(at + 1) != L::COMMA && type(at + 1) != L::ASSIGN && type(at + 1) != L::COLON)) return;
    std::vector<Part> all = parts(at);
    if (all.size() < (words > 1 ? 1 : 2) || (!has_word && !has_type && type(at + 1) != L::COMMA)) return;
    bool has_declarator = has_word || has_type;
    std::vector<Declared> names = has_type ? std::vector<Declared>{} : paired(all);
    if (names.empty() && has_declarator) names = each_declared(all);
    if (names.empty()) return;
    if (!has_declarator && is_variable(names[0].name, i)) return tell_tuple(i, names);
    bool is_var = type(i) == L::VAR || !has_word;
    bool is_last_typed = type(i) == L::VAR && type_name.empty() && !names.back().type.is_empty();
    for (size_t k = 0; k + 1 < names.size(); ++k) is_last_typed &= names[k].type.is_empty() && names[k].value.is_empty();
    if (is_last_typed) type_name = text(names.back().type), names.back().type.end = names.back().type.begin;  // `var a, b: f32`
    replace(i, all.back().end, names, is_var, type_name);
  }

  // `x, y = y, x;` of variables: all values are taken before any is set. It is left out.
  void tell_tuple(size_t i, const std::vector<Declared>& names) {
    std::string values, sets, news;
    for (const Declared& one : names) {
      std::string name(text(one.name)), comma = news.empty() ? "" : ", ";
      news += comma + "next_" + name, values += comma + text(one.value), sets += "; " + name + " = next_" + name;
    }
    size_t end = names.back().value.end;
    report({i, end}, "let (" + news + ") = (" + values + ")" + sets);
    put(i, end + 1, {});
  }

  // One declaration each; `type` stands in front of all.
  void replace(size_t i, size_t end, const std::vector<Declared>& names, bool is_var, const std::string& type) {
    std::string ours;
    for (const Declared& one : names) {
      ours += std::string(ours.empty() ? "" : "; ") + (is_var || one.value.is_empty() ? "var " : "let ") + std::string(text(one.name));
      if (!type.empty()) ours += ": " + type;
      if (!one.type.is_empty()) ours += ": " + text(one.type);
      if (!one.value.is_empty()) ours += " = " + text(one.value);
    }
    report({i, end}, ours);
    std::vector<TokenPointer> turned;
    const antlr4::Token& last = *list_[end];
    auto imagine = [&](size_t what) { turned.push_back(imagined_before(last, what)); };
    auto keep = [&](Part part) { for (size_t n = part.begin; n < part.end; ++n) turned.push_back(std::move(list_[n])); };
    for (const Declared& one : names) {
      if (!turned.empty()) imagine(L::SEMICOLON);
      imagine(is_var || one.value.is_empty() ? L::VAR : L::LET);
      keep({one.name, one.name + 1});
      if (!type.empty() || !one.type.is_empty()) imagine(L::COLON);
      if (!type.empty()) imagine(L::ID);  // is left open
      keep(one.type);
      if (!one.value.is_empty()) imagine(L::ASSIGN);
      keep(one.value);
    }
    put(i, end, std::move(turned));
  }

  void report(Part part, const std::string& ours) {
    Span span = input_.span(list_[part.begin]->getStartIndex(), list_[part.end - 1]->getStopIndex() + 1);
    diagnostics_.at(span).error(diag::ExpectedToken, "`" + ours + "`", "`" + text(part) + "`").fix(span, ours, "a statement sets one name: write it so");
    if (!patience_.is_over(diagnostics_)) return;
    tokens_.is_unreadable = true;
    give_up(patience_, diagnostics_.at(span), input_.name);
  }
  void put(size_t begin, size_t end, std::vector<TokenPointer> turned) {
    list_.erase(list_.begin() + ssize_t(begin), list_.begin() + ssize_t(end));
    list_.insert(list_.begin() + ssize_t(begin), std::make_move_iterator(turned.begin()), std::make_move_iterator(turned.end()));
  }

  const Input& input_;
  Tokens& tokens_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
};

}  // namespace

void turn_declaration_lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Lists(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
