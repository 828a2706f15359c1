#include "driver/option_files.h"

#include <cctype>

#include "driver/files.h"

namespace tilec {

namespace {

constexpr int kDeepest = 16;  // files in files; more is a file that names itself

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool is_open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      is_open = false;
      continue;
    }
    if (!is_open) words.emplace_back();
    is_open = true;
    if (c == quote) quote = 0;
    else if (!quote && (c == '"' || c == '\'')) quote = c;
    else if (c == '\\' && i + 1 < text.size()) words.back() += text[++i];
    else words.back() += c;
  }
  return words;
}

void expand(const std::vector<std::string>& words, int depth, ExpandedWords& out) {
  for (const std::string& word : words) {
    if (!out.unreadable.empty()) return;
    if (word.size() < 2 || word[0] != '@') {
      out.words.push_back(word);
      continue;
    }
    std::string path = word.substr(1), why;
    auto text = depth < kDeepest ? read_file(path, why) : std::nullopt;
    if (text) expand(words_of(*text), depth + 1, out);
    else out.unreadable = path, out.why = depth < kDeepest ? why : "option files name each other without end";
  }
}

}  // namespace

ExpandedWords expand_option_files(const std::vector<std::string>& words) {
  ExpandedWords out;
  expand(words, 0, out);
  return out;
}

}  // namespace tilec
