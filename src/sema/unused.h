// Warnings about names that are declared and never used. Looks at the text alone, so that an instance in which a
// compile-time `if` is false does not count.
#pragma once
#include "syntax/ast.h"

namespace tilec {
class Diagnostics;
}

namespace tilec::sema {

void warn_unused(const Ast& ast, Diagnostics& diagnostics);

}  // namespace tilec::sema
