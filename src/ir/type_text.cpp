#include "ir/type_text.h"

#include "layout/notation.h"

namespace tilec::ir {

namespace {

struct KindWord {
  TypeKind kind;
  std::string_view word;
};
constexpr KindWord kKindWords[] = {{TypeKind::Vector, "vector"}, {TypeKind::Tile, "tile"},
                                   {TypeKind::Buffer, "buffer"}, {TypeKind::Token, "token"},
                                   {TypeKind::Flight, "flight"}, {TypeKind::Ring, "ring"}};
constexpr Space kSpaces[] = {Space::Global, Space::Workspace, Space::Shared, Space::Private, Space::TensorMemory};

// Tokens and rings have no element; what a default type holds there is not written.
bool has_element(const Type& type) {
  return (type.kind != TypeKind::Token && type.kind != TypeKind::Ring) || type.element != Type{}.element;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t extent : shape) {
    if (!out.empty()) out += 'x';
    out += extent == kDynamic ? "?" : std::to_string(extent);
  }
  return out;
}

std::string layout_text(LayoutId id, const layout::LayoutTable& layouts) {
  if (id.index >= layouts.size()) return "?";
  return layouts.is_reg(id) ? layout::print(layouts.reg(id)) : layout::print(layouts.mem(id));
}

bool parse_shape(Scanner& scanner, std::string_view word, std::vector<int64_t>& shape) {
  for (size_t begin = 0; begin <= word.size();) {
    size_t end = std::min(word.find('x', begin), word.size());
    std::string_view part = word.substr(begin, end - begin);
    auto extent = part == "?" ? std::optional(kDynamic) : decimal(part);
    if (!extent) return scanner.fail("'" + std::string(word) + "' is not a shape");
    shape.push_back(*extent);
    begin = end + 1;
  }
  return true;
}

std::optional<layout::Shape> layout_shape(const Type& type) {
  if (type.rank() > layout::kMaxRank) return std::nullopt;
  std::vector<int> extents;
  for (int64_t extent : type.shape) {
    if (extent < 1 || extent > (1 << 30)) return std::nullopt;
    extents.push_back(int(extent));
  }
  return layout::Shape(extents);
}

bool parse_layout(Scanner& scanner, layout::LayoutTable& layouts, Type& type) {
  auto shape = layout_shape(type);
  if (!shape) return scanner.fail("a tile of this shape has no layout");
  std::string_view text = scanner.until('>');
  auto intern = [&](const auto& parsed) {
    if (!parsed) return scanner.fail("layout: " + parsed.error);
    type.layout = layouts.intern(*parsed);
    return true;
  };
  if (type.is_buffer()) return intern(layout::parse_mem_layout(text, *shape));
  return intern(layout::parse_reg_layout(text, *shape));
}

// One word between the angle brackets.
bool parse_part(Scanner& scanner, std::string_view word, Type& out) {
  if (word.empty()) return scanner.fail("expected '>'");
  if (word[0] == '?' || word[0] == '-' || (word[0] >= '0' && word[0] <= '9'))
    return parse_shape(scanner, word, out.shape);
  for (Space space : kSpaces)
    if (out.is_buffer() && name(space) == word) {
      out.space = space;
      return true;
    }
  auto element = scalar_named(word);
  if (element) out.element = *element;
  return element || scanner.fail("'" + std::string(word) + "' is no element type");
}

}  // namespace

std::string type_text(const Type& type, const layout::LayoutTable& layouts) {
  std::string out = type.varying ? "varying " : "";
  if (type.is_scalar()) return out.append(name(type.element));
  for (const KindWord& row : kKindWords)
    if (row.kind == type.kind) out += row.word;
  std::string inner;
  auto add = [&](std::string_view part) { inner.append(inner.empty() ? "" : " ").append(part); };
  if (type.is_buffer()) add(name(type.space));
  if (!type.shape.empty()) add(shape_text(type.shape));
  if (has_element(type)) add(name(type.element));
  if (type.layout.valid()) add("@ " + layout_text(type.layout, layouts));
  return inner.empty() ? out : out + "<" + inner + ">";
}

bool parse_type(Scanner& scanner, layout::LayoutTable& layouts, Type& out) {
  out = {};
  out.varying = scanner.accept_word("varying");
  std::string_view word = scanner.word();
  if (auto element = scalar_named(word)) {
    out.element = *element;
    return true;
  }
  bool is_known = false;
  for (const KindWord& row : kKindWords)
    if (row.word == word) out.kind = row.kind, is_known = true;
  if (!is_known) return scanner.fail("'" + std::string(word) + "' is no type");
  if (!scanner.accept('<')) return true;
  while (!scanner.accept('>')) {
    if (scanner.accept('@')) return parse_layout(scanner, layouts, out) && scanner.expect('>');
    if (!parse_part(scanner, scanner.word(), out)) return false;
  }
  return true;
}

}  // namespace tilec::ir
