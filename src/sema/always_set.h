// Variables without a first value that every path sets before it reads them, though loops and early exits lie between. What becomes of
// these is flags, behind which a path that is never taken seems to be open: such a variable begins with zeros that nobody reads.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// A variable that has just been declared, with the statements behind it.
void begin_with_zeros_if_always_set(Instance& in, const ast::Var& node, std::span<const ast::Stmt* const> rest);
// The `out` parameters of a function that is about to run: numbers and fragments.
void begin_with_zeros_if_always_set(Instance& in, const ast::Fn& fn);

}  // namespace tilec::sema
