// The tokens of the grammar without its lexer's automaton, which takes thousands of steps for each. Words, signs, comments
// and plain decimal numbers are read here; the grammar says which words and signs there are. All else (other numbers, strings,
// what is no token) is left to the generated lexer, at its place.
#pragma once
#include "syntax/byte_stream.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

class QuickLexer {
 public:
  QuickLexer(std::string_view text, ByteStream& stream, antlr4::Lexer& lexer) : text_(text), stream_(stream), lexer_(lexer) {}
  TokenPointer next();

 private:
  size_t end_while(size_t at, bool (*belongs)(char)) const;
  TokenPointer token(size_t type, size_t end, size_t channel = antlr4::Token::DEFAULT_CHANNEL);
  TokenPointer placed(std::unique_ptr<antlr4::CommonToken> token, size_t end);
  TokenPointer word();
  TokenPointer comment();
  TokenPointer sign();
  TokenPointer number();
  TokenPointer of_grammar();
  void move_to(size_t at);

  std::string_view text_;
  ByteStream& stream_;
  antlr4::Lexer& lexer_;
  size_t at_ = 0, line_ = 1, line_begin_ = 0;
};

}  // namespace tilec::syntax
