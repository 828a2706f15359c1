// Text to AST. The only way in; nobody else sees the parser generator behind it.
#pragma once
#include "base/source.h"
#include "syntax/ast.h"

namespace tilec {

class Diagnostics;

// Parses one file of `sources`, which must outlive the result. Mistakes go to `diagnostics`, several in one run; what
// could be understood comes back in any case, with `has_errors` set when something was left out. Never throws.
Ast parse(FileId file, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace tilec
