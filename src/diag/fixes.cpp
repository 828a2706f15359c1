#include <algorithm>
#include <vector>

#include "diag/render.h"

namespace tilec {

namespace {

// Insertions at one place do not conflict; an insertion strictly inside a replaced range does.
bool conflicts(const Fix& a, const Fix& b) {
  if (a.span == b.span && a.span.begin < a.span.end) return true;
  return std::max(a.span.begin, b.span.begin) < std::min(a.span.end, b.span.end) ||
         (a.span.begin > b.span.begin && a.span.begin < b.span.end) ||
         (b.span.begin > a.span.begin && b.span.begin < a.span.end);
}

bool is_same(const Fix& a, const Fix& b) { return a.span == b.span && a.replacement == b.replacement; }

Fix clamped(Fix fix, size_t size) {
  fix.span.begin = std::min(fix.span.begin, uint32_t(size));
  fix.span.end = std::clamp(fix.span.end, fix.span.begin, uint32_t(size));
  return fix;
}

}  // namespace

std::string apply_fixes(std::string_view text, std::span<const Fix> fixes) {
  std::vector<Fix> kept;
  for (const Fix& each : fixes) {
    Fix fix = clamped(each, text.size());
    auto is_refused = [&](const Fix& other) { return conflicts(fix, other) || is_same(fix, other); };
    if (std::ranges::none_of(kept, is_refused)) kept.push_back(std::move(fix));
  }
  // What is inserted where a replaced range begins comes before it.
  std::ranges::stable_sort(kept, {}, [](const Fix& fix) { return std::pair(fix.span.begin, fix.span.end); });
  std::string out;
  size_t copied = 0;
  for (const Fix& fix : kept) {
    out.append(text.substr(copied, fix.span.begin - copied)).append(fix.replacement);
    copied = fix.span.end;
  }
  return out.append(text.substr(copied));
}

FixedText apply_helps(std::string_view text, FileId file, std::span<const Diagnostic> diagnostics) {
  FixedText out;
  std::vector<Fix> accepted;
  for (const Diagnostic& diagnostic : diagnostics) {
    auto help = std::ranges::find_if(diagnostic.helps, [](const Help& h) { return !h.fixes.empty(); });
    if (help == diagnostic.helps.end()) continue;
    auto is_refused = [&](const Fix& fix) {
      auto stands_against = [&](const Fix& other) { return conflicts(fix, other); };
      return fix.span.file != file || std::ranges::any_of(accepted, stands_against);
    };
    bool is_applied = std::ranges::none_of(help->fixes, is_refused);
    ++(is_applied ? out.applied : out.skipped);
    if (is_applied) accepted.insert(accepted.end(), help->fixes.begin(), help->fixes.end());
  }
  out.text = apply_fixes(text, accepted);
  return out;
}

}  // namespace tilec
