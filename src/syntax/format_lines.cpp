// Marks of places to break, and the breaking.
#include "syntax/format_parts.h"

namespace tilec::syntax {
namespace {

constexpr char kSpace = '\x01', kEmpty = '\x02';  // followed by a character for the level
constexpr int kMaxLevel = 200;
constexpr size_t kWidth = 100;

std::string mark(char kind, int level) { return {kind, char('\x03' + std::min(level, kMaxLevel))}; }
bool is_mark(char c) { return c == kSpace || c == kEmpty; }

}  // namespace

std::string space_mark(int level) { return mark(kSpace, level); }
std::string empty_mark(int level) { return mark(kEmpty, level); }

std::string flat(std::string_view marked) {
  std::string text;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (!is_mark(marked[i])) text += marked[i];
    else if (marked[i++] == kSpace) text += ' ';
  }
  return text;
}

std::string without_marks(std::string_view marked) {
  std::string text(marked);
  for (size_t i = 0; i + 1 < text.size(); ++i)
    if (is_mark(marked[i])) text[i] = ' ', text[i + 1] = ' ', ++i;
  return text;
}

std::string broken(std::string_view marked, int indent, int more) {
  std::string lines;
  for (int column = indent;; column = indent + more) {
    lines.append(size_t(column), ' ');
    std::string rest = flat(marked);
    if (size_t(column) + rest.size() <= kWidth) return lines + rest;
    size_t best = marked.size();
    int best_level = kMaxLevel + 1;
    size_t width = size_t(column);
    for (size_t i = 0; i < marked.size(); ++i) {
      if (!is_mark(marked[i])) {
        ++width;
        continue;
      }
      int level = uint8_t(marked[i + 1]) - '\x03';
      bool is_usable = i > 0 && (width <= kWidth || best == marked.size());
      if (is_usable && level <= best_level) best = i, best_level = level;
      width += marked[i++] == kSpace;
    }
    if (best == marked.size()) return lines + rest;
    lines += flat(marked.substr(0, best)) + "\n";
    marked.remove_prefix(best + 2);
  }
}

}  // namespace tilec::syntax
