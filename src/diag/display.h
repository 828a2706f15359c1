// Source text made fit for a terminal: tabs are expanded, what would move the cursor or turn the writing direction is
// replaced, and every byte knows its column.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilec::diag {

struct Decoded {
  char32_t point;  // U+FFFD for a byte that begins no character
  int bytes;       // 1 for such a byte
};
Decoded decode_utf8(std::string_view text, size_t at);
int column_width(char32_t point);  // 0, 1 or 2

// `text` on one line, every hidden or control character replaced.
std::string printable(std::string_view text);

// A line, or the part of a very long line around `focus`, as printed.
struct DisplayLine {
  std::string text;
  size_t first = 0;          // the byte of the line that is shown first
  std::vector<int> columns;  // of the bytes shown, and the one after
  // The column where a byte of the line is shown. One outside the shown part has the column of its edge.
  int column(size_t byte) const;
};
DisplayLine display(std::string_view line, size_t focus);

// How many characters `text` has; a byte of no character counts as one.
size_t count_characters(std::string_view text);

}  // namespace tilec::diag
