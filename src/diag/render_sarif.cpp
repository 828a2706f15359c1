#include <algorithm>
#include <vector>

#include "diag/catalogue.h"
#include "diag/display.h"
#include "diag/explain.h"
#include "diag/json.h"
#include "diag/render.h"
#include "diag/snippet.h"

namespace tilec {

namespace {

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

Json text_of(std::string_view text) { return Json::object().set("text", text); }

std::string uri(std::string_view path) {
  std::string out = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    std::string_view("-._~/").find(c) != std::string_view::npos;
    constexpr std::string_view kHex = "0123456789ABCDEF";
    auto byte = static_cast<unsigned char>(c);
    if (is_plain) out += c;
    else out.append(1, '%').append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return out;
}

// Columns of this document count characters, those of a LineColumn bytes.
int character_column(FileId file, LineColumn place, const SourceMap& sources) {
  std::string_view line = sources.line(file, place.line);
  size_t before = size_t(place.column - 1), inside = std::min(before, line.size());
  return int(diag::count_characters(line.substr(0, inside)) + (before - inside)) + 1;
}

Json region(Span span, const SourceMap& sources) {
  Span at = diag::extent(span, sources).span;
  LineColumn first = sources.place(at), end = sources.place(at.file, at.end);
  return Json::object()
      .set("startLine", first.line).set("startColumn", character_column(at.file, first, sources))
      .set("endLine", end.line).set("endColumn", character_column(at.file, end, sources))
      .set("byteOffset", at.begin).set("byteLength", at.end - at.begin);
}

Json artifact(FileId file, const SourceMap& sources) { return Json::object().set("uri", uri(sources.name(file))); }

Json location(Span span, const SourceMap& sources) {
  Json physical = Json::object();
  physical.set("artifactLocation", artifact(span.file, sources)).set("region", region(span, sources));
  return Json::object().set("physicalLocation", physical);
}

Json related(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json out = Json::array();
  auto add = [&](Span span, std::string_view text) {
    if (!diag::is_known(span, sources)) return;
    Json place = Json::object().set("id", out.size());
    place.set("physicalLocation", location(span, sources)["physicalLocation"]);
    if (!text.empty()) place.set("message", text_of(text));
    out.push(place);
  };
  for (const Mark& mark : diagnostic.marks) add(mark.span, mark.label);
  for (const Note& note : diagnostic.notes) add(note.span, note.message);
  return out;
}

Json change(const Fix& fix, const SourceMap& sources) {
  Json replacement = Json::object().set("deletedRegion", region(fix.span, sources));
  replacement.set("insertedContent", text_of(fix.replacement));
  return Json::object()
      .set("artifactLocation", artifact(fix.span.file, sources))
      .set("replacements", Json::array().push(replacement));
}

Json fixes_of(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json out = Json::array();
  for (const Help& help : diagnostic.helps) {
    Json changes = Json::array();
    for (const Fix& fix : help.fixes)
      if (diag::is_known(fix.span, sources)) changes.push(change(fix, sources));
    if (changes.size()) out.push(Json::object().set("description", text_of(help.text)).set("artifactChanges", changes));
  }
  return out;
}

// SARIF knows no remarks; they are its notes.
std::string_view level(Severity severity) { return severity == Severity::Remark ? "note" : name(severity); }

// Advice and notes without a place have no property of their own, so they follow the message.
std::string full_message(const Diagnostic& diagnostic) {
  std::string out = diagnostic.message;
  for (const Note& note : diagnostic.notes)
    if (!note.span.valid()) out += "\nnote: " + note.message;
  for (const Help& help : diagnostic.helps)
    if (help.fixes.empty()) out += "\nhelp: " + help.text;
  return out;
}

Json result(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json out = Json::object().set("ruleId", diagnostic.code);
  out.set("level", level(diagnostic.severity)).set("message", text_of(full_message(diagnostic)));
  if (diag::is_known(diagnostic.span, sources))
    out.set("locations", Json::array().push(location(diagnostic.span, sources)));
  if (Json places = related(diagnostic, sources); places.size()) out.set("relatedLocations", places);
  if (Json fixes = fixes_of(diagnostic, sources); fixes.size()) out.set("fixes", fixes);
  return out;
}

Json rule(std::string_view code) {
  const diag::Row* row = diag::find_row(code);
  const diag::Page* page = diag::find_page(code);
  Json out = Json::object().set("id", code);
  if (!row) return out;
  out.set("name", row->name).set("shortDescription", text_of(page ? page->title : row->text));
  if (page) out.set("fullDescription", text_of(page->meaning)).set("help", text_of(page->mending));
  return out.set("defaultConfiguration", Json::object().set("level", level(row->severity)));
}

}  // namespace

struct SarifLog::Results {
  std::vector<std::pair<std::string, Json>> all;  // with their codes
};

SarifLog::SarifLog() : results_(std::make_unique<Results>()) {}
SarifLog::~SarifLog() = default;

void SarifLog::add(std::span<const Diagnostic> diagnostics, const SourceMap& sources) {
  is_begun_ = true;
  for (const Diagnostic& diagnostic : diagnostics) results_->all.emplace_back(diagnostic.code, result(diagnostic, sources));
}

std::string SarifLog::text(std::string_view version) const {
  std::vector<std::string_view> codes;  // those in use, in their order
  for (const auto& [code, result] : results_->all) codes.push_back(code);
  std::ranges::sort(codes);
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  Json rules = Json::array(), results = Json::array();
  for (std::string_view code : codes) rules.push(rule(code));
  for (const auto& [code, found] : results_->all) {
    Json result = found;
    results.push(result.set("ruleIndex", size_t(std::ranges::lower_bound(codes, code) - codes.begin())));
  }
  Json driver = Json::object().set("name", "tilec").set("version", version).set("rules", rules);
  Json run = Json::object().set("tool", Json::object().set("driver", driver));
  run.set("columnKind", "unicodeCodePoints").set("results", results);
  Json document = Json::object().set("$schema", kSchema).set("version", "2.1.0");
  return document.set("runs", Json::array().push(run)).indented_text();
}

std::string render_sarif(std::span<const Diagnostic> diagnostics, const SourceMap& sources, std::string_view version) {
  SarifLog log;
  log.add(diagnostics, sources);
  return log.text(version);
}

}  // namespace tilec
