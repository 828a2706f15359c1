// The parts of the formatter; inside the folder only.
//
// What stands within a line is made as one string in which places to break are marked, each with a level; a line that
// is too long is broken at the mark of the lowest level, the last one that still fits.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "syntax/ast.h"

namespace tilec::syntax {

// A place to break: a space, or nothing, when the line is not broken there.
std::string space_mark(int level);
std::string empty_mark(int level);
constexpr int kLevelsPerDepth = 16;  // levels within one pair of brackets; operators use their precedence

// The line without its marks.
std::string flat(std::string_view marked);
// The same with spaces in place of the marks, as long as it was.
std::string without_marks(std::string_view marked);
// `marked` as lines: the first at `indent`, the others `more` further in.
std::string broken(std::string_view marked, int indent, int more);

// Texts of expressions and types, with marks. Numbers and strings are copied from the source.
class PartPrinter {
 public:
  explicit PartPrinter(std::string_view source) : source_(source) {}
  std::string expr(const ast::Expr& expr, int depth = 0) const;
  std::string type(const ast::Type& type, int depth = 0) const;
  std::string argument(const ast::Argument& argument, int depth) const;
  std::string arguments(const std::vector<ast::Argument>& list, std::string_view brackets, int depth) const;
  std::string strings(Span span, int depth) const;  // the string literals in it
  std::string list(const std::vector<const ast::Expr*>& list, int depth) const;
  std::string copied(Span span) const { return std::string(source_.substr(span.begin, span.end - span.begin)); }

 private:
  bool has_brace(uint32_t begin, uint32_t end) const;
  std::string bare(const ast::Expr& expr, int depth) const;
  std::string call(const ast::Call& call, int depth) const;
  std::string index(const ast::Index& index, int depth) const;
  std::string subscript(const ast::Subscript& subscript, int depth) const;
  std::string shaped(const ast::ShapedType& type, int depth) const;
  std::string types(const std::vector<const ast::Type*>& list, int depth) const;
  std::string_view source_;
};

std::string join_names(const std::vector<ast::Name>& names, std::string_view separator);
std::string pattern_text(const ast::Pattern& pattern);

}  // namespace tilec::syntax
