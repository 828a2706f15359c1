#include "diag/sink.h"

#include "diag/catalogue.h"
#include "diag/diag.h"

namespace tilec {

Diagnostic* Report::target() { return is_dropped() ? nullptr : &sink_->all_[index_]; }

Report& Report::label(std::string_view text) {
  if (Diagnostic* diagnostic = target()) diagnostic->label = text;
  return *this;
}

Report& Report::mark(Span span, std::string_view label) {
  if (Diagnostic* diagnostic = target()) diagnostic->marks.push_back({span, std::string(label)});
  return *this;
}

Report& Report::add_note(Span span, const diag::Row& row, std::initializer_list<diag::Argument> arguments) {
  if (Diagnostic* diagnostic = target()) diagnostic->notes.push_back({span, diag::format(row.text, {arguments})});
  return *this;
}

Report& Report::help(std::string_view text) {
  if (Diagnostic* diagnostic = target()) diagnostic->helps.push_back({std::string(text), {}});
  return *this;
}

Report& Report::fix(Span span, std::string_view replacement, std::string_view help_text) {
  return fix(std::vector<Fix>{{span, std::string(replacement)}}, help_text);
}

Report& Report::fix(std::vector<Fix> fixes, std::string_view help_text) {
  if (Diagnostic* diagnostic = target()) diagnostic->helps.push_back({std::string(help_text), std::move(fixes)});
  return *this;
}

bool Diagnostics::wants(RemarkGroup group) const {
  return policy_.all_remarks || policy_.remarks.contains(diag::flag_of(group));
}

Report Diagnostics::add(Span span, const diag::Row& row, std::initializer_list<diag::Argument> arguments) {
  Policy::Verdict verdict = policy_.judge(row);
  if (!verdict.is_shown) return {*this, Report::kDropped};
  return add(Diagnostic{.code = row.code, .name = row.name, .flag = row.flag, .severity = verdict.severity,
                        .span = span, .message = diag::format(row.text, {arguments})});
}

Report Diagnostics::add(Diagnostic diagnostic) {
  // Without a place only the text tells two of a code apart.
  if (diagnostic.span.valid()) {
    Key key{diagnostic.code, diagnostic.span.file, diagnostic.span.begin, diagnostic.span.end,
            diagnostic.severity == Severity::Remark ? diagnostic.message : ""};
    if (!seen_.insert(key).second) return {*this, Report::kDropped};
  }
  if (diagnostic.severity == Severity::Warning) ++warning_count_;
  if (diagnostic.severity == Severity::Error) {
    int limit = policy_.error_limit;
    ++error_count_;
    if (limit > 0 && error_count_ > limit + 1) return {*this, Report::kDropped};
    if (limit > 0 && error_count_ == limit + 1) {
      const diag::Row& row = diag::TooManyErrors.row;
      std::vector<diag::Argument> arguments{diag::argument(int64_t(limit))};
      all_.push_back({.code = row.code, .name = row.name, .message = diag::format(row.text, arguments)});
      return {*this, Report::kDropped};
    }
  }
  all_.push_back(std::move(diagnostic));
  return {*this, all_.size() - 1};
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& diagnostic : other.all_)
    if (diagnostic.code != diag::TooManyErrors.row.code) add(diagnostic);
}

}  // namespace tilec
