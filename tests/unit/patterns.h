// Regular expressions over texts of tests, behind a door of their own: whoever includes <regex> compiles for five seconds more.
#pragma once
#include <string>
#include <vector>

namespace tilec::testing {

std::string replaced(const std::string& text, const std::string& pattern, const std::string& with);  // every match
bool is_found(const std::string& text, const std::string& pattern);
// Of each match the whole of it and its groups.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern);

}  // namespace tilec::testing
