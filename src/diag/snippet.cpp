// Draws the marked lines of one file.
//   - every line that a mark begins or ends on is shown; a gap of one line is filled, a longer one is "..."
//   - a mark over several lines is drawn on its first and its last line, with its label at the last
//   - below a line stands one row of underlines; the rightmost label follows on that row, the others hang below theirs
#include "diag/snippet.h"

#include <algorithm>
#include <map>
#include <vector>

#include "diag/display.h"

namespace tilec::diag {

namespace {

// The part of a mark on one line, in bytes of that line.
struct Segment {
  size_t begin, end;
  std::string_view label;
  Ink ink;
  char line;
};
using Lines = std::map<int, std::vector<Segment>>;

// The same in columns as printed; never empty.
struct Underline {
  int begin, end;
  const Segment* segment;
};

// ASCII characters with an ink each.
struct Strip {
  std::string letters;
  std::vector<Ink> inks;
  void put(int column, char letter, Ink ink) {
    if (size_t(column) >= letters.size()) {
      letters.resize(size_t(column) + 1, ' ');
      inks.resize(letters.size(), Ink::Plain);
    }
    letters[size_t(column)] = letter;
    inks[size_t(column)] = ink;
  }
  std::string text(bool has_color) const {
    std::string out;
    for (size_t i = 0; i < letters.size();) {
      size_t end = i;
      while (end < letters.size() && inks[end] == inks[i]) ++end;
      out += paint(std::string_view(letters).substr(i, end - i), inks[i], has_color);
      i = end;
    }
    return out;
  }
};

Lines lines_of(std::span<const SnippetMark> marks, const SourceMap& sources) {
  Lines lines;
  for (const SnippetMark& mark : marks) {
    Extent where = extent(mark.span, sources);
    auto [first, last] = std::pair(where.first, where.last);
    size_t begin = size_t(first.column - 1), end = size_t(last.column - 1);
    if (first.line == last.line) {
      lines[first.line].push_back({begin, end, mark.label, mark.ink, mark.line});
      continue;
    }
    std::string_view head = sources.line(mark.span.file, first.line), tail = sources.line(mark.span.file, last.line);
    size_t indent = std::min(tail.find_first_not_of(" \t"), end);
    lines[first.line].push_back({begin, std::max(begin, head.size()), {}, mark.ink, mark.line});
    lines[last.line].push_back({indent, end, mark.label, mark.ink, mark.line});
  }
  return lines;
}

std::string gutter(std::string_view number, size_t width, bool has_color) {
  std::string pad(width - number.size() + 1, ' ');
  return paint(pad + std::string(number) + " |", Ink::Gutter, has_color);
}

std::vector<Underline> underlines_of(const std::vector<Segment>& segments, const DisplayLine& line) {
  std::vector<Underline> out;
  for (const Segment& segment : segments) {
    int begin = line.column(segment.begin), end = line.column(segment.end);
    out.push_back({begin, std::max(begin + 1, end), &segment});
  }
  return out;
}

// The rows below a line, without the gutter.
std::vector<std::string> rows_below(std::vector<Underline> underlines, bool has_color) {
  // Shorter ones are drawn over longer ones, so that parts show within a whole; of equals the main mark wins.
  std::ranges::stable_sort(underlines, {}, [](const Underline& u) {
    return std::pair(u.begin - u.end, u.segment->ink != Ink::Second);
  });
  Strip strip;
  for (const Underline& u : underlines)
    for (int column = u.begin; column < u.end; ++column) strip.put(column, u.segment->line, u.segment->ink);

  std::erase_if(underlines, [](const Underline& u) { return u.segment->label.empty(); });
  std::ranges::stable_sort(underlines, std::greater{}, [](const Underline& u) { return std::pair(u.begin, u.end); });
  std::vector<std::string> rows{strip.text(has_color)};
  auto label = [&](const Underline& u) { return paint(printable(u.segment->label), u.segment->ink, has_color); };
  size_t next = 0;
  if (!underlines.empty() && size_t(underlines[0].end) == strip.letters.size())
    rows[0] += " " + label(underlines[next++]);
  for (; next < underlines.size(); ++next) {
    Strip stems;
    for (size_t other = next + 1; other < underlines.size(); ++other)
      if (underlines[other].begin < underlines[next].begin)
        stems.put(underlines[other].begin, '|', underlines[other].segment->ink);
    int column = underlines[next].begin;
    std::string gap(size_t(column) - stems.letters.size(), ' ');
    rows.push_back(stems.text(has_color) + gap + label(underlines[next]));
  }
  return rows;
}

std::string with_gutter(std::string gutter, std::string_view text) {
  if (!text.empty()) gutter += " ";
  return gutter.append(text).append("\n");
}

std::string marked_line(std::string_view line, int number, const std::vector<Segment>& segments, size_t width,
                        bool has_color) {
  const Segment* focus = nullptr;
  for (const Segment& segment : segments)
    if (!focus || (focus->ink == Ink::Second && segment.ink != Ink::Second)) focus = &segment;
  DisplayLine shown = display(line, focus ? focus->begin : 0);
  std::string out = with_gutter(gutter(std::to_string(number), width, has_color), shown.text);
  if (segments.empty()) return out;
  for (const std::string& row : rows_below(underlines_of(segments, shown), has_color))
    out += with_gutter(gutter("", width, has_color), row);
  return out;
}

}  // namespace

std::string paint(std::string_view text, Ink ink, bool has_color) {
  constexpr std::string_view kCodes[] = {"", "1", "1;31", "1;35", "1;34", "1;36", "1;32", "34", "1;31", "36"};
  if (!has_color || ink == Ink::Plain || text.empty()) return std::string(text);
  return "\x1b[" + std::string(kCodes[size_t(ink)]) + "m" + std::string(text) + "\x1b[0m";
}

Ink ink_of(Severity severity) {
  constexpr Ink kInks[] = {Ink::Error, Ink::Warning, Ink::Remark, Ink::Note};
  return kInks[size_t(severity)];
}

bool is_known(Span span, const SourceMap& sources) { return span.valid() && span.file.index < sources.size(); }

Extent extent(Span span, const SourceMap& sources) {
  auto size = uint32_t(sources.text(span.file).size());
  uint32_t begin = std::min(span.begin, size), end = std::clamp(span.end, begin, size);
  Extent out{{span.file, begin, end}, sources.place(span.file, begin), {}};
  out.last = sources.place(span.file, end > begin ? end - 1 : end);
  if (end > begin) ++out.last.column;
  return out;
}

std::string location(Span span, const SourceMap& sources) {
  LineColumn place = extent(span, sources).first;
  return printable(sources.name(span.file)) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string snippet(std::span<const SnippetMark> marks, const SourceMap& sources, bool has_color) {
  if (marks.empty()) return {};
  FileId file = marks[0].span.file;
  Lines lines = lines_of(marks, sources);
  size_t width = std::to_string(lines.rbegin()->first).size();
  std::string out;
  int before = lines.begin()->first;
  for (const auto& [number, segments] : lines) {
    if (number == before + 2) out += marked_line(sources.line(file, before + 1), before + 1, {}, width, has_color);
    if (number > before + 2) out += paint(std::string(width + 1, ' ') + "...", Ink::Gutter, has_color) + "\n";
    out += marked_line(sources.line(file, number), number, segments, width, has_color);
    before = number;
  }
  return out;
}

}  // namespace tilec::diag
