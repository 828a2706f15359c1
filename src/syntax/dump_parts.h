// The parts of a dumped line; inside the folder only.
#pragma once
#include <string>
#include <vector>

#include "syntax/ast.h"

namespace tilec {

std::string dump_name(const ast::Name& name);                        // `?` for one that is missing
std::string dump_names(const std::vector<ast::Name>& names);        // a, b
std::string dump_path(const std::vector<ast::Name>& path);          // a.b
std::string dump_pattern(const ast::Pattern& pattern);              // a or (a, b)
std::string dump_argument(const ast::Argument& argument);           // value or name = value
std::string dump_arguments(const std::vector<ast::Argument>& list);  // " a b = 1", with a space before each

}  // namespace tilec
