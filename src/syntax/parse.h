// Text to AST. The only way in; nobody else sees the parser generator behind it.
#pragma once
#include "base/source.h"
#include "syntax/ast.h"

namespace tilec {

class Diagnostics;

// Mended: what looks like another language's syntax is reported, and read as what was meant. AsWritten: not so where the text is one of the
// language as it stands, for `(half) - 1.0` is a difference as well.
enum class Reading : uint8_t { Mended, AsWritten };

// Parses one file of `sources`, which must outlive the result. Mistakes go to `diagnostics`, several in one run; what
// could be understood comes back in any case, with `has_errors` set when something was left out. Never throws.
Ast parse(FileId file, const SourceMap& sources, Diagnostics& diagnostics, Reading reading = Reading::Mended);

// The tokens of a text, comments too, a line each: type, first byte, last byte, line and column. Both ways give the same: Grammar asks the
// generated lexer alone, Quick reads what is plain by itself, as `parse` does.
enum class Lexing : uint8_t { Grammar, Quick };
// Where the tokens of a text stand, comments left out.
struct TextRange {
  uint32_t begin, end;
};
std::vector<TextRange> token_ranges(std::string_view text);

std::string tokens_text(std::string_view text, Lexing way);

}  // namespace tilec
