// Source files and places in them.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"

namespace tilec {

using FileId = Id<struct FileTag>;

// A half-open range of bytes of one file. A default-made span is nowhere.
struct Span {
  FileId file;
  uint32_t begin = 0, end = 0;
  bool valid() const { return file.valid(); }
  friend auto operator<=>(const Span&, const Span&) = default;
};

// The smallest span that covers both (which lie in one file).
Span cover(Span a, Span b);

struct LineColumn {
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
};

// The files of one compilation. Texts do not move once added.
class SourceMap {
 public:
  FileId add(std::string name, std::string text);
  std::string_view name(FileId file) const;
  std::string_view text(FileId file) const;
  std::string_view text(Span span) const;
  std::string_view line(FileId file, int line) const;  // without its line end
  LineColumn place(FileId file, uint32_t offset) const;
  LineColumn place(Span span) const { return place(span.file, span.begin); }
  size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string name, text;
    std::vector<uint32_t> starts;
  };
  const File& at(FileId file) const;
  std::deque<File> files_;
};

}  // namespace tilec
