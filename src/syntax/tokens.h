// The tokens of a file, made fit for the parser.
//   in:  the text            out: tokens whose brackets balance, comments, mistakes reported
// Mistakes of single tokens and of brackets are found here, where more is known of them than the parser can say. What
// they leave behind would make the parser stumble once more, so the ranges around them are `damaged`: it stays silent
// there.
#pragma once
#include <antlr4-runtime.h>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "diag/sink.h"
#include "syntax/ast.h"

namespace tilec::syntax {

using TokenPointer = std::unique_ptr<antlr4::Token>;

// What the parts of the parser share about the file they read.
struct Input {
  FileId file;
  std::string_view text, name;
  Span span(size_t begin, size_t end) const { return {file, uint32_t(begin), uint32_t(end)}; }
  Span span(const antlr4::Token& token) const { return span(token.getStartIndex(), token.getStopIndex() + 1); }
  std::string_view spelling(const antlr4::Token& token) const {
    return text.substr(token.getStartIndex(), token.getStopIndex() + 1 - token.getStartIndex());
  }
};

// How many mistakes of a file are told: beyond them, each is more likely an echo of those before. None: all are.
struct Patience {
  std::optional<int> most;
  int errors_before = 0;  // of other files
  bool is_over(const Diagnostics& diagnostics) const { return most && diagnostics.error_count() - errors_before >= *most; }
};
// A file that is not named as ours are is more likely none of ours.
Patience patience_with(std::string_view file_name, const Diagnostics& diagnostics);
// Says that it is over.
void give_up(const Patience& patience, Place place, std::string_view file_name);

struct Tokens {
  std::vector<TokenPointer> list;  // ends with EOF
  std::vector<ast::Comment> comments;
  std::vector<Span> damaged;
  std::vector<std::string> left_open;  // names whose declarations were told and left out
  bool is_unreadable = false;  // nested deeper than a recursive reader can take, or no text, or full of mistakes; reported
};

// Reads the tokens of a text one after the other, comments too; EOF is the last.
using TokenReader = std::function<TokenPointer()>;
Tokens read_tokens(const Input& input, const TokenReader& next, const Patience& patience, Diagnostics& diagnostics);
// Makes of another language's syntax what was meant, and of brackets that do not balance some that do; all of it is reported.
void mend(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// A token that stands nowhere, in front of one that does.
TokenPointer imagined_before(const antlr4::Token& token, size_t type);

// Makes the brackets of `tokens` balance: closers that are missing are put in, those that close nothing taken out.
void balance_brackets(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Words of the language that are used as names become names, slips in words that begin statements and declarations what was meant; both are
// reported.
void turn_words_as_names(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);
void turn_slips(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Functions and constants of other languages become ours, and are reported.
void turn_foreign_declarations(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Parameters of other languages become ours, or are left open, and are reported.
void turn_parameter_lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// What stands around declarations of other languages, values, and signs in their statements, become ours and are reported.
void turn_foreign_heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);
void turn_foreign_values(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);
void turn_foreign_marks(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Declarations and statements of other languages are reported and left out.
void leave_out_foreign_lines(const Input& input, Tokens& tokens, Diagnostics& diagnostics);

// Functions without a name are reported and left out.
void leave_out_lambdas(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Several names in one declaration become one declaration each, and are reported.
void turn_declaration_lists(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Loops as C writes them become loops over a range, and are reported.
void turn_c_loops(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Spellings of other languages become ours, and are reported.
void turn_foreign_words(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);

// Heads of launches, and of loops that begin with how they run, become ours; launches without parentheses get them. Both are reported.
void turn_launch_heads(const Input& input, Tokens& tokens, const Patience& patience, Diagnostics& diagnostics);
void turn_bare_launches(const Input& input, Tokens& tokens, Diagnostics& diagnostics);

// Sets `is_unreadable` and reports it.
constexpr int kMostBrackets = 256;
void limit_nesting(const Input& input, Tokens& tokens, Diagnostics& diagnostics);

// May the word be a name? Those may that are keywords of some places alone, such as `shared`.
bool is_name(size_t type);

}  // namespace tilec::syntax
