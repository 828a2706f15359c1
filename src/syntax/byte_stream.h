// The text of a file as the generated lexer reads it: byte by byte, so that its offsets are ours and nothing is copied.
// The grammar knows bytes above 127 only inside comments and strings, where their meaning does not matter.
#pragma once
#include <antlr4-runtime.h>

#include <string_view>

namespace tilec::syntax {

class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text) : text_(text) {}

  void consume() override { position_ += position_ < text_.size(); }
  size_t LA(ssize_t i) override {
    size_t at = position_ + size_t(i > 0 ? i - 1 : i);  // a negative i wraps to beyond the end when it leaves the text
    return i != 0 && at < text_.size() ? uint8_t(text_[at]) : size_t(antlr4::IntStream::EOF);
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return position_; }
  void seek(size_t index) override { position_ = std::min(index, text_.size()); }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval& interval) override {
    return std::string(text_.substr(size_t(interval.a), size_t(interval.b - interval.a + 1)));
  }
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  size_t position_ = 0;
};

}  // namespace tilec::syntax
