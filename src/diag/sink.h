// The sink of diagnostics: it collects what the floors report; renderers (render.h) show it.
#pragma once
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/source.h"
#include "diag/message.h"
#include "diag/policy.h"

namespace tilec {

// A labelled span beside the main one.
struct Mark {
  Span span;
  std::string label;
};
struct Note {
  Span span;  // may be nowhere
  std::string message;
};
// One edit of the source; a span of length 0 is an insertion.
struct Fix {
  Span span;
  std::string replacement;
};
// Advice in words, with the edits (all or none of them) that follow it.
struct Help {
  std::string text;
  std::vector<Fix> fixes;
};

// One diagnostic as plain data. The views are into the catalogue and live for ever.
struct Diagnostic {
  std::string_view code = {}, name = {}, flag = {};
  Severity severity = Severity::Error;  // as judged: a warning under -Werror is an Error with a flag
  Span span = {};                       // may be nowhere
  std::string message = {};
  std::string label = {};  // stands at the main span
  std::vector<Mark> marks = {};
  std::vector<Note> notes = {};
  std::vector<Help> helps = {};
};

class Diagnostics;

// What has just been reported, for more to be said about it. Saying more about one that was dropped does nothing.
class Report {
 public:
  Report& label(std::string_view text);                 // at the main span
  Report& mark(Span span, std::string_view label = {});
  template <class... Args>
  Report& note(Span span, const diag::Message<Severity::Note, Args...>& message, std::type_identity_t<Args>... args) {
    return add_note(span, message.row, {diag::argument(args)...});
  }
  Report& help(std::string_view text);
  Report& fix(Span span, std::string_view replacement, std::string_view help_text);
  Report& fix(std::vector<Fix> fixes, std::string_view help_text);  // several edits that belong together
  bool is_dropped() const { return index_ == kDropped; }

 private:
  friend class Diagnostics;
  static constexpr size_t kDropped = ~size_t(0);
  Report(Diagnostics& sink, size_t index) : sink_(&sink), index_(index) {}
  Report& add_note(Span span, const diag::Row& row, std::initializer_list<diag::Argument> arguments);
  Diagnostic* target();
  Diagnostics* sink_;
  size_t index_;
};

// A place about to be reported at; each member takes rows of its own severity only.
class Place {
 public:
  template <class... Args>
  Report error(const diag::Message<Severity::Error, Args...>& message, std::type_identity_t<Args>... args) const;
  template <class... Args>
  Report warning(const diag::Message<Severity::Warning, Args...>& message, std::type_identity_t<Args>... args) const;
  template <class... Args>
  Report remark(const diag::Message<Severity::Remark, Args...>& message, std::type_identity_t<Args>... args) const;

 private:
  friend class Diagnostics;
  Place(Diagnostics& sink, Span span) : sink_(&sink), span_(span) {}
  Diagnostics* sink_;
  Span span_;
};

class Diagnostics {
 public:
  Diagnostics() = default;
  explicit Diagnostics(Policy policy) : policy_(std::move(policy)) {}

  Place at(Span span) { return {*this, span}; }
  Place nowhere() { return {*this, Span{}}; }  // for what has no place in a source

  bool has_errors() const { return error_count_ > 0; }
  int error_count() const { return error_count_; }  // those beyond the limit included
  int warning_count() const { return warning_count_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  const Policy& policy() const { return policy_; }
  bool wants(RemarkGroup group) const;  // asked before a costly remark is worked out

  // Says more about everything that was reported at `span`.
  template <class... Args>
  void note_at(Span span, Span place, const diag::Message<Severity::Note, Args...>& message, std::type_identity_t<Args>... args) {
    for (size_t i = 0; i < all_.size(); ++i)
      if (all_[i].span == span) Report(*this, i).note(place, message, args...);
  }

  // Takes over what another sink collected, as if it had been reported here.
  void append(const Diagnostics& other);

 private:
  friend class Place;
  friend class Report;
  using Key = std::tuple<std::string_view, FileId, uint32_t, uint32_t, std::string>;
  Report add(Span span, const diag::Row& row, std::initializer_list<diag::Argument> arguments);
  Report add(Diagnostic diagnostic);
  Policy policy_;
  std::vector<Diagnostic> all_;
  std::set<Key> seen_;  // a code is reported once at a span, a remark once with the same words
  int error_count_ = 0, warning_count_ = 0;
};

template <class... Args>
Report Place::error(const diag::Message<Severity::Error, Args...>& message, std::type_identity_t<Args>... args) const {
  return sink_->add(span_, message.row, {diag::argument(args)...});
}
template <class... Args>
Report Place::warning(const diag::Message<Severity::Warning, Args...>& message,
                      std::type_identity_t<Args>... args) const {
  return sink_->add(span_, message.row, {diag::argument(args)...});
}
template <class... Args>
Report Place::remark(const diag::Message<Severity::Remark, Args...>& message,
                      std::type_identity_t<Args>... args) const {
  return sink_->add(span_, message.row, {diag::argument(args)...});
}

}  // namespace tilec
