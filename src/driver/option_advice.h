// What is meant by options and targets of other compilers, and by slips in ours.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace tilec {

// The line under "there is no option WORD"; empty where nothing like it is known.
std::string help_for_option(std::string_view word, const CLI::App& verb);
// Of a target that is none, by a name that it has elsewhere.
std::string_view help_for_foreign_target(std::string_view name);
// What `tilec` alone says.
extern const char* const kWithoutInput;

}  // namespace tilec
