// Which names C and C++ have already, and how arguments are spelled beside them: in the header, the manifest and C text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tilec::target {

// A keyword, a macro without arguments, or a name that begins as ours or C's own do: it can name nothing.
bool is_word_of_c(std::string_view name);
// What the run time's names begin with, `tile_`, where this name does as well; otherwise empty.
std::string_view beginning_of_run_time(std::string_view name);
// A function, a type, a variable or a macro with arguments: no function of ours can be called so.
bool is_declared_by_c(std::string_view name);

// Names of a function's parameters and dims as arguments: the same, or with what keeps them apart from C's words, from what
// a header adds and from each other.
std::vector<std::string> argument_names(const std::vector<std::string>& names);

}  // namespace tilec::target
