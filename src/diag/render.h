// Diagnostics as text for people, as JSON for editors, as SARIF for code hosts, and their fixes as edited text.
// Nothing here trusts a span: one past the end of its file is clamped, one in an unknown file counts as nowhere.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"
#include "diag/sink.h"

namespace tilec {

struct TextStyle {
  bool has_color = false;
};

// `file:line:col: error: message [T0123]`, the marked source, then notes and helps. Columns count bytes from 1.
std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources, TextStyle style = {});
std::string render_text(std::span<const Diagnostic> diagnostics, const SourceMap& sources, TextStyle style = {});
std::string count_line(const Diagnostics& diagnostics);  // "2 errors, 1 warning", or "" when there are none

// One object and a line end for each diagnostic. Offsets count bytes from 0, lines and columns (in bytes) from 1.
std::string render_json(std::span<const Diagnostic> diagnostics, const SourceMap& sources);

// One SARIF 2.1.0 document. Its columns count code points.
std::string render_sarif(std::span<const Diagnostic> diagnostics, const SourceMap& sources, std::string_view version);

// One log of what was found in several files, each with sources of its own.
class SarifLog {
 public:
  SarifLog();
  ~SarifLog();
  void add(std::span<const Diagnostic> diagnostics, const SourceMap& sources);
  bool is_begun() const { return is_begun_; }
  std::string text(std::string_view version) const;

 private:
  struct Results;
  std::unique_ptr<Results> results_;
  bool is_begun_ = false;
};

// The text with the edits made. All edits are of this text's file. One that overlaps an earlier one is left out, and so
// is a second copy of the same edit; insertions at one place stand in the order given.
std::string apply_fixes(std::string_view text, std::span<const Fix> fixes);

struct FixedText {
  std::string text;
  int applied = 0, skipped = 0;  // helps, not edits
};
// Follows, for each diagnostic, its first help with edits; the edits of a help are made together or not at all. A help
// that touches another file, or what an earlier help has touched, is skipped.
FixedText apply_helps(std::string_view text, FileId file, std::span<const Diagnostic> diagnostics);

}  // namespace tilec
