// Takes the pages apart. A page is
//     # T0100 UnknownName: a name that is not declared
//     what it means
//     ```tile
//     the example
//     ```
//     how to mend it
#include "diag/explain.h"

#include <algorithm>

#include "base/embedded.h"
#include "base/text.h"
#include "diag/catalogue.h"

namespace tilec {

std::span<const EmbeddedFile> diagnostic_pages();

namespace diag {

namespace {

constexpr std::string_view kFence = "```", kHeading = "# ";

// Cuts `text` at the first `separator`; the rest is empty when there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, std::string_view separator) {
  size_t at = text.find(separator);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + separator.size())};
}

Page page_of(std::string_view text) {
  Page page;
  auto [heading, body] = cut(text, "\n");
  auto [names, title] = cut(heading, ": ");
  std::tie(page.code, page.name) = cut(names, " ");
  page.title = trim(title);
  auto [meaning, fenced] = cut(body, kFence);
  page.meaning = trim(meaning);
  auto [language, after] = cut(fenced, "\n");
  auto [example, mending] = cut(after, kFence);
  page.example = example;
  page.mending = trim(mending);
  return page;
}

// A heading stands at the start of a line; a line of an example cannot begin with `# `.
std::vector<Page> parse_pages() {
  std::vector<Page> out;
  for (const EmbeddedFile& file : diagnostic_pages()) {
    size_t at = file.text.starts_with(kHeading) ? 0 : file.text.find("\n# ") + 1;
    while (at < file.text.size()) {
      size_t next = file.text.find("\n# ", at);
      if (next == file.text.npos) next = file.text.size();
      out.push_back(page_of(file.text.substr(at + kHeading.size(), next - at - kHeading.size())));
      at = next + 1;
    }
  }
  std::ranges::sort(out, {}, &Page::code);
  return out;
}

std::string indented(std::string_view text) {
  std::string out;
  for (const std::string& line : split(trim(text), '\n')) out += line.empty() ? "\n" : "    " + line + "\n";
  return out;
}

// "error", or for a warning and a remark how to govern it.
std::string kind_line(const Row& row) {
  std::string flag(row.flag);
  if (row.severity == Severity::Warning)
    return "A warning: `-Wno-" + flag + "` turns it off, `-Werror=" + flag + "` makes it an error.";
  if (row.severity == Severity::Remark) return "A remark: `-R " + flag + "` shows it.";
  return "An error.";
}

}  // namespace

const std::vector<Page>& pages() {
  static const std::vector<Page> kPages = parse_pages();
  return kPages;
}

const Page* find_page(std::string_view code_or_name) {
  std::string_view flag = code_or_name.substr(code_or_name.starts_with("-W") ? 2 : 0);  // as a warning shows it
  auto is_flag = [&](const Row* row) { return row && row->severity == Severity::Warning && row->flag == flag; };
  auto is_wanted = [&](const Page& page) { return page.code == code_or_name || page.name == code_or_name || is_flag(find_row(page.code)); };
  auto found = std::ranges::find_if(pages(), is_wanted);
  return found == pages().end() ? nullptr : &*found;
}

std::optional<std::string> explain_page(std::string_view code_or_name) {
  const Page* page = find_page(code_or_name);
  const Row* row = page ? find_row(page->code) : nullptr;
  if (!row) return std::nullopt;
  std::string out = std::string(page->code) + " " + std::string(page->name) + ": " + std::string(page->title) + "\n\n";
  out.append(page->meaning).append("\n\nExample:\n\n").append(indented(page->example)).append("\n");
  out.append(page->mending).append("\n\n").append(kind_line(*row)).append("\n");
  return out;
}

std::string errors_document() {
  std::string out =
      "# Diagnostics\n\nEvery error, warning and remark of the compiler. `tilec explain T0100` or `tilec explain UnknownName`\n"
      "prints a page. This document is generated.\n";
  for (const Page& page : pages()) {
    const Row* row = find_row(page.code);
    if (!row) continue;
    out.append("\n## ").append(page.code).append(" ").append(page.name).append(": ").append(page.title).append("\n\n");
    out.append(kind_line(*row)).append(" `").append(row->text).append("`\n\n").append(page.meaning);
    out.append("\n\n```tile\n").append(trim(page.example)).append("\n```\n\n").append(page.mending).append("\n");
  }
  return out;
}

}  // namespace diag
}  // namespace tilec
