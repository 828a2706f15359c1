// Declarations and statements of other languages that have no like here: said once, with what is written instead, and left out, so that
// nothing stumbles over what they leave.
#include "TileLexer.h"
#include "base/advice.h"
#include "diag/diag.h"
#include "syntax/tokens.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

constexpr std::string_view kFunctions = "what programs call is `export kernel f(x: f32[N], out y: f32[N]) { launch (i in ceildiv(N, 64)) { ... } }`, "
                                        "what kernels call `fn f(x: f32) -> f32 { ... }`";

constexpr std::string_view kStructures = "there are no structures: a kernel takes a parameter for each member";
constexpr std::string_view kParts = "there are no structures: each part is a variable";
constexpr std::string_view kTypeNames = "types have no other names";
constexpr std::string_view kInnerEnum = "an enumeration stands outside of kernels";
constexpr std::string_view kInner = "a function stands outside of kernels: `fn f(x: f32) -> f32 { ... }`";

// What begins a declaration elsewhere; all others are functions.
constexpr Advice kDeclarations[] = {
    {"struct", kStructures},
    {"class", kStructures},
    {"union", kStructures},
    {"record", kStructures},
    {"typedef", kTypeNames},
    {"type", kTypeNames},
    {"template", "what is chosen at compile time stands in brackets: `fn f[T: float, n: int](x: T) -> T { ... }`"},
    {"using", "types have no other names; a module is imported by `import std.math;`"},
    {"namespace", "a file is a module; others import it by `import \"file.tile\" as name;`"},
    {"from", "a module is imported by `import std.math;`, then its names are `math.gelu`"},
    {"let", "a constant is `const name = value;`"},
};
// What begins a statement elsewhere.
constexpr Advice kStatements[] = {
    {"do", "a loop whose test comes last is `while true { ...; if !again { break; } }`"},
    {"switch", "a choice of several is `if x == 0 { ... } else if x == 1 { ... } else { ... }`"},
    {"match", "a choice of several is `if x == 0 { ... } else if x == 1 { ... } else { ... }`"},
    {"try", "there are no exceptions: what may go wrong is tested with `if`, or stated in `requires`"},
    {"throw", "there are no exceptions: what may go wrong is tested with `if`, or stated in `requires`"},
    {"raise", "there are no exceptions: what may go wrong is tested with `if`, or stated in `requires`"},
    {"with", "what is declared lives to the end of its block"},
    {"assert", "what holds of arguments is stated by `requires` behind the parameters, what is known at compile time by `static_assert(...)`"},
    {"goto", "a loop is left by `break`, its turn by `continue`"},
    {"pass", "a block in which nothing is done is `{ }`"},
    {"loop", "a loop without an end is `while true { ... }`"},
    {"del", "what is declared lives to the end of its block"},
    {"delete", "what is declared lives to the end of its block"},
    {"struct", kParts},
    {"class", kParts},
    {"union", kParts},
    {"typedef", kTypeNames},
    {"using", kTypeNames},
    {"def", kInner},
    {"function", kInner},
    {"func", kInner},
};

class Lines {
 public:
  Lines(const Input& input, Tokens& tokens, Diagnostics& diagnostics) : input_(input), tokens_(tokens), list_(tokens.list), diagnostics_(diagnostics) {}

  void run() {
    int depth = 0, brackets = 0;
    std::vector<int> around;  // brackets open around the blocks of `if` values
    for (size_t i = 0; i < list_.size();) {
      size_t before = list_.size();
      bool begins = brackets > 0 ? false : i == 0 || type(i - 1) == L::SEMICOLON || type(i - 1) == L::LEFT_BRACE || type(i - 1) == L::RIGHT_BRACE;
      if (begins && depth <= 0 && is_foreign_declaration(i)) leave_out_declaration(i);
      else if (begins && depth > 0) leave_out_statement(i);
      if (list_.size() != before) continue;
      depth += (type(i) == L::LEFT_BRACE) - (type(i) == L::RIGHT_BRACE);
      brackets += (type(i) == L::LEFT_PAREN || type(i) == L::LEFT_BRACKET) - (type(i) == L::RIGHT_PAREN || type(i) == L::RIGHT_BRACKET);
      if (type(i) == L::LEFT_BRACE) around.push_back(std::exchange(brackets, 0));
      if (type(i) == L::RIGHT_BRACE) {
        brackets = around.empty() ? 0 : around.back();
        if (!around.empty()) around.pop_back();
      }
      ++i;
    }
  }

 private:
  size_t type(size_t i) const { return i < list_.size() ? list_[i]->getType() : size_t(antlr4::Token::EOF); }
  std::string_view text(size_t i) const { return input_.spelling(*list_[i]); }
  bool begins_line(size_t i) const { return i == 0 || list_[i - 1]->getLine() != list_[i]->getLine(); }
  void erase(size_t from, size_t end) { list_.erase(list_.begin() + ssize_t(from), list_.begin() + ssize_t(std::min(end, list_.size() - 1))); }

  // `@triton.jit` in front of it belongs to it.
  size_t behind_attributes(size_t i) const {
    while (type(i) == L::AT && (type(i + 1) == L::ID || type(i + 1) == L::OP)) {
      i += 2;
      while (type(i) == L::DOT && type(i + 1) == L::ID) i += 2;
      if (type(i) == L::LEFT_PAREN) i = behind(i, L::LEFT_PAREN, L::RIGHT_PAREN);
    }
    return i;
  }
  bool is_foreign_declaration(size_t i) const { return type(behind_attributes(i)) == L::ID; }

  // To the next declaration of ours.
  void leave_out_declaration(size_t i) {
    size_t word = behind_attributes(i), end = word;
    int depth = 0;
    for (; end + 1 < list_.size(); ++end) {
      size_t now = type(end);
      bool is_ours = (now >= L::IMPORT && now <= L::STATIC_ASSERT && now != L::CONST) || (now == L::REFERENCE && type(end + 1) == L::FN);
      if (depth <= 0 && is_ours && begins_line(end)) break;
      depth += (now == L::LEFT_BRACE) - (now == L::RIGHT_BRACE);
    }
    if (!has_foreign_declarations_)
      diagnostics_.at(input_.span(*list_[word])).error(diag::ExpectedToken, "a declaration", "`" + std::string(text(word)) + "`").help(std::string(help_on(kDeclarations, text(word), kFunctions)));
    has_foreign_declarations_ = true;
    leave_names_open(word, end);
    erase(i, end);
  }
  // What the words up to `end` may declare.
  void leave_names_open(size_t begin, size_t end) {
    int depth = 0;
    for (size_t i = begin; i < end; ++i) {
      size_t now = type(i), next = type(i + 1);
      depth += (now == L::LEFT_BRACE || now == L::LEFT_PAREN) - (now == L::RIGHT_BRACE || now == L::RIGHT_PAREN);
      bool is_declared = next == L::LEFT_PAREN || next == L::ASSIGN || next == L::LEFT_BRACE || next == L::SEMICOLON || next == L::LEFT_BRACKET || next == L::COMMA;
      if (now == L::ID && depth <= 0 && is_declared) tokens_.left_open.emplace_back(text(i));
    }
  }

  size_t behind(size_t open, size_t opener, size_t closer) const {
    int depth = 0;
    for (size_t i = open; i + 1 < list_.size(); ++i) {
      depth += (type(i) == opener) - (type(i) == closer);
      if (depth == 0) return i + 1;
    }
    return open;
  }
  // Behind the block that begins before the statement ends, or behind the statement.
  size_t behind_statement(size_t i) const {
    size_t line = list_[i]->getLine();
    for (; i + 1 < list_.size() && type(i) != L::RIGHT_BRACE; ++i) {
      if (type(i) == L::LEFT_BRACE) return behind(i, L::LEFT_BRACE, L::RIGHT_BRACE);
      if (type(i) == L::SEMICOLON) return i + 1;
      if (list_[i]->getLine() != line) break;
    }
    return i;
  }

  // `struct S { ... } s;`, on the line where the block ends.
  size_t behind_names(size_t end) const {
    size_t i = end;
    while (type(end - 1) == L::RIGHT_BRACE && (type(i) == L::ID || type(i) == L::COMMA) && !begins_line(i)) ++i;
    return type(end - 1) == L::RIGHT_BRACE && type(i) == L::SEMICOLON ? i + 1 : end;
  }

  // A declaration of ours in a block, and not at the start of its line, where it would end what is not closed: what it names is left open.
  void leave_out_inner(size_t i) {
    bool is_function = type(i) == L::FN && (type(i + 2) == L::LEFT_PAREN || type(i + 2) == L::LEFT_BRACKET);
    bool is_choice = type(i) == L::ENUM && type(i + 2) == L::LEFT_BRACE;
    if (type(i + 1) != L::ID || (!is_function && !is_choice) || list_[i]->getCharPositionInLine() == 0) return;
    diagnostics_.at(input_.span(*list_[i])).error(diag::UnexpectedToken, "`" + std::string(text(i)) + "`").help(is_function ? kInner : kInnerEnum);
    size_t end = std::max(behind_names(behind_statement(i)), i + 2);  // its name may stand on the next line
    std::vector<TokenPointer> open;
    const antlr4::Token& next = *list_[end];
    open.push_back(imagined_before(next, L::LET)), open.push_back(std::move(list_[i + 1]));
    for (size_t type : {L::ASSIGN, L::ID, L::SEMICOLON}) open.push_back(imagined_before(next, type));
    erase(i, end);
    list_.insert(list_.begin() + ssize_t(i), std::make_move_iterator(open.begin()), std::make_move_iterator(open.end()));
  }

  void leave_out_statement(size_t i) {
    if (type(i) != L::ID) return leave_out_inner(i);
    std::string_view word = text(i), help = help_on(kStatements, word);
    size_t next = type(i + 1);
    bool is_ours = next == L::ASSIGN || next == L::DOT || (next >= L::ADD_ASSIGN && next <= L::SHIFT_RIGHT_ASSIGN) || next == L::LEFT_BRACKET;
    // A label stands in front of its statement, a member in its enumeration.
    is_ours |= next == L::COLON && !begins_line(i + 2);
    is_ours |= next == L::COMMA || (i >= 3 && type(i - 1) == L::LEFT_BRACE && type(i - 3) == L::ENUM);
    if (help.empty() || is_ours || (next == L::LEFT_PAREN && type(behind(i + 1, L::LEFT_PAREN, L::RIGHT_PAREN)) == L::SEMICOLON)) return;
    diagnostics_.at(input_.span(*list_[i])).error(diag::UnexpectedToken, "`" + std::string(word) + "`").help(std::string(help));
    if (word == "do" && next == L::LEFT_BRACE) {  // what it does is looked at, its test is not
      size_t test = behind(i + 1, L::LEFT_BRACE, L::RIGHT_BRACE);
      if (type(test) == L::WHILE) erase(test, behind_statement(test));
      return erase(i, i + 1);
    }
    size_t end = behind_statement(i);
    end = behind_names(end);
    while (end < list_.size() && type(end) == L::ID && (text(end) == "catch" || text(end) == "finally" || text(end) == "except")) end = behind_statement(end);
    erase(i, end);
  }

  const Input& input_;
  Tokens& tokens_;
  std::vector<TokenPointer>& list_;
  Diagnostics& diagnostics_;
  bool has_foreign_declarations_ = false;
};

}  // namespace

void leave_out_foreign_lines(const Input& input, Tokens& tokens, Diagnostics& diagnostics) { Lines(input, tokens, diagnostics).run(); }

}  // namespace tilec::syntax
