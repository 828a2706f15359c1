// What a function returns, by its text.
#pragma once
#include <set>
#include <string_view>

#include "syntax/ast.h"

namespace tilec::judge {

// A number: not a tile, and not nothing.
bool gives_number(const ast::Fn& fn);
// Is the parameter given anything behind a return, or in a loop that has one? Else what returns early has nothing to do with what is left of it.
bool is_given_behind_return(const ast::Fn& fn, std::string_view parameter);
// Which of its results is returned, and what is left of a parameter, is decided where it runs.
bool returns_early(const ast::Fn& fn);
// The names of which its result is made, on whatever way: those of what it returns, of conditions that tell whether it does, and of what these are made of.
// With a parameter's name, of what that is left as, too.
std::set<std::string_view> sources_of_result(const ast::Fn& fn, std::string_view parameter = {});

}  // namespace tilec::judge
