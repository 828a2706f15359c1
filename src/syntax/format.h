// The formatter: an AST back to text, in the one style of the language.
//   4 spaces of indentation, lines of at most 100 columns, one statement a line; a blank line between items stays one.
// Comments stay where they are; one inside a statement moves to the line before it. A block that was written on one
// line and holds at most one statement stays on one. Formatting twice changes nothing more, and the tree stays the
// same.
#pragma once
#include <string>

#include "base/source.h"
#include "syntax/ast.h"

namespace tilec {

// A file with mistakes comes back as it is.
std::string format(const Ast& ast, const SourceMap& sources);

}  // namespace tilec
