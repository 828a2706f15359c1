#include "diag/display.h"

#include <algorithm>
#include <iterator>

namespace tilec::diag {

namespace {

constexpr int kTab = 4;
constexpr char32_t kReplacement = 0xFFFD;
// A longer line is cut to kShown bytes, of which kBefore stand before the focus.
constexpr size_t kLongest = 200, kShown = 180, kBefore = 60;

struct Range {
  char32_t first, last;
};
constexpr Range kWide[] = {{0x1100, 0x115F}, {0x2E80, 0x303E},   {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
                           {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                           {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kCombining[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
// Controls, line and paragraph separators, and the marks that turn the writing direction.
constexpr Range kHidden[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x200E, 0x200F}, {0x2028, 0x202E},
                             {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};

template <size_t n>
bool is_in(const Range (&ranges)[n], char32_t point) {
  return std::any_of(ranges, ranges + n, [&](Range r) { return point >= r.first && point <= r.last; });
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view glyph(std::string_view text, size_t at, Decoded decoded) {
  return is_in(kHidden, decoded.point) ? std::string_view("\xEF\xBF\xBD") : text.substr(at, size_t(decoded.bytes));
}

}  // namespace

Decoded decode_utf8(std::string_view text, size_t at) {
  auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1};
  int bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + size_t(bytes) > text.size()) return {kReplacement, 1};
  char32_t point = lead & (0x7F >> bytes);
  for (int i = 1; i < bytes; ++i) {
    if (!continues(text[at + size_t(i)])) return {kReplacement, 1};
    point = point << 6 | (static_cast<unsigned char>(text[at + size_t(i)]) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // of a length: a shorter form exists below it
  bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < kLeast[bytes] || point > 0x10FFFF || is_surrogate) return {kReplacement, 1};
  return {point, bytes};
}

int column_width(char32_t point) {
  if (is_in(kCombining, point)) return 0;
  return is_in(kWide, point) ? 2 : 1;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    Decoded decoded = decode_utf8(text, i);
    bool is_space = text[i] == '\t' || text[i] == '\n';
    out += is_space ? std::string_view(" ") : glyph(text, i, decoded);
    i += size_t(decoded.bytes);
  }
  return out;
}

int DisplayLine::column(size_t byte) const {
  if (byte < first) return 0;
  return columns[std::min(byte - first, columns.size() - 1)];
}

DisplayLine display(std::string_view line, size_t focus) {
  DisplayLine out;
  size_t end = line.size();
  if (line.size() > kLongest) {
    out.first = std::min(focus > kBefore ? focus - kBefore : 0, line.size() - kShown);
    end = out.first + kShown;
    // A cut never falls inside a character, of at most four bytes.
    for (int i = 0; i < 3 && out.first > 0 && continues(line[out.first]); ++i) --out.first;
    for (int i = 0; i < 3 && end < line.size() && continues(line[end]); ++i) ++end;
  }
  int column = 0;
  if (out.first > 0) out.text = "...", column = 3;
  for (size_t i = out.first; i < end;) {
    Decoded decoded = decode_utf8(line.substr(0, end), i);
    bool is_tab = line[i] == '\t';
    out.columns.insert(out.columns.end(), size_t(decoded.bytes), column);
    int width = is_tab ? kTab - column % kTab : column_width(decoded.point);
    out.text += is_tab ? std::string(size_t(width), ' ') : std::string(glyph(line, i, decoded));
    column += width;
    i += size_t(decoded.bytes);
  }
  out.columns.push_back(column);
  if (end < line.size()) out.text += "...";
  return out;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++count) i += size_t(decode_utf8(text, i).bytes);
  return count;
}

}  // namespace tilec::diag
