// `@file` on the command line stands for the words in the file.
#pragma once
#include <string>
#include <vector>

namespace tilec {

struct ExpandedWords {
  std::vector<std::string> words;
  std::string unreadable, why;  // a file that could not be read; empty: all is well
};
// Words are separated by white space; quotes of either kind keep it, a backslash keeps the character behind it. A file may
// name further files, relative to the folder that the command runs in.
ExpandedWords expand_option_files(const std::vector<std::string>& words);

}  // namespace tilec
