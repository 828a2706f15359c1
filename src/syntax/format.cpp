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
  is_lost_ |= next_token_ != tokens_.size();
  return is_lost_ ? std::string(source_) : std::move(out_);
}

std::string_view Printer::next_token() const {
  if (next_token_ == tokens_.size()) return {};
  return source_.substr(tokens_[next_token_].begin, tokens_[next_token_].end - tokens_[next_token_].begin);
}

std::string Printer::comment_text(const ast::Comment& comment) const { return std::string(trim(parts_.copied(comment.span))); }

// Goes past the next token, whose text is to follow. False: comments stand before it, and it begins a piece of its own.
bool Printer::begin_token(std::vector<Piece>& all) {
  uint32_t begin = tokens_[next_token_].begin;
  last_end_ = tokens_[next_token_++].end;
  bool is_apart = next_comment_ < ast_.comments.size() && ast_.comments[next_comment_].span.begin < begin;
  while (next_comment_ < ast_.comments.size() && ast_.comments[next_comment_].span.begin < begin)
    all.back().comments.push_back(ast_.comments[next_comment_++]);
  if (is_apart) all.emplace_back();
  return !is_apart;
}

std::vector<Printer::Piece> Printer::pieces(std::string_view marked) {
  std::vector<Piece> all(1);
  std::string plain = without_marks(marked);
  size_t copied = 0;
  for (TextRange range : token_ranges(plain)) {
    std::string_view word = std::string_view(plain).substr(range.begin, range.end - range.begin);
    auto is_unprinted = [&](std::string_view next) { return next != word && (next == "," || next == "[" || next == "]"); };
    while (word != "," && is_unprinted(next_token())) {
      std::string text(next_token());
      begin_token(all);
      all.back().marked += text;
    }
    bool is_of_source = next_token() == word;
    is_lost_ |= !is_of_source && word != ",";
    if (is_of_source && begin_token(all)) all.back().marked += marked.substr(copied, range.begin - copied);
    if (is_of_source) all.back().marked += word;
    copied = range.end;
  }
  all.back().marked += marked.substr(copied);
  return all;
}

void Printer::emit(std::string_view marked, int more) {
  if (next_token_ < tokens_.size()) comments_until(tokens_[next_token_].begin);
  int indent = depth_ * 4;
  for (const Piece& piece : pieces(marked)) {
    out_ += broken(piece.marked, indent, more) + "\n";
    if (indent == depth_ * 4) indent += more, more = 0;
    for (const ast::Comment& comment : piece.comments) {
      if (comment.is_alone) out_ += std::string(size_t(indent), ' ') + comment_text(comment) + "\n";
      else out_.insert(out_.size() - 1, "  " + comment_text(comment));
    }
  }
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
    std::string text = comment_text(comment);
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

void Printer::begin_item(uint32_t begin) {
  comments_until(begin);
  blank_line_before(begin);
}

bool Printer::has_comma_behind(uint32_t end) const {
  auto next = std::ranges::lower_bound(tokens_, end, {}, &TextRange::begin);
  return next != tokens_.end() && source_[next->begin] == ',';
}

std::string Printer::words_of(Span span) const {
  std::string words;
  uint32_t end = span.begin;
  for (auto token = std::ranges::lower_bound(tokens_, span.begin, {}, &TextRange::begin); token != tokens_.end() && token->end <= span.end; ++token) {
    words += (words.empty() || token->begin == end ? "" : space_mark(0)) + std::string(source_.substr(token->begin, token->end - token->begin));
    end = token->end;
  }
  return words;
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
