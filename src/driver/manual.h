// The manual page and the completions of a shell, made of the same table of options as `--help`.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tilec {

// Shows `read` the table, with a verb's options below it.
void with_option_table(const std::function<void(const CLI::App&)>& read);

std::string manual_text();       // for man: troff
std::string completions_text();  // for bash, and for zsh with bashcompinit
std::string zsh_completions_text();   // of a folder in $fpath, as `_tilec`
std::string fish_completions_text();

}  // namespace tilec
