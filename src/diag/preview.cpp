// What a help would make of the source: edits within one line are shown as the new line with the new text underlined,
// others as lines taken out and lines put in.
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "diag/display.h"
#include "diag/render.h"
#include "diag/snippet.h"

namespace tilec::diag {

namespace {

constexpr size_t kMostLines = 6;  // of either side

// The whole lines that the edits touch, as one span.
Span lines_around(std::span<const Fix> fixes, const SourceMap& sources) {
  Span all = extent(fixes[0].span, sources).span;
  for (const Fix& fix : fixes) all = cover(all, extent(fix.span, sources).span);
  std::string_view text = sources.text(all.file);
  size_t begin = all.begin == 0 ? std::string_view::npos : text.rfind('\n', all.begin - 1);
  size_t end = text.find('\n', all.end);
  all.begin = begin == text.npos ? 0 : uint32_t(begin) + 1;
  all.end = uint32_t(end == text.npos ? text.size() : end);
  return all;
}

std::vector<Fix> moved_to(Span lines, std::span<const Fix> fixes, const SourceMap& sources) {
  std::vector<Fix> out;
  for (const Fix& fix : fixes) {
    Span span = extent(fix.span, sources).span;
    out.push_back({{span.file, span.begin - lines.begin, span.end - lines.begin}, fix.replacement});
  }
  std::ranges::stable_sort(out, {}, [](const Fix& fix) { return std::pair(fix.span.begin, fix.span.end); });
  return out;
}

bool is_within_a_line(std::string_view old_text, std::span<const Fix> fixes) {
  bool adds = false, breaks = old_text.find('\n') != old_text.npos;
  for (const Fix& fix : fixes) {
    adds |= !fix.replacement.empty();
    breaks |= fix.replacement.find('\n') != fix.replacement.npos;
  }
  return adds && !breaks;
}

std::string lines_with(char sign, std::span<const std::string> lines, Ink ink, bool has_color) {
  std::string out;
  for (size_t i = 0; i < lines.size() && i < kMostLines; ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    out += paint("  " + std::string(1, sign) + " " + display(line, 0).text, ink, has_color) + "\n";
  }
  if (lines.size() > kMostLines) out += paint("  " + std::string(1, sign) + " ...", ink, has_color) + "\n";
  return out;
}

// The lines that differ: common ones at the beginning and at the end are left out.
std::string difference(std::string_view old_text, std::string_view new_text, bool has_color) {
  std::vector<std::string> old_lines = split(old_text, '\n'), new_lines = split(new_text, '\n');
  std::span<const std::string> before = old_lines, after = new_lines;
  while (!before.empty() && !after.empty() && before.back() == after.back())
    before = before.first(before.size() - 1), after = after.first(after.size() - 1);
  while (!before.empty() && !after.empty() && before[0] == after[0])
    before = before.subspan(1), after = after.subspan(1);
  return lines_with('-', before, Ink::Error, has_color) + lines_with('+', after, Ink::Help, has_color);
}

// The new text is a file of its own, padded with line ends so that its line number is right.
std::string new_line(const std::string& new_text, std::span<const Fix> fixes, int line, bool has_color) {
  SourceMap after;
  std::string padding(size_t(line - 1), '\n');
  FileId file = after.add("", padding + new_text);
  std::vector<SnippetMark> marks;
  uint32_t end_before = 0;
  int64_t shift = int64_t(padding.size());
  for (const Fix& fix : fixes) {
    if (fix.span.begin < end_before) continue;
    end_before = fix.span.end;
    uint32_t at = uint32_t(fix.span.begin + shift), size = uint32_t(fix.replacement.size());
    if (size) marks.push_back({{file, at, at + size}, {}, Ink::Help, fix.span.begin == fix.span.end ? '+' : '~'});
    shift += int64_t(size) - int64_t(fix.span.end - fix.span.begin);
  }
  return snippet(marks, after, has_color);
}

}  // namespace

std::string preview(std::span<const Fix> fixes, const SourceMap& sources, bool has_color) {
  for (const Fix& fix : fixes)
    if (!is_known(fix.span, sources) || fix.span.file != fixes[0].span.file) return {};
  if (fixes.empty()) return {};
  Span lines = lines_around(fixes, sources);
  std::string_view old_text = sources.text(lines);
  std::vector<Fix> moved = moved_to(lines, fixes, sources);
  std::string new_text = apply_fixes(old_text, moved);
  if (!is_within_a_line(old_text, moved)) return difference(old_text, new_text, has_color);
  return new_line(new_text, moved, sources.place(lines).line, has_color);
}

}  // namespace tilec::diag
