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

// With the quick kind of lookahead, up to the first mistake; null where there is one.
TileParser::FileContext* parse_quickly(TileParser& parser) {
  parser.removeErrorListeners();
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(PredictionMode::SLL);
  parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
  try {
    return parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    parser.reset();
    return nullptr;
  }
}

// The exact kind behind it, with recovery. Null where that gave up as well.
TileParser::FileContext* parse_tree(TileParser& parser, const std::shared_ptr<antlr4::ANTLRErrorStrategy>& recovery) {
  if (auto* tree = parse_quickly(parser)) return tree;
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(PredictionMode::LL);
  parser.setErrorHandler(recovery);
  try {
    return parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    return nullptr;
  }
}

syntax::Tokens tokens_of(const syntax::Input& input, const syntax::Patience& patience, Diagnostics& diagnostics) {
  syntax::ByteStream stream(input.text);
  TileLexer lexer(&stream);
  lexer.removeErrorListeners();
  syntax::QuickLexer quick(input.text, stream, lexer);
  return syntax::read_tokens(input, [&] { return quick.next(); }, patience, diagnostics);
}

// Is it one of the language as it stands?
bool parse_as_written(const syntax::Input& input, const syntax::Patience& patience, Ast& ast, Diagnostics& diagnostics) {
  Diagnostics own(diagnostics.policy());
  syntax::Tokens tokens = tokens_of(input, patience, own);
  if (!tokens.is_unreadable) syntax::limit_nesting(input, tokens, own);
  if (tokens.is_unreadable || own.has_errors()) return false;
  syntax::TokenList token_list(std::move(tokens.list));
  syntax::Parser parser(&token_list);
  TileParser::FileContext* tree = parse_quickly(parser);
  if (!tree) return false;
  ast.comments = std::move(tokens.comments);
  syntax::Builder(input, ast, own).file(tree);
  if (!own.has_errors()) diagnostics.append(own);
  return !own.has_errors();
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

Ast parse(FileId file, const SourceMap& sources, Diagnostics& diagnostics, Reading reading) {
  syntax::Input input{file, sources.text(file), sources.name(file)};
  syntax::Patience patience = syntax::patience_with(input.name, diagnostics);
  int errors_before = diagnostics.error_count();
  Ast ast;
  ast.file = file;
  if (reading == Reading::AsWritten && parse_as_written(input, patience, ast, diagnostics)) return ast;
  ast = {};
  ast.file = file;

  syntax::Tokens tokens = tokens_of(input, patience, diagnostics);
  if (!tokens.is_unreadable) syntax::mend(input, tokens, patience, diagnostics);
  if (!tokens.is_unreadable) syntax::limit_nesting(input, tokens, diagnostics);
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
