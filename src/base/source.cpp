#include "base/source.h"

#include <algorithm>

#include "base/check.h"

namespace tilec {

Span cover(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

FileId SourceMap::add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {0}};
  for (uint32_t i = 0; i < file.text.size(); ++i)
    if (file.text[i] == '\n') file.starts.push_back(i + 1);
  files_.push_back(std::move(file));
  return {uint32_t(files_.size() - 1)};
}

const SourceMap::File& SourceMap::at(FileId file) const {
  INVARIANT(file.index < files_.size(), "a span names a file of its source map");
  return files_[file.index];
}

std::string_view SourceMap::name(FileId file) const { return at(file).name; }
std::string_view SourceMap::text(FileId file) const { return at(file).text; }

std::string_view SourceMap::text(Span span) const {
  std::string_view all = text(span.file);
  uint32_t begin = std::min<uint32_t>(span.begin, all.size()), end = std::min<uint32_t>(span.end, all.size());
  return all.substr(begin, end > begin ? end - begin : 0);
}

std::string_view SourceMap::line(FileId file, int line) const {
  const File& f = at(file);
  if (line < 1 || line > int(f.starts.size())) return {};
  size_t begin = f.starts[line - 1];
  size_t end = line < int(f.starts.size()) ? f.starts[line] - 1 : f.text.size();
  if (end > begin && f.text[end - 1] == '\r') --end;
  return std::string_view(f.text).substr(begin, end - begin);
}

LineColumn SourceMap::place(FileId file, uint32_t offset) const {
  const File& f = at(file);
  auto after = std::upper_bound(f.starts.begin(), f.starts.end(), offset);
  int line = int(after - f.starts.begin());
  return {line, int(offset - f.starts[line - 1]) + 1};
}

}  // namespace tilec
