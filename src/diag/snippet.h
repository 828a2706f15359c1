// Source lines with their numbers and the marks below them.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"
#include "diag/sink.h"

namespace tilec::diag {

// How parts of the output look; nothing but ANSI colours depends on it.
enum class Ink : uint8_t { Plain, Bold, Error, Warning, Remark, Note, Help, Gutter, Main, Second };
std::string paint(std::string_view text, Ink ink, bool has_color);
Ink ink_of(Severity severity);

// Where a span lies once it has been clamped to its file. The last line is that of the last byte, not of the end.
struct Extent {
  Span span;
  LineColumn first, last;  // `last.column` is one past the end
};
bool is_known(Span span, const SourceMap& sources);
Extent extent(Span span, const SourceMap& sources);  // of a known span
std::string location(Span span, const SourceMap& sources);  // "file:line:col"

struct SnippetMark {
  Span span;  // all in one file, known
  std::string_view label;
  Ink ink = Ink::Second;
  char line = '-';
};
std::string snippet(std::span<const SnippetMark> marks, const SourceMap& sources, bool has_color);

// The lines that the edits of a help touch, as they will read.
std::string preview(std::span<const Fix> fixes, const SourceMap& sources, bool has_color);

}  // namespace tilec::diag
