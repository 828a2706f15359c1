#include <algorithm>
#include <vector>

#include "diag/display.h"
#include "diag/render.h"
#include "diag/snippet.h"

namespace tilec {

using namespace diag;

namespace {

// "[T0100]", or with the flag that governs it: "[T0700, -Wunproved-race]".
std::string code_of(const Diagnostic& diagnostic) {
  std::string out = " [" + std::string(diagnostic.code);
  constexpr std::string_view kPrefix[] = {", -Werror=", ", -W", ", -R ", ""};
  if (!diagnostic.flag.empty()) out.append(kPrefix[size_t(diagnostic.severity)]).append(diagnostic.flag);
  return out + "]";
}

std::string head(Span span, std::string_view word, Ink ink, std::string_view message, const SourceMap& sources,
                 TextStyle style) {
  std::string out;
  if (is_known(span, sources)) out = paint(location(span, sources) + ": ", Ink::Bold, style.has_color);
  return out + paint(std::string(word) + ":", ink, style.has_color) + " " + printable(message);
}

std::string note_text(const Note& note, const SourceMap& sources, TextStyle style) {
  std::string out = head(note.span, "note", Ink::Note, note.message, sources, style) + "\n";
  SnippetMark mark{note.span, {}, Ink::Note, '^'};
  return is_known(note.span, sources) ? out + snippet({&mark, 1}, sources, style.has_color) : out;
}

// The marks in the main span's file belong to the first snippet; a mark elsewhere is shown as a note.
bool is_beside(const Diagnostic& diagnostic, const Mark& mark, const SourceMap& sources) {
  return is_known(diagnostic.span, sources) && mark.span.file == diagnostic.span.file;
}

std::string main_snippet(const Diagnostic& diagnostic, const SourceMap& sources, TextStyle style) {
  if (!is_known(diagnostic.span, sources)) return {};
  std::vector<SnippetMark> marks{{diagnostic.span, diagnostic.label, Ink::Main, '^'}};
  for (const Mark& mark : diagnostic.marks) {
    if (!is_beside(diagnostic, mark, sources)) continue;
    if (mark.span == diagnostic.span && marks[0].label.empty()) marks[0].label = mark.label;
    else marks.push_back({mark.span, mark.label});
  }
  return snippet(marks, sources, style.has_color);
}

}  // namespace

std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources, TextStyle style) {
  std::string word(name(diagnostic.severity));
  std::string out = is_known(diagnostic.span, sources) ? "" : paint("tilec: ", Ink::Bold, style.has_color);
  out += head(diagnostic.span, word, ink_of(diagnostic.severity), diagnostic.message, sources, style);
  out += paint(code_of(diagnostic), Ink::Gutter, style.has_color) + "\n";
  out += main_snippet(diagnostic, sources, style);
  for (const Mark& mark : diagnostic.marks)
    if (!is_beside(diagnostic, mark, sources))
      out += note_text({mark.span, mark.label.empty() ? "here" : mark.label}, sources, style);
  for (const Note& note : diagnostic.notes) out += note_text(note, sources, style);
  for (const Help& help : diagnostic.helps) {
    out += paint("help:", Ink::Help, style.has_color) + " " + printable(help.text) + "\n";
    out += preview(help.fixes, sources, style.has_color);
  }
  return out;
}

std::string render_text(std::span<const Diagnostic> diagnostics, const SourceMap& sources, TextStyle style) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += render_text(diagnostic, sources, style);
  return out;
}

std::string count_line(const Diagnostics& diagnostics) {
  auto count = [](int n, std::string_view noun) {
    return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
  };
  std::string out = diagnostics.error_count() ? count(diagnostics.error_count(), "error") : "";
  if (!diagnostics.warning_count()) return out;
  return out + (out.empty() ? "" : ", ") + count(diagnostics.warning_count(), "warning");
}

}  // namespace tilec
