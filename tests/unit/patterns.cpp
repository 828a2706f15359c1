#include "patterns.h"

#include <regex>

namespace tilec::testing {

std::string replaced(const std::string& text, const std::string& pattern, const std::string& with) {
  return std::regex_replace(text, std::regex(pattern), with);
}

bool is_found(const std::string& text, const std::string& pattern) { return std::regex_search(text, std::regex(pattern)); }

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) all.emplace_back(at->begin(), at->end());
  return all;
}

}  // namespace tilec::testing
