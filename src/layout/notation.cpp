#include "layout/notation.h"

#include <cctype>
#include <cmath>

#include "base/check.h"

namespace tilec::layout {
namespace {

// Reads the notation from left to right. The first mistake is kept; everything after it reads as nothing.
class Reader {
 public:
  Reader(std::string_view text, std::string_view letters) : text_(text), letters_(letters) {}

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  size_t offset() const { return error_offset_; }
  int rank() const { return static_cast<int>(letters_.size()); }

  void fail(std::string message) {
    if (failed()) return;
    error_ = std::move(message);
    error_offset_ = at_;
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size() || failed();
  }
  bool take(char c) {
    skip_space();
    if (failed() || at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected `") + c + "`");
  }
  std::string_view word() {
    skip_space();
    size_t begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  int64_t number() {
    skip_space();
    if (at_ >= text_.size() || !std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      fail("expected a number");
      return 0;
    }
    constexpr int64_t kMost = int64_t{1} << 30;
    int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      value = value * 10 + (text_[at_++] - '0');
      if (value > kMost) {
        fail("the number is too large");
        return 0;
      }
    }
    return value;
  }
  // At least one, also when the text has failed.
  int count() {
    int64_t value = number();
    if (value < 1) fail("a count is at least one");
    return failed() ? 1 : static_cast<int>(value);
  }
  int axis() {
    skip_space();
    size_t axis = at_ < text_.size() ? letters_.find(text_[at_]) : std::string_view::npos;
    if (axis == std::string_view::npos) {
      fail("expected an axis, one of `" + std::string(letters_) + "`");
      return 0;
    }
    ++at_;
    return static_cast<int>(axis);
  }
  // c3^r0, or `_`.
  Vec vector() {
    if (take('_')) return 0;
    Vec v = 0;
    do {
      int on = axis();
      int64_t bit = number();
      int most = run_width(rank());
      if (bit >= most) fail("an axis of this tile has at most " + std::to_string(most) + " bits");
      if (failed()) return 0;
      v ^= coordinate_bit(rank(), on, static_cast<int>(bit));
    } while (take('^'));
    return v;
  }

 private:
  std::string_view text_, letters_;
  size_t at_ = 0, error_offset_ = 0;
  std::string error_;
};

constexpr size_t kMostBits = 24;  // of one group

void read_bits(Reader& reader, Basis& bits, std::string_view group) {
  if (!bits.empty()) reader.fail("`" + std::string(group) + "` is written twice");
  while (!reader.failed() && !reader.take(')')) {
    bits.push_back(reader.vector());
    if (bits.size() > kMostBits) reader.fail("`" + std::string(group) + "` has too many bits");
  }
}

void read_grids(Reader& reader, std::vector<Grid>& grids, GridPlace place) {
  do {
    int axis = reader.take('_') ? kReplica : reader.axis();
    grids.push_back({axis, reader.count(), place});
  } while (reader.take(','));
  reader.expect(')');
}

RegLayout read_reg_layout(Reader& reader) {
  RegLayout layout;
  while (!reader.at_end()) {
    std::string_view group = reader.word();
    reader.expect('(');
    if (group == "reg") read_bits(reader, layout.reg, group);
    else if (group == "lane") read_bits(reader, layout.lane, group);
    else if (group == "warp") read_bits(reader, layout.warp, group);
    else if (group == "cta") read_bits(reader, layout.cta, group);
    else if (group == "grid") read_grids(reader, layout.grids, GridPlace::Register);
    else if (group == "warpgrid") read_grids(reader, layout.grids, GridPlace::Warp);
    else reader.fail("expected `reg`, `lane`, `warp`, `cta`, `grid` or `warpgrid`");
  }
  return layout;
}

void read_address(Reader& reader, MemLayout& layout) {
  if (!layout.addr.empty()) reader.fail("`addr` is written twice");
  while (!reader.failed() && !reader.take(')')) {
    bool is_copy = reader.take('*');
    if (is_copy) layout.copies |= uint64_t{1} << layout.addr.size();
    layout.addr.push_back(is_copy ? 0 : reader.vector());
    if (layout.addr.size() > kMostBits) reader.fail("`addr` has too many bits");
  }
}

void read_mem_grids(Reader& reader, std::vector<MemGrid>& grids) {
  do {
    int axis = reader.axis();
    int count = reader.count();
    reader.expect(':');
    grids.push_back({axis, count, reader.number()});
  } while (reader.take(','));
  reader.expect(')');
}

void read_pad(Reader& reader, Pad& pad) {
  pad.every = reader.count();
  reader.expect('+');
  pad.add = reader.number();
  reader.expect(')');
}

MemLayout read_mem_layout(Reader& reader) {
  MemLayout layout;
  while (!reader.at_end()) {
    std::string_view group = reader.word();
    reader.expect('(');
    if (group == "addr") read_address(reader, layout);
    else if (group == "grid") read_mem_grids(reader, layout.grids);
    else if (group == "pad") read_pad(reader, layout.pad);
    else reader.fail("expected `addr`, `grid` or `pad`");
  }
  return layout;
}

// Sizes that no machine has, and whose arithmetic would overflow. Doubles do not.
bool is_too_large(const RegLayout& layout) {
  constexpr double kMostPlaces = 1 << 30;
  double registers = std::exp2(layout.reg.size()), warps = std::exp2(layout.warp.size());
  for (const Grid& grid : layout.grids) (grid.place == GridPlace::Register ? registers : warps) *= grid.count;
  return registers > kMostPlaces || warps > kMostPlaces;
}
bool is_too_large(const MemLayout& layout) {
  constexpr double kMostElements = 1ll << 40;
  double last = std::exp2(layout.addr.size());
  for (const MemGrid& grid : layout.grids) last += (grid.count - 1.0) * static_cast<double>(grid.stride);
  if (layout.pad.every > 0) last += last / static_cast<double>(layout.pad.every) * static_cast<double>(layout.pad.add);
  return last > kMostElements;
}

// Gives the layout its shape (by default what it covers) and judges it by its law.
template <class Layout>
Parsed<Layout> finished(Layout layout, Reader& reader, const std::optional<Shape>& shape) {
  if (reader.failed()) return {{}, reader.error(), reader.offset()};
  if (is_too_large(layout)) return {{}, "the layout is larger than any machine", 0};
  layout.shape.rank = reader.rank();
  for (int axis = 0; axis < reader.rank(); ++axis) {
    if (layout.bits(axis) > 30) return {{}, "an axis has at most 2^30 elements", 0};
    int64_t covered = int64_t{1} << layout.bits(axis);
    for (const auto& grid : layout.grids) {
      if (grid.axis == axis) covered *= grid.count;
      if (covered > (int64_t{1} << 30)) return {{}, "an axis has at most 2^30 elements", 0};
    }
    layout.shape.extents[axis] = static_cast<int>(covered);
  }
  if (shape) layout.shape = *shape;
  std::string wrong = flaw(layout);
  if (!wrong.empty()) return {{}, wrong, 0};
  return {normalized(std::move(layout)), "", 0};
}

std::string_view letters_or_default(std::string_view letters, int rank) {
  return letters.empty() ? axis_letters(rank) : letters;
}

}  // namespace

Parsed<RegLayout> parse_reg_layout(std::string_view text, std::string_view letters) {
  Reader reader(text, letters);
  RegLayout layout = read_reg_layout(reader);
  return finished(std::move(layout), reader, std::nullopt);
}

Parsed<RegLayout> parse_reg_layout(std::string_view text, const Shape& shape, std::string_view letters) {
  Reader reader(text, letters_or_default(letters, shape.rank));
  RegLayout layout = read_reg_layout(reader);
  return finished(std::move(layout), reader, shape);
}

Parsed<MemLayout> parse_mem_layout(std::string_view text, std::string_view letters) {
  Reader reader(text, letters);
  MemLayout layout = read_mem_layout(reader);
  return finished(std::move(layout), reader, std::nullopt);
}

Parsed<MemLayout> parse_mem_layout(std::string_view text, const Shape& shape, std::string_view letters) {
  Reader reader(text, letters_or_default(letters, shape.rank));
  MemLayout layout = read_mem_layout(reader);
  return finished(std::move(layout), reader, shape);
}

RegLayout reg_layout(std::string_view text, std::string_view letters) {
  auto parsed = parse_reg_layout(text, letters);
  INVARIANT(parsed, std::string(text) + ": " + parsed.error);
  return *parsed;
}

MemLayout mem_layout(std::string_view text, std::string_view letters) {
  auto parsed = parse_mem_layout(text, letters);
  INVARIANT(parsed, std::string(text) + ": " + parsed.error);
  return *parsed;
}

// --- printing -----------------------------------------------------------------------------------------------------
namespace {

std::string vector_text(Vec v, int rank, std::string_view letters) {
  if (v == 0) return "_";
  std::string text;
  for (int axis = rank - 1; axis >= 0; --axis) {
    for (Vec part = axis_part(v, rank, axis); part != 0; part &= part - 1) {
      text += (text.empty() ? "" : "^") + std::string(1, letters[axis]) + std::to_string(std::countr_zero(part));
    }
  }
  return text;
}

void add_group(std::string& text, std::string_view group, std::string_view contents) {
  text += (text.empty() ? "" : " ") + std::string(group) + "(" + std::string(contents) + ")";
}

void add_bits(std::string& text, std::string_view group, Vecs bits, int rank, std::string_view letters) {
  if (bits.empty()) return;
  std::string contents;
  for (Vec v : bits) contents += (contents.empty() ? "" : " ") + vector_text(v, rank, letters);
  add_group(text, group, contents);
}

}  // namespace

std::string print(const RegLayout& layout, std::string_view letters) {
  int rank = layout.shape.rank;
  letters = letters_or_default(letters, rank);
  std::string text;
  add_bits(text, "reg", layout.reg, rank, letters);
  add_bits(text, "lane", layout.lane, rank, letters);
  add_bits(text, "warp", layout.warp, rank, letters);
  add_bits(text, "cta", layout.cta, rank, letters);
  for (size_t i = 0; i < layout.grids.size();) {
    GridPlace place = layout.grids[i].place;
    std::string contents;
    for (; i < layout.grids.size() && layout.grids[i].place == place; ++i) {
      const Grid& grid = layout.grids[i];
      char axis = grid.axis == kReplica ? '_' : letters[grid.axis];
      contents += (contents.empty() ? "" : ", ") + std::string(1, axis) + " " + std::to_string(grid.count);
    }
    add_group(text, place == GridPlace::Register ? "grid" : "warpgrid", contents);
  }
  return text.empty() ? "reg()" : text;
}

std::string print(const MemLayout& layout, std::string_view letters) {
  int rank = layout.shape.rank;
  letters = letters_or_default(letters, rank);
  std::string bits;
  for (size_t i = 0; i < layout.addr.size(); ++i) {
    bool is_copy = layout.copies >> i & 1;
    bits += (bits.empty() ? "" : " ") + (is_copy ? "*" : vector_text(layout.addr[i], rank, letters));
  }
  std::string text, grids;
  if (!bits.empty() || layout.grids.empty()) add_group(text, "addr", bits);
  for (const MemGrid& grid : layout.grids) {
    grids += (grids.empty() ? "" : ", ") + std::string(1, letters[grid.axis]) + " " + std::to_string(grid.count);
    grids += " : " + std::to_string(grid.stride);
  }
  if (!grids.empty()) add_group(text, "grid", grids);
  if (layout.pad.every > 0) {
    add_group(text, "pad", std::to_string(layout.pad.every) + " + " + std::to_string(layout.pad.add));
  }
  return text;
}

}  // namespace tilec::layout
