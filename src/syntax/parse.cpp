// Text to AST: tokens, then ANTLR's tree, then ours. No exception of ANTLR's leaves this file.
#include "syntax/parse.h"

#include "TileLexer.h"
#include "TileParser.h"
#include "diag/diag.h"
#include "syntax/build.h"
#include "syntax/byte_stream.h"
#include "syntax/quick_lexer.h"
#include "syntax/recovery.h"
#include "syntax/token_list.h"
#include "syntax/tokens.h"

namespace tilec {
namespace {

using antlr4::atn::PredictionMode;

// The quick kind of lookahead first, giving up at the first mistake; then the exact kind, with recovery. Null where that
// gave up as well.
TileParser::FileContext* parse_tree(TileParser& parser, const std::shared_ptr<antlr4::ANTLRErrorStrategy>& recovery) {
  auto* simulator = parser.getInterpreter<antlr4::atn::ParserATNSimulator>();
  parser.removeErrorListeners();
  simulator->setPredictionMode(PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    parser.reset();
  }
  simulator->setPredictionMode(PredictionMode::LL);
  parser.setErrorHandler(recovery);
  try {
    return parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    return nullptr;
  }
}

// With its type and its place.
std::string described(const antlr4::Token& token) {
  return std::to_string(ssize_t(token.getType())) + " " + std::to_string(ssize_t(token.getStartIndex())) + ":" +
         std::to_string(ssize_t(token.getStopIndex())) + " at " + std::to_string(token.getLine()) + ":" +
         std::to_string(token.getCharPositionInLine()) + "\n";
}

}  // namespace

std::vector<TextRange> token_ranges(std::string_view text) {
  syntax::ByteStream stream(text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  syntax::QuickLexer quick(text, stream, lexer);
  std::vector<TextRange> all;
  for (;;) {
    syntax::TokenPointer token = quick.next();
    if (token->getType() == antlr4::Token::EOF) return all;
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL) all.push_back({uint32_t(token->getStartIndex()), uint32_t(token->getStopIndex() + 1)});
  }
}

std::string tokens_text(std::string_view text, Lexing way) {
  syntax::ByteStream stream(text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  syntax::QuickLexer quick(text, stream, lexer);
  std::string all;
  for (bool is_end = false; !is_end;) {
    syntax::TokenPointer token = way == Lexing::Quick ? quick.next() : lexer.nextToken();
    is_end = token->getType() == antlr4::Token::EOF;
    all += described(*token);
  }
  return all;
}

Ast parse(FileId file, const SourceMap& sources, Diagnostics& diagnostics) {
  Ast ast;
  ast.file = file;
  syntax::Input input{file, sources.text(file), sources.name(file)};
  syntax::Patience patience = syntax::patience_with(input.name, diagnostics);
  int errors_before = diagnostics.error_count();

  syntax::ByteStream stream(input.text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  syntax::QuickLexer quick(input.text, stream, lexer);
  syntax::Tokens tokens = syntax::read_tokens(input, [&] { return quick.next(); }, patience, diagnostics);
  ast.comments = std::move(tokens.comments);
  if (!tokens.is_unreadable) {
    syntax::TokenList token_list(std::move(tokens.list));
    syntax::Parser parser(&token_list);
    auto recovery = std::make_shared<syntax::Recovery>(input, tokens.damaged, patience, diagnostics);
    if (TileParser::FileContext* tree = parse_tree(parser, recovery)) syntax::Builder(input, ast, diagnostics).file(tree);
    ast.has_errors |= recovery->has_recovered();
  }
  ast.has_errors |= diagnostics.error_count() > errors_before;
  return ast;
}

}  // namespace tilec
