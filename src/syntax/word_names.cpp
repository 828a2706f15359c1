// Words of the language that are used as names: said once for each word, with another name, and read as names wherever they stand as such.
#include <map>
#include <set>

#include "TileLexer.h"
#include "base/scalar.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

template <class... T> bool is_one_of(size_t type, T... types) { return ((type == size_t(types)) || ...); }
bool is_word(size_t type) { return type >= L::IMPORT && type <= L::INOUT; }
bool is_value(size_t type) { return type >= L::INFINITE && type <= L::FALSE; }  // a word that means a value wherever it is not declared
bool is_operator(size_t type) { return type >= L::OR_OR && type <= L::TILDE && type != L::AT; }
bool is_assignment(size_t type) { return type >= L::ASSIGN && type <= L::SHIFT_RIGHT_ASSIGN; }

class Names {
 public:
  Names(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    for (size_t i = 0; i < list_.size() && !patience_.is_over(diagnostics_); ++i)
      if (type(i) == L::UNDERSCORE) nameless(i);
    for (size_t i = 0; i < list_.size(); ++i) {
      if (type(i) == L::ENUM) members_of(i);
      else if ((is_word(type(i)) && (is_declared(i) || is_operand(i))) || (is_value(type(i)) && is_declared(i))) places_[text(i)].push_back(i), declare(i);
    }
    // What begins a statement is a name only where the word is one.
    for (size_t i = 0; i < list_.size(); ++i)
      if (is_name_as_declared(i)) places_[text(i)].push_back(i);
    for (auto& [word, places] : places_)
      if (!patience_.is_over(diagnostics_)) report(word, places);
    std::ranges::sort(nameless_outs_, std::greater());
    for (size_t i : nameless_outs_) list_.insert(list_.begin() + ssize_t(i), imagined_before(*list_[i], text(i) == "out" ? L::OUT : L::INOUT));
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  size_t before(size_t i) const { return i > 0 ? type(i - 1) : size_t(L::SEMICOLON); }
  std::string_view text(size_t i) const { return input_.spelling(*list_[i]); }

  bool is_declared(size_t i) const {
    size_t last = before(i), next = type(i + 1);
    bool is_variable = is_one_of(last, L::LET, L::VAR, L::CONST) && is_one_of(next, L::ASSIGN, L::COLON);
    bool is_index = is_one_of(last, L::FOR, L::LEFT_PAREN, L::COMMA) && next == L::IN;
    bool is_function = is_one_of(last, L::FN, L::KERNEL) && is_one_of(next, L::LEFT_PAREN, L::LEFT_BRACKET);
    bool is_parameter = next == L::COLON && is_one_of(last, L::LEFT_PAREN, L::LEFT_BRACKET, L::COMMA, L::OUT, L::INOUT, L::IN, L::CONST, L::ALIAS);
    return is_variable || is_index || is_function || is_parameter || (last == L::AS && next == L::SEMICOLON) || (last == L::ENUM && next == L::LEFT_BRACE);
  }
  bool begins_operand(size_t i) const {
    size_t last = before(i);
    return is_operator(last) || is_assignment(last) ||
           is_one_of(last, L::LEFT_PAREN, L::LEFT_BRACKET, L::COMMA, L::IN, L::DOT_DOT, L::PLUS_COLON, L::RETURN, L::REQUIRES, L::WHERE);
  }
  bool is_operand(size_t i) const {
    size_t next = type(i + 1);
    bool ends = is_operator(next) || is_one_of(next, L::RIGHT_PAREN, L::RIGHT_BRACKET, L::COMMA, L::SEMICOLON, L::DOT, L::DOT_DOT, L::PLUS_COLON, L::AS);
    return begins_operand(i) && ends && next != L::MINUS && next != L::NOT && next != L::TILDE;
  }
  bool is_name_as_declared(size_t i) const {
    bool is_ours = (is_word(type(i)) || is_value(type(i))) && places_.contains(text(i));
    return is_ours && (is_part_of_name(i) || (is_value(type(i)) && !is_declared(i)));
  }
  // `if (...)` is a choice where a block follows.
  bool is_choice(size_t i) const {
    int depth = 0;
    for (size_t k = i + 1; type(i) == L::IF && k + 1 < list_.size(); ++k) {
      depth += (type(k) == L::LEFT_PAREN) - (type(k) == L::RIGHT_PAREN);
      if (type(k) == L::LEFT_BRACE) return true;
      if (type(k) == L::SEMICOLON || depth < 0) return false;
    }
    return false;
  }
  bool is_part_of_name(size_t i) const {
    size_t next = type(i + 1);
    if (is_declared(i) || is_operand(i)) return false;  // is known
    bool is_place = is_one_of(before(i), L::SEMICOLON, L::LEFT_BRACE, L::RIGHT_BRACE) && (is_assignment(next) || is_one_of(next, L::LEFT_BRACKET, L::DOT));
    bool is_call = next == L::LEFT_PAREN && declared_.contains(text(i)) && !is_choice(i);
    bool is_tested = before(i) == L::IF && (is_operator(next) || next == L::LEFT_BRACKET || next == L::DOT);  // `if op == 1 {`
    return is_place || is_tested || (begins_operand(i) && (is_call || is_one_of(next, L::LEFT_BRACKET, L::LEFT_BRACE, L::MINUS, L::ASSIGN)));
  }
  void members_of(size_t i) {
    for (size_t k = i + 3; k < list_.size() && type(k - 1) != L::RIGHT_BRACE && type(i + 2) == L::LEFT_BRACE; ++k)
      if (is_word(type(k)) && is_one_of(before(k), L::LEFT_BRACE, L::COMMA) && is_one_of(type(k + 1), L::COMMA, L::RIGHT_BRACE))
        places_[text(k)].push_back(k), declared_.insert(text(k));
  }

  // A dim is declared where it is an extent.
  void declare(size_t i) {
    bool is_extent = i > 1 && before(i) == L::LEFT_BRACKET && scalar_named(text(i - 2));
    if (is_declared(i) || is_extent) declared_.insert(text(i));
  }

  // A word that nothing else in the file is called.
  std::string other_name(std::string_view word) const {
    std::string name(word);
    do name += '_';
    while (std::ranges::any_of(list_, [&](const TokenPointer& token) { return input_.spelling(*token) == name; }));
    return name;
  }

  // `kernel _(...)`, `_: f32`, `var _`, `f32[_]`: what is declared has a name.
  void nameless(size_t i) {
    size_t last = before(i), next = type(i + 1);
    bool is_declaration = is_one_of(last, L::KERNEL, L::FN, L::CONST, L::VAR, L::ENUM) || (is_one_of(last, L::LEFT_PAREN, L::COMMA, L::OUT, L::INOUT, L::ALIAS) && next == L::COLON);
    bool is_block = i > 1 && is_one_of(type(i - 2), L::LAUNCH, L::SIMT) && last == L::LEFT_PAREN;
    bool is_extent = i > 2 && is_one_of(last, L::LEFT_BRACKET, L::COMMA) && is_extent_of_type(i);
    if (!is_declaration && !is_block && !is_extent) return;
    diagnostics_.at(input_.span(*list_[i])).error(diag::ExpectedToken, "a name", "`_`").help("`_` is no name: only what a pattern takes apart may go without one, `let (a, _) = f(x);`");
    list_[i] = is_extent ? imagined_before(*list_[i], L::ID) : std::move(list_[i]);
    dynamic_cast<antlr4::CommonToken&>(*list_[i]).setType(L::ID);
  }
  // `: f32[N, _]`.
  bool is_extent_of_type(size_t i) const {
    while (i > 2 && type(i) != L::LEFT_BRACKET) {
      if (is_one_of(type(i), L::SEMICOLON, L::LEFT_BRACE, L::RIGHT_BRACE, L::RIGHT_BRACKET)) return false;
      --i;
    }
    return i > 2 && type(i - 1) == L::ID && scalar_named(text(i - 1)) && (type(i - 2) == L::COLON || type(i - 3) == L::COLON);
  }

  // `out: f32[N]`: the parameter has no name.
  bool is_nameless_out(size_t i) const {
    return (text(i) == "out" || text(i) == "inout") && type(i + 1) == L::COLON && is_one_of(before(i), L::LEFT_PAREN, L::COMMA);
  }
  // `: f32[M, N]` behind the name at `i`.
  std::string_view typed_behind(size_t i) const {
    size_t end = i + 1, depth = 0;
    for (; end < list_.size() && !is_one_of(type(end), L::SEMICOLON, L::LEFT_BRACE); ++end) {
      bool closes = is_one_of(type(end), L::RIGHT_PAREN, L::RIGHT_BRACKET);
      if (depth == 0 && (closes || type(end) == L::COMMA)) break;
      depth += is_one_of(type(end), L::LEFT_PAREN, L::LEFT_BRACKET), depth -= closes;
    }
    size_t begin = list_[i + 1]->getStartIndex();
    return input_.text.substr(begin, list_[end - 1]->getStopIndex() + 1 - begin);
  }

  void report(std::string_view word, const std::vector<size_t>& places) {
    size_t first = *std::ranges::min_element(places);
    auto nameless = std::ranges::find_if(places, [&](size_t i) { return is_nameless_out(i); });
    bool is_out = nameless != places.end(), is_y_free = std::ranges::none_of(list_, [&](const TokenPointer& token) { return input_.spelling(*token) == "y"; });
    std::string name = is_out && is_y_free ? "y" : other_name(word);
    std::vector<Fix> fixes;
    for (size_t i : places) fixes.push_back({input_.span(*list_[i]), is_nameless_out(i) ? std::string(word) + " " + name : name});
    std::ranges::sort(fixes, {}, [](const Fix& fix) { return fix.span.begin; });
    if (is_out) {
      std::string type(typed_behind(*nameless)), front(word);
      diagnostics_.at(input_.span(*list_[*nameless])).error(diag::ExpectedToken, "`" + front + " " + name + type + "`", "`" + front + type + "`")
          .fix(std::move(fixes), "`" + front + "` says what the parameter is for: its name stands behind it");
      std::ranges::copy_if(places, std::back_inserter(nameless_outs_), [&](size_t i) { return is_nameless_out(i); });
    } else {
      diagnostics_.at(input_.span(*list_[first])).error(diag::ReservedWord, word).fix(std::move(fixes), "give it another name, such as `" + name + "`");
    }
    // What nothing declares is read as a name that is left open, which says nothing more.
    for (size_t i : places)
      if (declared_.contains(word)) dynamic_cast<antlr4::CommonToken&>(*list_[i]).setType(L::ID);
      else list_[i] = imagined_before(*list_[i], L::ID);
  }

  const Input& input_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
  std::map<std::string_view, std::vector<size_t>> places_;
  std::set<std::string_view> declared_;
  std::vector<size_t> nameless_outs_;
};

}  // namespace

void turn_words_as_names(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Names(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
