// An AST as text: one line a declaration or statement, indented, expressions in prefix form. For `--emit=ast`, goldens
// and for comparing trees: two files that mean the same to the compiler give the same text.
#pragma once
#include <string>

#include "syntax/ast.h"

namespace tilec {

std::string dump(const Ast& ast);
std::string dump(const ast::Expr& expr);
std::string dump(const ast::Type& type);

}  // namespace tilec
