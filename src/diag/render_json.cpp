#include "diag/json.h"
#include "diag/render.h"
#include "diag/snippet.h"

namespace tilec {

namespace {

// {"file", "begin", "end", "line", "column", "end_line", "end_column"}, or null for nowhere.
Json json_of(Span span, const SourceMap& sources) {
  if (!diag::is_known(span, sources)) return {};
  Span clamped = diag::extent(span, sources).span;
  LineColumn first = sources.place(clamped), end = sources.place(clamped.file, clamped.end);
  return Json::object()
      .set("file", sources.name(span.file))
      .set("begin", clamped.begin).set("end", clamped.end)
      .set("line", first.line).set("column", first.column)
      .set("end_line", end.line).set("end_column", end.column);
}

Json json_of(const Help& help, const SourceMap& sources) {
  Json fixes = Json::array();
  for (const Fix& fix : help.fixes)
    fixes.push(Json::object().set("span", json_of(fix.span, sources)).set("replacement", fix.replacement));
  return Json::object().set("text", help.text).set("fixes", fixes);
}

Json json_of(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json marks = Json::array(), notes = Json::array(), helps = Json::array();
  for (const Mark& mark : diagnostic.marks)
    marks.push(Json::object().set("span", json_of(mark.span, sources)).set("label", mark.label));
  for (const Note& note : diagnostic.notes)
    notes.push(Json::object().set("span", json_of(note.span, sources)).set("message", note.message));
  for (const Help& help : diagnostic.helps) helps.push(json_of(help, sources));
  Json out = Json::object();
  out.set("code", diagnostic.code).set("name", diagnostic.name).set("severity", name(diagnostic.severity));
  out.set("flag", diagnostic.flag.empty() ? Json() : Json(diagnostic.flag));
  out.set("message", diagnostic.message).set("span", json_of(diagnostic.span, sources)).set("label", diagnostic.label);
  return out.set("marks", marks).set("notes", notes).set("helps", helps);
}

}  // namespace

std::string render_json(std::span<const Diagnostic> diagnostics, const SourceMap& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += json_of(diagnostic, sources).text() + "\n";
  return out;
}

}  // namespace tilec
