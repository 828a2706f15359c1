// Text to AST: tokens, then ANTLR's tree, then ours. No exception of ANTLR's leaves this file.
#include "syntax/parse.h"

#include "TileLexer.h"
#include "TileParser.h"
#include "diag/diag.h"
#include "syntax/build.h"
#include "syntax/byte_stream.h"
#include "syntax/recovery.h"
#include "syntax/tokens.h"

namespace tilec {
namespace {

using antlr4::atn::PredictionMode;

// The quick kind of lookahead first, giving up at the first mistake; then the exact kind, with recovery.
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
  return parser.file();
}

}  // namespace

Ast parse(FileId file, const SourceMap& sources, Diagnostics& diagnostics) {
  Ast ast;
  ast.file = file;
  syntax::Input input{file, sources.text(file)};
  int errors_before = diagnostics.error_count();

  syntax::ByteStream stream(input.text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  syntax::Tokens tokens = syntax::read_tokens(input, lexer, diagnostics);
  ast.comments = std::move(tokens.comments);
  if (!tokens.is_too_deep) {
    antlr4::ListTokenSource source(std::move(tokens.list));
    antlr4::CommonTokenStream token_stream(&source);
    TileParser parser(&token_stream);
    auto recovery = std::make_shared<syntax::Recovery>(input, tokens.damaged, diagnostics);
    syntax::Builder(input, ast, diagnostics).file(parse_tree(parser, recovery));
    ast.has_errors |= recovery->has_recovered();
  }
  ast.has_errors |= diagnostics.error_count() > errors_before;
  return ast;
}

}  // namespace tilec
