// Small text helpers.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilec {

std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
bool starts_with_word(std::string_view text, std::string_view word);
std::string quoted(std::string_view text);  // "text" with C escapes
// The word of `words` nearest to `word` by edit distance, or "" when none is near enough to be a slip of the pen.
std::string_view nearest(std::string_view word, std::span<const std::string_view> words);

}  // namespace tilec
