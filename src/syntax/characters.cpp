// Reads the characters of a file: which of them no text of ours has, and which are meant as ours.
#include "syntax/characters.h"

#include "TileLexer.h"
#include "diag/diag.h"

namespace tilec::syntax {
namespace {

using L = TileLexer;

// What word processors and formulas have in the place of signs of ours.
constexpr Lookalike kLookalikes[] = {
    {"–", "-", L::MINUS}, {"—", "-", L::MINUS}, {"−", "-", L::MINUS}, {"‐", "-", L::MINUS}, {"‑", "-", L::MINUS},
    {"×", "*", L::STAR}, {"∗", "*", L::STAR}, {"⋅", "*", L::STAR}, {"·", "*", L::STAR}, {"÷", "/", L::SLASH}, {"∕", "/", L::SLASH},
    {"≤", "<=", L::LESS_EQUAL}, {"≥", ">=", L::GREATER_EQUAL}, {"≠", "!=", L::NOT_EQUAL}, {"→", "->", L::ARROW}, {"…", "..", L::DOT_DOT},
    {"∧", "&&", L::AND_AND}, {"∨", "||", L::OR_OR}, {"¬", "!", L::NOT}, {"；", ";", L::SEMICOLON}, {"，", ",", L::COMMA}, {"：", ":", L::COLON},
    {"（", "(", L::LEFT_PAREN}, {"）", ")", L::RIGHT_PAREN}, {"［", "[", L::LEFT_BRACKET}, {"］", "]", L::RIGHT_BRACKET},
    {"｛", "{", L::LEFT_BRACE}, {"｝", "}", L::RIGHT_BRACE}, {"＝", "=", L::ASSIGN}, {"＋", "+", L::PLUS}, {"∞", "inf", L::INFINITE}};

struct Kind {
  uint32_t first, last;
  std::string_view name;
  bool has_width;
};
// What is seen as a blank, or not at all.
constexpr Kind kBlanks[] = {
    {0x00a0, 0x00a0, "a no-break space", true}, {0x00ad, 0x00ad, "a soft hyphen", false}, {0x2000, 0x200a, "a space of a certain width", true},
    {0x200b, 0x200b, "a space without width", false}, {0x200c, 0x200d, "a joiner of letters without width", false}, {0x200e, 0x200f, "a mark of direction", false},
    {0x2028, 0x2029, "a separator of lines", true}, {0x202a, 0x202e, "a mark of direction", false}, {0x202f, 0x202f, "a narrow no-break space", true}, {0x205f, 0x205f, "a space of formulas", true},
    {0x2060, 0x2064, "a joiner of words without width", false}, {0x2066, 0x2069, "a mark of direction", false}, {0x3000, 0x3000, "a wide space", true}, {0xfeff, 0xfeff, "a mark of byte order", false}};

struct Pair {
  std::string_view open, close;
};
constexpr Pair kQuotes[] = {{"“", "”"}, {"”", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"‘", "’"}, {"’", "’"}, {"‚", "‘"}, {"＂", "＂"}};

uint32_t code_at(std::string_view text, size_t at) {
  size_t length = character_length(text, at);
  if (length < 2) return uint8_t(text[at]);
  uint32_t code = uint8_t(text[at]) & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) code = code << 6 | (uint8_t(text[at + i]) & 0x3f);
  return code;
}

std::string hex_byte(char byte) {
  char text[8];
  std::snprintf(text, sizeof text, "0x%02X", unsigned(uint8_t(byte)));
  return text;
}

// What a file that is no text of ours looks like.
std::string_view kind_of_file(std::string_view text) {
  auto has_zeros_from = [&](size_t first) {
    size_t count = 0, most = std::min<size_t>(text.size(), 64);
    for (size_t i = first; i < most; i += 2) count += text[i] == 0;
    return most > 3 && count * 4 >= most;
  };
  if (text.starts_with("\x7f" "ELF")) return "an object: `tilec inspect` says what is in it";
  if (text.starts_with("!<arch>")) return "a library of objects";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || has_zeros_from(1) || has_zeros_from(0)) return "UTF-16: save it as UTF-8";
  return "no text";
}

}  // namespace

size_t character_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return at + i < text.size() ? uint8_t(text[at + i]) : 0; };
  auto follows = [&](size_t count) {
    for (size_t i = 1; i <= count; ++i)
      if ((byte(i) & 0xc0) != 0x80) return false;
    return true;
  };
  uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    bool is_overlong = first == 0xe0 && byte(1) < 0xa0, is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return follows(2) && !is_overlong && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    bool is_overlong = first == 0xf0 && byte(1) < 0x90, is_too_large = first == 0xf4 && byte(1) >= 0x90;
    return follows(3) && !is_overlong && !is_too_large ? 4 : 0;
  }
  return 0;
}

bool report_encoding(const Input& input, Diagnostics& diagnostics) {
  for (size_t at = 0; at < input.text.size();) {
    size_t length = character_length(input.text, at);
    if (length == 0) {
      diagnostics.at(input.span(at, at + 1)).error(diag::InvalidUtf8, hex_byte(input.text[at]));
      return true;
    }
    at += length;
  }
  return false;
}

bool report_control(const Input& input, Diagnostics& diagnostics) {
  auto is_control = [](char c) { return (uint8_t(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7f; };
  size_t at = size_t(std::ranges::find_if(input.text, is_control) - input.text.begin());
  if (at == input.text.size()) return false;
  std::string help = "the file is not read: it is " + std::string(kind_of_file(input.text));
  diagnostics.at(input.span(at, at + 1)).error(diag::UnknownCharacter, hex_byte(input.text[at])).help(std::move(help));
  return true;
}

const Lookalike* lookalike_at(std::string_view text, size_t at) {
  auto found = std::ranges::find_if(kLookalikes, [&](const Lookalike& one) { return text.substr(at).starts_with(one.theirs); });
  return found == std::end(kLookalikes) ? nullptr : found;
}

std::optional<Blank> blank_at(std::string_view text, size_t at) {
  size_t length = at < text.size() ? character_length(text, at) : 0;
  if (length < 2) return std::nullopt;
  uint32_t code = code_at(text, at);
  auto found = std::ranges::find_if(kBlanks, [&](const Kind& kind) { return kind.first <= code && code <= kind.last; });
  if (found == std::end(kBlanks)) return std::nullopt;
  char number[16];
  std::snprintf(number, sizeof number, "U+%04X", unsigned(code));
  return Blank{length, number, found->name, found->has_width ? " " : ""};
}

std::optional<Quoted> quoted_at(std::string_view text, size_t at) {
  std::string_view line = text.substr(at, text.substr(at).find('\n'));
  std::optional<Quoted> nearest;
  for (const Pair& pair : kQuotes) {
    size_t close = line.starts_with(pair.open) ? line.find(pair.close, pair.open.size()) : line.npos;
    if (close == line.npos || (nearest && at + close + pair.close.size() >= nearest->end)) continue;
    bool is_single = pair.close == "’" || pair.close == "‘";
    nearest = Quoted{line.substr(pair.open.size(), close - pair.open.size()), at + close + pair.close.size(), is_single};
  }
  return nearest;
}

}  // namespace tilec::syntax
