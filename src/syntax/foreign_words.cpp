// Spellings of other languages that mean one thing here: said once, with what to write, and read as that. `(float)x[i]`, `float s = 0;`,
// `auto a = 3;`, `a := 3;`, `a and b`, `not a`, `elif`.
#include "syntax/foreign_words.h"

#include <array>
#include <utility>

#include "TileLexer.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

std::optional<Scalar> foreign_type(std::string_view name) {
  using Row = std::pair<std::string_view, Scalar>;
  static constexpr auto kTypes = std::to_array<Row>(
      {{"float", Scalar::F32},     {"double", Scalar::F64},   {"half", Scalar::F16},     {"float16", Scalar::F16},   {"bfloat16", Scalar::BF16},
       {"float32", Scalar::F32},   {"float64", Scalar::F64},  {"char", Scalar::I8},      {"short", Scalar::I16},     {"long", Scalar::I64},
       {"unsigned", Scalar::U32},  {"size_t", Scalar::Index}, {"int8", Scalar::I8},      {"int16", Scalar::I16},     {"int32", Scalar::I32},
       {"int64", Scalar::I64},     {"uint8", Scalar::U8},     {"uint16", Scalar::U16},   {"uint32", Scalar::U32},    {"uint64", Scalar::U64},
       {"int8_t", Scalar::I8},     {"int16_t", Scalar::I16},  {"int32_t", Scalar::I32},  {"int64_t", Scalar::I64},   {"uint8_t", Scalar::U8},
       {"uint16_t", Scalar::U16},  {"uint32_t", Scalar::U32}, {"uint64_t", Scalar::U64}, {"usize", Scalar::Index},   {"byte", Scalar::U8},
       {"isize", Scalar::Index},   {"ssize_t", Scalar::Index}, {"ptrdiff_t", Scalar::Index}, {"uint", Scalar::U32},  {"uchar", Scalar::U8},
       {"fp64", Scalar::F64},      {"fp32", Scalar::F32},     {"fp16", Scalar::F16},     {"fp8", Scalar::F8E4M3},
       {"e4m3", Scalar::F8E4M3},   {"e5m2", Scalar::F8E5M2},  {"float8", Scalar::F8E4M3}, {"float8_e4m3", Scalar::F8E4M3}, {"float8_e5m2", Scalar::F8E5M2},
       {"e4m3fn", Scalar::F8E4M3}, {"float8_e4m3fn", Scalar::F8E4M3}, {"float8e4m3", Scalar::F8E4M3}, {"float8e5m2", Scalar::F8E5M2}, {"float8e4nv", Scalar::F8E4M3},
       {"float8e5", Scalar::F8E5M2}, {"fp8_e4m3", Scalar::F8E4M3}, {"fp8_e5m2", Scalar::F8E5M2}, {"bfloat", Scalar::BF16}, {"bf16_t", Scalar::BF16},
       {"__half", Scalar::F16},    {"half_t", Scalar::F16},   {"__nv_bfloat16", Scalar::BF16}});
  for (auto [foreign, scalar] : kTypes)
    if (foreign == name) return scalar;
  std::string lower(name);  // `F32`
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return lower == name || name.size() < 2 ? std::nullopt : scalar_named(lower);
}

namespace {

class Turner {
 public:
  Turner(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics)
      : input_(input), tokens_(tokens), list_(tokens.list), patience_(patience), diagnostics_(diagnostics) {}

  void run() {
    for (size_t i = 0; i < list_.size() && !tokens_.is_unreadable; ++i) {
      depth_ += (type(i) == TileLexer::LEFT_BRACE) - (type(i) == TileLexer::RIGHT_BRACE);
      turn_cast(i);
      turn_declaration(i);
      turn_declarator(i);
      turn_array(i);
      turn_named_array(i);
      turn_word(i);
    }
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  std::string text(size_t i) const { return std::string(input_.spelling(*list_[i])); }
  std::string text(size_t first, size_t end) const {
    return std::string(input_.text.substr(list_[first]->getStartIndex(), list_[end - 1]->getStopIndex() + 1 - list_[first]->getStartIndex()));
  }
  std::optional<Scalar> type_at(size_t i) const {
    if (type(i) != TileLexer::ID) return std::nullopt;
    auto ours = scalar_named(text(i));
    return ours ? ours : foreign_type(text(i));
  }
  bool is_ours(size_t i) const { return scalar_named(text(i)).has_value(); }
  bool ends_operand(size_t i) const {
    size_t t = type(i);
    return is_name(t) || t == TileLexer::INTEGER || t == TileLexer::FLOAT || t == TileLexer::RIGHT_PAREN || t == TileLexer::RIGHT_BRACKET || t == TileLexer::TRUE ||
           t == TileLexer::FALSE;
  }

  // Behind the bracket that closes the one at `i`, or `i`.
  size_t behind_brackets(size_t i) const {
    int depth = 0;
    for (size_t k = i; k < list_.size(); ++k) {
      size_t t = type(k);
      depth += (t == TileLexer::LEFT_PAREN || t == TileLexer::LEFT_BRACKET) - (t == TileLexer::RIGHT_PAREN || t == TileLexer::RIGHT_BRACKET);
      if (depth == 0) return k + 1;
      if (t == TileLexer::SEMICOLON || t == TileLexer::LEFT_BRACE || t == TileLexer::RIGHT_BRACE) break;
    }
    return i;
  }

  // Behind the operand that begins at `i`, or `i` where none does.
  size_t behind_operand(size_t i) const {
    size_t k = i;
    while (type(k) == TileLexer::MINUS || type(k) == TileLexer::TILDE) ++k;
    size_t first = k;
    if (is_name(type(k)) || type(k) == TileLexer::INTEGER || type(k) == TileLexer::FLOAT) ++k;
    else if (type(k) == TileLexer::LEFT_PAREN) k = behind_brackets(k);
    if (k == first) return i;
    for (;;) {
      size_t before = k;
      if (type(k) == TileLexer::DOT && is_name(type(k + 1))) k += 2;
      else if (type(k) == TileLexer::LEFT_PAREN || type(k) == TileLexer::LEFT_BRACKET) k = behind_brackets(k);
      if (k == before) return k;
    }
  }

  void report(Span span, const std::string& theirs, const std::string& ours, std::vector<Fix> fixes) {
    diagnostics_.at(span).error(diag::ExpectedToken, "`" + ours + "`", "`" + theirs + "`").fix(std::move(fixes), "write it so");
    if (!patience_.is_over(diagnostics_)) return;
    tokens_.is_unreadable = true;
    give_up(patience_, diagnostics_.at(span), input_.name);
  }

  TokenPointer retyped(TokenPointer token, size_t type) {
    dynamic_cast<antlr4::CommonToken&>(*token).setType(type);
    return token;
  }
  // A type of ours is read; one of theirs is left open, which says nothing more. `int` is both, and has 32 bits there.
  TokenPointer read_type(size_t i) { return is_ours(i) && text(i) != "int" ? std::move(list_[i]) : imagined_before(*list_[i], TileLexer::ID); }

  bool is_cast(size_t i) { return type(i) == TileLexer::LEFT_PAREN && type_at(i + 1) && type(i + 2) == TileLexer::RIGHT_PAREN; }
  // A sign in front binds tighter than `as`.
  bool has_sign(size_t i) const {
    const size_t t = i > 0 ? type(i - 1) : size_t(TileLexer::SEMICOLON);
    return (t == TileLexer::MINUS || t == TileLexer::TILDE || t == TileLexer::NOT) && !(i > 1 && ends_operand(i - 2));
  }

  // `(T) operand` is read as `operand as T`, `(T)(U) operand` as `operand as U as T`.
  void turn_cast(size_t i) {
    if (!is_cast(i) || (i > 0 && (ends_operand(i - 1) || type(i - 1) == TileLexer::FN))) return;
    size_t first = i;
    std::string ours;
    for (; is_cast(first); first += 3) ours = " as " + std::string(tilec::name(*type_at(first + 1))) + ours;
    const size_t end = behind_operand(first);
    if (end == first) return;
    const bool is_tight = has_sign(i);
    const std::string operand = text(first, end), whole = is_tight ? "(" + operand + ours + ")" : operand + ours;
    const Span casts = input_.span(list_[i]->getStartIndex(), list_[first]->getStartIndex()), last = input_.span(*list_[end - 1]);
    report(input_.span(casts.begin, uint32_t(list_[first - 1]->getStopIndex() + 1)), text(i, end), whole,
           {{casts, is_tight ? "(" : ""}, {input_.span(last.end, last.end), is_tight ? ours + ")" : ours}});
    std::vector<TokenPointer> behind;
    for (size_t k = first; k > i; k -= 3) {
      behind.push_back(imagined_before(*list_[k - 3], TileLexer::AS));
      behind.push_back(read_type(k - 2));
    }
    if (is_tight) behind.push_back(imagined_before(*list_[end - 1], TileLexer::RIGHT_PAREN));
    list_.insert(list_.begin() + ssize_t(end), std::make_move_iterator(behind.begin()), std::make_move_iterator(behind.end()));
    list_.erase(list_.begin() + ssize_t(i) + is_tight, list_.begin() + ssize_t(first));
  }

  // `float s = 0;`, `const int n = 3;`, `let float c = 2.0;` are read as `var s: f32 = 0;` and the like.
  void turn_declaration(size_t i) {
    size_t word = type(i);
    bool has_word = word == TileLexer::CONST || word == TileLexer::LET || word == TileLexer::VAR;
    size_t at = i + has_word, before = i > 0 ? type(i - 1) : size_t(TileLexer::SEMICOLON);
    bool begins = before == TileLexer::SEMICOLON || before == TileLexer::LEFT_BRACE || before == TileLexer::RIGHT_BRACE;
    bool ends = type(at + 2) == TileLexer::ASSIGN || (!has_word && type(at + 2) == TileLexer::SEMICOLON);
    if (!begins || !ends || !type_at(at) || !is_name(type(at + 1)) || (depth_ == 0 && !has_word)) return;
    const size_t declared = depth_ > 0 ? TileLexer::LET : TileLexer::CONST;
    size_t ours_type = word == TileLexer::CONST ? declared : has_word ? word : size_t(TileLexer::VAR);
    std::string ours = ours_type == TileLexer::LET ? "let " : ours_type == TileLexer::CONST ? "const " : "var ";
    ours += text(at + 1) + ": " + std::string(tilec::name(*type_at(at)));
    Span head = input_.span(list_[i]->getStartIndex(), list_[at + 1]->getStopIndex() + 1);
    report(head, text(i, at + 2), ours, {{head, ours}});
    TokenPointer colon = imagined_before(*list_[at + 1], TileLexer::COLON), name = read_type(at);
    TokenPointer first = has_word ? retyped(std::move(list_[i]), ours_type) : imagined_before(*list_[at + 1], ours_type);
    std::vector<TokenPointer> turned;
    for (TokenPointer* token : {&first, &list_[at + 1], &colon, &name}) turned.push_back(std::move(*token));
    list_.erase(list_.begin() + ssize_t(i), list_.begin() + ssize_t(at) + 2);
    list_.insert(list_.begin() + ssize_t(i), std::make_move_iterator(turned.begin()), std::make_move_iterator(turned.end()));
  }

  // `float a[4];` is an array: of a thread, of the block, or a tile. It is left open which.
  void turn_array(size_t i) {
    if (depth_ == 0 || !begins_statement(i) || !type_at(i) || !is_name(type(i + 1)) || type(i + 2) != TileLexer::LEFT_BRACKET) return;
    size_t end = behind_brackets(i + 2), last = end;
    while (last < list_.size() && type(last) != TileLexer::SEMICOLON && type(last) != TileLexer::EOF) ++last;
    if (end == i + 2 || (type(end) != TileLexer::SEMICOLON && type(end) != TileLexer::ASSIGN)) return;
    std::string array = std::string(tilec::name(*type_at(i))) + text(i + 2, end), name = text(i + 1);
    tell_array(i, end, "var " + name + ": local " + array);
    list_[i] = retyped(std::move(list_[i]), TileLexer::VAR);
    leave_array_open(i, last);
  }
  // `var a[4]: f32;`
  void turn_named_array(size_t i) {
    bool is_declared = depth_ > 0 && (type(i) == TileLexer::VAR || type(i) == TileLexer::LET) && is_name(type(i + 1)) && type(i + 2) == TileLexer::LEFT_BRACKET;
    size_t colon = is_declared ? behind_brackets(i + 2) : i, last = colon;
    if (colon <= i + 2) return;
    while (last < list_.size() && type(last) != TileLexer::SEMICOLON && type(last) != TileLexer::EOF) ++last;
    size_t element = colon + 1;
    bool has_space = type(element) != TileLexer::ID && is_name(type(element));  // `var a[4]: shared f32`
    element += has_space;
    bool has_type = type(colon) == TileLexer::COLON && type_at(element);
    if (!has_type && type(colon) != TileLexer::SEMICOLON && type(colon) != TileLexer::ASSIGN) return;
    std::string space = has_space ? text(element - 1) : "local", of = has_type ? std::string(tilec::name(*type_at(element))) : "f32";
    tell_array(i, has_type ? element + 1 : colon, "var " + text(i + 1) + ": " + space + " " + of + text(i + 2, colon));
    list_[i] = retyped(std::move(list_[i]), TileLexer::VAR);
    leave_array_open(i, last);
  }
  void tell_array(size_t i, size_t end, const std::string& ours) {
    diagnostics_.at(input_.span(list_[i]->getStartIndex(), list_[end - 1]->getStopIndex() + 1))
        .error(diag::ExpectedToken, "`" + ours + "`", "`" + text(i, end) + "`")
        .help("`local` is memory of a thread, `shared` of the block; a tile that lies in registers is a `fragment`");
  }
  // `var a: (open)`, up to `last`.
  void leave_array_open(size_t i, size_t last) {
    TokenPointer colon = imagined_before(*list_[i + 2], TileLexer::COLON), open = imagined_before(*list_[i + 2], TileLexer::ID);
    list_.erase(list_.begin() + ssize_t(i) + 2, list_.begin() + ssize_t(last));
    list_.insert(list_.begin() + ssize_t(i) + 2, std::move(open));
    list_.insert(list_.begin() + ssize_t(i) + 2, std::move(colon));
  }

  bool begins_statement(size_t i) const {
    size_t before = i > 0 ? type(i - 1) : size_t(TileLexer::SEMICOLON);
    return before == TileLexer::SEMICOLON || before == TileLexer::LEFT_BRACE || before == TileLexer::RIGHT_BRACE;
  }

  // `auto a = 3;`, `let mut a = 3;`, `a := 3;`.
  void turn_declarator(size_t i) {
    if (depth_ == 0 || !begins_statement(i)) return;
    auto is_word = [&](size_t at, std::string_view word) { return type(at) == TileLexer::ID && text(at) == word; };
    auto is_declared = [&](size_t at) { return is_name(type(at)) && (type(at + 1) == TileLexer::ASSIGN || type(at + 1) == TileLexer::COLON); };
    for (auto [theirs, ours_type, ours] : {std::tuple("auto", size_t(TileLexer::LET), "let"), std::tuple("val", size_t(TileLexer::LET), "let"), std::tuple("mut", size_t(TileLexer::VAR), "var")})
      if (is_word(i, theirs) && is_declared(i + 1)) return replace(i, ours_type, ours);
    if (type(i) == TileLexer::LET && is_word(i + 1, "mut") && is_declared(i + 2)) {
      Span words = input_.span(list_[i]->getStartIndex(), list_[i + 1]->getStopIndex() + 1);
      report(words, "let mut", "var", {{words, "var"}});
      list_[i] = retyped(std::move(list_[i]), TileLexer::VAR);
      list_.erase(list_.begin() + ssize_t(i) + 1);
      return;
    }
    bool is_short = is_name(type(i)) && type(i + 1) == TileLexer::COLON && type(i + 2) == TileLexer::ASSIGN && list_[i + 1]->getStopIndex() + 1 == list_[i + 2]->getStartIndex();
    if (!is_short) return;
    Span head = input_.span(list_[i]->getStartIndex(), list_[i + 2]->getStopIndex() + 1);
    report(head, text(i, i + 3), "var " + text(i) + " =", {{head, "var " + text(i) + " ="}});
    list_.erase(list_.begin() + ssize_t(i) + 1);
    list_.insert(list_.begin() + ssize_t(i), imagined_before(*list_[i], TileLexer::VAR));
  }

  void replace(size_t i, size_t type, const std::string& ours) {
    Span span = input_.span(*list_[i]);
    report(span, text(i), ours, {{span, ours}});
    list_[i] = retyped(std::move(list_[i]), type);
  }

  // `and`, `or`, `not` where a name cannot stand, `elif` behind a block.
  void turn_word(size_t i) {
    if (type(i) == TileLexer::IS) return turn_is(i);
    if (type(i) != TileLexer::ID || i == 0) return;
    std::string word = text(i);
    bool is_between = ends_operand(i - 1) && (behind_operand(i + 1) > i + 1 || type(i + 1) == TileLexer::NOT || type(i + 1) == TileLexer::ID);
    constexpr std::tuple<std::string_view, size_t, std::string_view> kOperators[] = {
        {"and", TileLexer::AND_AND, "&&"}, {"or", TileLexer::OR_OR, "||"}, {"xor", TileLexer::XOR, "^"}, {"mod", TileLexer::PERCENT, "%"}};
    for (auto [theirs, ours_type, ours] : kOperators)
      if (word == theirs && is_between) return turn_operator(i, ours_type, std::string(ours));
    if (word == "not" && type(i - 1) == TileLexer::IS) return turn_is_not(i);
    bool is_prefix = !ends_operand(i - 1) && type(i + 1) != TileLexer::DOT && behind_operand(i + 1) > i + 1;
    bool is_call = type(i + 1) == TileLexer::LEFT_PAREN && behind_operand(i + 1) == i + 1;
    bool is_declared = type(i - 1) == TileLexer::KERNEL || type(i - 1) == TileLexer::FN || type(i - 1) == TileLexer::LET || type(i - 1) == TileLexer::VAR;
    if (word == "not" && !is_declared && is_prefix && !is_call && !has_function(word)) return turn_not(i);
    bool is_else_if = word == "elif" || word == "elseif" || word == "elsif";
    if (!is_else_if || type(i - 1) != TileLexer::RIGHT_BRACE) return;
    replace(i, TileLexer::ELSE, "else if");
    list_.insert(list_.begin() + ssize_t(i) + 1, imagined_before(*list_[i + 1], TileLexer::IF));
  }

  // `n is 3`: equal. `w is None`, `w is not None`: `!w` and `w`.
  void turn_is(size_t i) {
    size_t next = type(i + 1);
    bool is_literal = next == TileLexer::INTEGER || next == TileLexer::FLOAT || next == TileLexer::MINUS || next == TileLexer::TRUE || next == TileLexer::FALSE;
    if (is_literal && i > 0 && ends_operand(i - 1)) return replace(i, TileLexer::EQUAL, "==");
    bool has_not = type(i + 1) == TileLexer::ID && text(i + 1) == "not";
    size_t none = i + 1 + has_not;
    if (i == 0 || !is_name(type(i - 1)) || type(none) != TileLexer::ID || text(none) != "None") return;
    std::string ours = (has_not ? "" : "!") + text(i - 1);
    Span words = input_.span(list_[i - 1]->getStartIndex(), list_[none]->getStopIndex() + 1);
    report(words, text(i - 1, none + 1), ours, {{words, ours}});
    list_.erase(list_.begin() + ssize_t(i), list_.begin() + ssize_t(none) + 1);
    if (!has_not) list_.insert(list_.begin() + ssize_t(i) - 1, imagined_before(*list_[i - 1], TileLexer::NOT));
  }
  void turn_is_not(size_t i) {
    Span words = input_.span(list_[i - 1]->getStartIndex(), list_[i]->getStopIndex() + 1);
    report(words, text(i - 1, i + 1), "!=", {{words, "!="}});
    list_[i - 1] = retyped(std::move(list_[i - 1]), TileLexer::NOT_EQUAL);
    list_.erase(list_.begin() + ssize_t(i));
  }
  // What comes of it is a number where it comes from, so that only a condition is looked at further.
  void turn_operator(size_t i, size_t ours_type, const std::string& ours) {
    replace(i, ours_type, ours);
    bool is_logical = ours_type == TileLexer::AND_AND || ours_type == TileLexer::OR_OR;
    if (is_logical && !is_in_condition(i)) leave_open(i, ours_type);
  }
  // `a && b` becomes `a && (open) && b`.
  void leave_open(size_t i, size_t ours_type) {
    TokenPointer again = imagined_before(*list_[i + 1], ours_type), open = imagined_before(*list_[i + 1], TileLexer::ID);
    list_.insert(list_.begin() + ssize_t(i) + 1, std::move(again));
    list_.insert(list_.begin() + ssize_t(i) + 1, std::move(open));
  }
  bool is_in_condition(size_t i) const {
    for (size_t k = i + 1; k-- > 0;) {
      size_t t = type(k);
      if (t == TileLexer::IF || t == TileLexer::WHILE || t == TileLexer::REQUIRES) return true;
      if (t == TileLexer::SEMICOLON || t == TileLexer::LEFT_BRACE || t == TileLexer::RIGHT_BRACE) return false;
    }
    return false;
  }

  bool has_function(const std::string& name) {
    for (size_t i = 0; i + 1 < list_.size(); ++i)
      if (type(i) == TileLexer::FN && text(i + 1) == name) return true;
    return false;
  }

  // It binds looser than a comparison where it comes from, and tighter than all here.
  void turn_not(size_t i) {
    size_t end = i + 1;
    for (int depth = 0; end < list_.size(); ++end) {
      size_t t = type(end);
      if (t == TileLexer::LEFT_PAREN || t == TileLexer::LEFT_BRACKET) ++depth;
      if ((t == TileLexer::RIGHT_PAREN || t == TileLexer::RIGHT_BRACKET) && --depth < 0) break;
      bool is_joint = t == TileLexer::AND_AND || t == TileLexer::OR_OR || (t == TileLexer::ID && (text(end) == "and" || text(end) == "or"));
      if (depth == 0 && (is_joint || t == TileLexer::LEFT_BRACE || t == TileLexer::SEMICOLON || t == TileLexer::COMMA)) break;
    }
    Span word = input_.span(list_[i]->getStartIndex(), list_[i + 1]->getStartIndex());
    bool is_one = behind_operand(i + 1) == end;
    uint32_t last = uint32_t(list_[end - 1]->getStopIndex() + 1);
    std::string operand = text(i + 1, end);
    std::vector<Fix> fixes = {{word, is_one ? "!" : "!("}};
    if (!is_one) fixes.push_back({input_.span(last, last), ")"});
    report(input_.span(*list_[i]), "not " + operand, is_one ? "!" + operand : "!(" + operand + ")", std::move(fixes));
    list_[i] = retyped(std::move(list_[i]), TileLexer::NOT);
    auto put = [&](size_t at, size_t type) { list_.insert(list_.begin() + ssize_t(at), imagined_before(*list_[at], type)); };
    if (!is_in_condition(i)) put(end, TileLexer::ID), put(end, TileLexer::AND_AND);
    if (!is_one) put(end, TileLexer::RIGHT_PAREN), put(i + 1, TileLexer::LEFT_PAREN);
  }

  const Input& input_;
  Tokens& tokens_;
  std::vector<TokenPointer>& list_;
  const Patience& patience_;
  Diagnostics& diagnostics_;
  int depth_ = 0;
};

}  // namespace

void turn_foreign_words(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics) {
  Turner(input, tokens, patience, diagnostics).run();
}

}  // namespace tilec::syntax
