// The formatter's lines and comments.
#include "syntax/format.h"

#include "base/text.h"
#include "syntax/format_printer.h"

namespace tilec {

std::string format(const Ast& ast, const SourceMap& sources) {
  std::string_view source = sources.text(ast.file);
  if (ast.has_errors) return std::string(source);
  return syntax::Printer(ast, source).run();
}

namespace syntax {

std::string Printer::run() {
  for (const ast::Decl* decl : ast_.declarations) declaration(*decl);
  comments_until(uint32_t(source_.size()));
  return std::move(out_);
}

void Printer::emit(std::string_view marked, int more) {
  out_ += broken(marked, depth_ * 4, more) + "\n";
  is_block_start_ = false;
}

void Printer::blank_line_before(uint32_t offset) {
  if (offset <= last_end_ || is_block_start_) return;
  std::string_view between = source_.substr(last_end_, offset - last_end_);
  if (std::ranges::count(between, '\n') >= 2) out_ += "\n";
}

void Printer::comments_until(uint32_t offset) {
  for (; next_comment_ < ast_.comments.size() && ast_.comments[next_comment_].span.begin < offset; ++next_comment_) {
    const ast::Comment& comment = ast_.comments[next_comment_];
    std::string text = std::string(trim(parts_.copied(comment.span)));
    bool is_trailing = !comment.is_alone && comment.span.begin >= last_end_ && !out_.empty() && !out_.ends_with("\n\n");
    if (is_trailing) {
      out_.insert(out_.size() - 1, "  " + text);
    } else {
      blank_line_before(comment.span.begin);
      out_.append(size_t(depth_) * 4, ' ');
      out_ += text + "\n";
      is_block_start_ = false;
    }
    last_end_ = std::max(last_end_, comment.span.end);
  }
}

void Printer::begin_item(uint32_t begin, uint32_t head_end) {
  comments_until(begin);
  blank_line_before(begin);
  last_end_ = head_end;  // a comment inside is not behind anything
  comments_until(head_end);
}

bool Printer::has_comments(Span span) const {
  return std::ranges::any_of(ast_.comments, [&](const ast::Comment& c) { return c.span.begin >= span.begin &&
      c.span.begin < span.end; });
}

bool Printer::is_one_line(Span span) const {
  return source_.substr(span.begin, span.end - span.begin).find('\n') == std::string_view::npos;
}

}  // namespace syntax
}  // namespace tilec
