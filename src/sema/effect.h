// Does an expression do anything but give a value?
#pragma once
#include "sema/module.h"

namespace tilec::sema {

// Looks at the text alone. Functions of the file count as doing something; those of the library do where they change an argument.
bool has_effect(const ast::Expr& expr, const Module& file, const Modules& modules);

}  // namespace tilec::sema
