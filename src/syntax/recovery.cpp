// Messages and resynchronisation of the parser.
//
// A rule that fails reports once and skips to the end of its statement: to `;`, `{`, `}` or a word that begins a
// statement or a declaration at the start of a line, which it leaves for the rules around it. These fail in silence
// until one of them finds what it wants. Blocks and files skip what begins no statement or declaration.
#include "syntax/recovery.h"

#include "TileParser.h"
#include "base/text.h"
#include "diag/diag.h"

namespace tilec::syntax {
namespace {

using antlr4::Parser;
using antlr4::Token;
using antlr4::misc::IntervalSet;

bool is_in(size_t type, size_t first, size_t last) { return type >= first && type <= last; }
bool is_reserved(size_t type) { return is_in(type, TileParser::IMPORT, TileParser::FALSE); }
bool begins_declaration(size_t type) {
  return is_in(type, TileParser::IMPORT, TileParser::STATIC_ASSERT) || type == TileParser::REFERENCE ||
      type == TileParser::AT;
}
bool begins_statement(size_t type) {
  return is_in(type, TileParser::STATIC_ASSERT, TileParser::ASM) && type != TileParser::ELSE && type != TileParser::IN;
}

const Token& current(Parser& parser) { return *parser.getTokenStream()->LT(1); }
const Token* previous(Parser& parser) { return parser.getTokenStream()->LT(-1); }  // null before the first

bool begins_line(Parser& parser) {
  const Token* before = previous(parser);
  return before == nullptr || before->getLine() != current(parser).getLine();
}

void skip(Parser& parser) { parser.getTokenStream()->consume(); }  // unlike Parser::consume, leaves no node in the tree

// Stops at a token that the rules around may go on with.
bool is_stop(Parser& parser) {
  size_t type = current(parser).getType();
  switch (type) {
    case Token::EOF: case TileParser::SEMICOLON: case TileParser::LEFT_BRACE: case TileParser::RIGHT_BRACE: return true;
    default:
      return begins_line(parser) && (begins_statement(type) ||
          is_in(type, TileParser::IMPORT, TileParser::STATIC_ASSERT));
  }
}

void skip_to_stop(Parser& parser) {
  while (!is_stop(parser)) skip(parser);
}

// Past the rest of what cannot be a declaration, braces and all.
void skip_to_declaration(Parser& parser) {
  int depth = 0;
  for (; current(parser).getType() != Token::EOF; skip(parser)) {
    size_t type = current(parser).getType();
    if (depth <= 0 && begins_declaration(type)) return;
    if (type == TileParser::LEFT_BRACE) ++depth;
    if (type == TileParser::RIGHT_BRACE) --depth;
  }
}

std::string_view what_ends(size_t rule) {
  if (is_in(rule, TileParser::RuleImportDeclaration, TileParser::RuleMeshDeclaration)) return "declaration";
  if (is_in(rule, TileParser::RuleScheduleItem, TileParser::RuleRequireItem)) return "item";
  return "statement";
}

// What a rule is about, in words; empty when its tokens say it better.
std::string_view subject(Parser& parser) {
  antlr4::ParserRuleContext* context = parser.getContext();
  switch (context->getRuleIndex()) {
    case TileParser::RuleFile: case TileParser::RuleDeclaration: return "a declaration";
    case TileParser::RuleBlock: case TileParser::RuleStatement: return "a statement";
    case TileParser::RuleScheduleItem: return "an item of a schedule";
    case TileParser::RuleType: return "a type";
    case TileParser::RulePattern: case TileParser::RulePatternName: case TileParser::RuleTargetName:
    case TileParser::RuleAxisName: return "a name";
    case TileParser::RuleParameter: return "a parameter";
    case TileParser::RuleExpression: case TileParser::RuleBinaryExpression: case TileParser::RuleOperand:
    case TileParser::RulePrimary: case TileParser::RuleArgument: case TileParser::RuleSubscript:
    case TileParser::RuleSimpleStatement: return "an expression";
    case TileParser::RuleName: {
      auto* path = dynamic_cast<antlr4::ParserRuleContext*>(context->parent);
      bool is_type = path && path->getRuleIndex() == TileParser::RulePath && path->parent &&
                     static_cast<antlr4::ParserRuleContext*>(path->parent)->getRuleIndex() == TileParser::RuleType;
      return is_type && path->children.size() <= 1 ? "a type" : "a name";
    }
    default: return {};
  }
}

// Where `1.` ends that has just been read, or 0.
uint32_t end_of_float(Parser& parser) {
  const Token *dot = previous(parser), *digits = dot ? parser.getTokenStream()->LT(-2) : nullptr;
  bool is_float = digits && dot->getType() == TileParser::DOT && digits->getType() == TileParser::INTEGER &&
                  digits->getStopIndex() + 1 == dot->getStartIndex();
  return is_float ? uint32_t(dot->getStopIndex() + 1) : 0;
}

// `n++`: a sign behind which an operand was expected and the same sign came, or nothing.
bool is_increment(Parser& parser, const Token& found) {
  auto are_twins = [](const Token* a, const Token& b) {
    bool is_sign = b.getType() == TileParser::PLUS || b.getType() == TileParser::MINUS;
    return a && is_sign && a->getType() == b.getType() && a->getStopIndex() + 1 == b.getStartIndex();
  };
  const Token* before = previous(parser);
  const Token& next = *parser.getTokenStream()->LT(2);
  if (found.getTokenIndex() == current(parser).getTokenIndex() && are_twins(&found, next)) return true;  // `++n`
  return before && (are_twins(before, found) || are_twins(parser.getTokenStream()->LT(-2), *before));
}

// Is there a `{` in the rest of the statement? Then what is wrong is what stands in front of it.
bool has_block_ahead(Parser& parser) {
  for (ssize_t ahead = 1;; ++ahead) {
    size_t next = parser.getTokenStream()->LA(ahead);
    if (next == TileParser::LEFT_BRACE) return true;
    if (next == Token::EOF || next == TileParser::SEMICOLON || next == TileParser::RIGHT_BRACE) return false;
  }
}

bool ends_block(Parser& parser) { return previous(parser) && previous(parser)->getType() == TileParser::RIGHT_BRACE; }

// Does the line go on as ` // n;` does?
bool is_quotient(std::string_view rest) {
  std::string_view line = trim(rest.substr(0, rest.find('\n')));
  if (!line.starts_with("//")) return false;
  std::string_view divisor = trim(line.substr(2));
  return divisor.ends_with(';') && divisor.find(' ') == divisor.npos;
}

// A word that says where memory lives.
bool names_memory(const Token* word) {
  constexpr size_t kWords[] = {TileParser::SHARED, TileParser::FRAGMENT, TileParser::LOCAL, TileParser::WORKSPACE};
  return word && std::ranges::find(kWords, word->getType()) != std::end(kWords);
}

}  // namespace

bool Recovery::is_damaged(const Token& token) const {
  uint32_t at = uint32_t(token.getStartIndex());
  return std::ranges::any_of(damaged_, [&](Span span) { return span.begin <= at && at <= span.end; });
}

std::string Recovery::shown(const Token& token) const {
  if (token.getType() == Token::EOF) return "the end of the file";
  constexpr size_t kMost = 24;
  std::string_view text = input_.spelling(token);
  return "`" + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "") + "`";
}

std::string Recovery::wanted(Parser& parser, const IntervalSet& expected) const {
  std::vector<ssize_t> types = expected.toList();
  const Token* before = previous(parser);
  bool is_closer = types.size() == 1 && (types[0] == TileParser::RIGHT_PAREN || types[0] == TileParser::RIGHT_BRACKET);
  if (is_closer && before) {
    size_t type = before->getType();
    bool begins_list = type == TileParser::LEFT_PAREN || type == TileParser::LEFT_BRACKET || type == TileParser::COMMA;
    if (begins_list && parser.getContext()->getRuleIndex() == TileParser::RuleParameters) return "a parameter";
    if (begins_list && parser.getContext()->getRuleIndex() == TileParser::RuleGenericParameters) return "a name";
    if (begins_list) return "an expression";
    return types[0] == TileParser::RIGHT_PAREN ? "`,` or `)`" : "`,` or `]`";
  }
  if (std::string_view words = subject(parser); !words.empty() && types.size() != 1) return std::string(words);
  constexpr size_t kMost = 5;
  if (types.empty() || types.size() > kMost) return {};
  auto is_closing = [](ssize_t type) {
    return type == TileParser::RIGHT_PAREN || type == TileParser::RIGHT_BRACKET || type == TileParser::RIGHT_BRACE;
  };
  std::ranges::stable_partition(types, std::not_fn(is_closing));
  std::string list;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string word = parser.getVocabulary().getLiteralName(size_t(types[i]));
    if (word.empty()) word = types[i] == TileParser::STRING ? "a string" : "a name";
    else word = "`" + word.substr(1, word.size() - 2) + "`";
    list += (i == 0 ? "" : i + 1 == types.size() ? " or " : ", ") + word;
  }
  return list;
}

void Recovery::report(Parser& parser, const Token& found, const IntervalSet& expected) {
  has_recovered_ = true;
  if (is_damaged(found)) return;
  Span span = input_.span(found);
  std::string words = wanted(parser, expected);
  if (words.empty()) {
    diagnostics_.at(span).error(diag::UnexpectedToken, shown(found));
  } else if (words == "a name" && is_reserved(found.getType())) {
    diagnostics_.at(span).error(diag::ReservedWord, input_.spelling(found));
  } else {
    auto said = diagnostics_.at(span).error(diag::ExpectedToken, words, shown(found));
    if (words == "a declaration" && found.getType() == TileParser::LET)
        said.fix(span, "const", "a constant is declared so");
    bool is_more = found.getType() == TileParser::SEMICOLON && (words == "a declaration" || words == "a statement");
    if (is_more) said.fix(span, "", ends_block(parser) ? "a block ends with its `}`: take it away" : "it ends nothing: take it away");
    if (words == "`;`" && found.getType() == TileParser::ASSIGN) said.help("an assignment has no value: each variable is set by one of its own, `b = 3; a = b;`");
    if (words == "a statement" && found.getType() == TileParser::CONST)
        said.fix(span, "let", "in a block, write `let`");
    if (uint32_t end = end_of_float(parser)) said.fix(input_.span(end, end), "0", "a float has digits on both sides of its dot");
    if (words == "`:`" && parser.getContext()->getRuleIndex() == TileParser::RuleParameter)
      said.help("a parameter's type stands behind its name, a tensor's with its extents: `x: f32[N]`, `n: int`");
    if (words == "`;`" && names_memory(previous(parser)))
      said.help("memory is declared with `var`, and where it lives is part of its type: `var w: workspace f32[N];`");
    if (words == "an expression" && found.getType() == TileParser::IF)
      said.help("inside an expression a choice stands in brackets: `x + (if c { 1 } else { 2 })`");
    if (words == "`;`" && found.getType() == TileParser::IF) said.help("a choice is written `if c { x } else { y }`");
    if (words == "`,` or `]`" && found.getType() == TileParser::DOT_DOT) said.help("a part is written `x[from : to]`, or by its length `x[from +: 64]`");
    const Token* sign = previous(parser);
    bool is_power = sign && sign->getType() == TileParser::STAR && found.getType() == TileParser::STAR && sign->getStopIndex() + 1 == found.getStartIndex();
    if (is_power) said.help("there is no `**`: write `pow(x, y)`, or `x * x`");
    if (is_increment(parser, found)) said.help("there is no `++` and no `--`: write `n += 1;`");
    bool is_body = words == "`{`" && parser.getContext()->getRuleIndex() == TileParser::RuleBlock;
    if (is_body && found.getType() == TileParser::REQUIRES) said.fix(input_.span(previous(parser)->getStopIndex() + 1, span.end), ",", "what is required stands in one list: `requires M > 0, N > 0`");
    else if (is_body && !has_block_ahead(parser)) said.help("what a loop or a branch does stands in braces: `{ ... }`");
  }
  lose_patience(found);
}

void Recovery::lose_patience(const Token& at) {
  if (!patience_.is_over(diagnostics_)) return;
  give_up(patience_, diagnostics_.at(input_.span(at)), input_.name);
  throw antlr4::ParseCancellationException();
}

void Recovery::report_missing_semicolon(Parser& parser) {
  has_recovered_ = true;
  const Token* before = previous(parser);
  if (before == nullptr || is_damaged(*before) || is_damaged(current(parser))) return;
  Span end = input_.span(before->getStopIndex() + 1, before->getStopIndex() + 1);
  auto said = diagnostics_.at(end).error(diag::MissingSemicolon, what_ends(parser.getContext()->getRuleIndex()));
  if (is_quotient(input_.text.substr(end.begin))) said.help("`//` begins a comment: integers are divided by `/`, which rounds toward minus infinity");
  else said.fix(end, ";", "end it here");
  lose_patience(*before);
}

void Recovery::reportError(Parser* parser, const antlr4::RecognitionException& error) {
  if (inErrorRecoveryMode(parser)) return;
  beginErrorCondition(parser);
  const Token* found = error.getOffendingToken();
  bool is_ahead = found->getTokenIndex() != current(*parser).getTokenIndex();
  if (!is_ahead) return report(*parser, *found, parser->getExpectedTokens());
  // Where a choice failed beyond its first token, what it expected there is not known.
  has_recovered_ = true;
  if (is_damaged(*found)) return;
  auto said = diagnostics_.at(input_.span(*found)).error(diag::UnexpectedToken, shown(*found));
  const Token* before = found->getTokenIndex() > 0 ? parser->getTokenStream()->get(found->getTokenIndex() - 1) : nullptr;
  // Two names in a row: C declares so.
  auto is_name = [](size_t type) { return type == TileParser::ID || (type >= TileParser::ALIAS && type <= TileParser::WORKSPACE); };
  if (before && is_name(before->getType()) && is_name(found->getType()))
    said.help("a declaration begins with `let` or `var`, and its type stands behind the name: `var sum: f32 = 0;`");
  lose_patience(*found);
}

void Recovery::recover(Parser* parser, std::exception_ptr) {
  skip_to_stop(*parser);
  size_t at = parser->getTokenStream()->index();
  if (at != stuck_at_) stuck_states_.clear();
  stuck_at_ = at;
  // The same rule failing twice at one token would do so for ever.
  if (!stuck_states_.insert(parser->getState()).second && current(*parser).getType() != Token::EOF) skip(*parser);
}

// A token that stands nowhere: the tree holds it as an error node, which the builder passes over.
antlr4::Token* Recovery::imagine_semicolon(const Token& before) {
  auto& token = imagined_.emplace_back(TileParser::SEMICOLON);
  token.setStartIndex(before.getStartIndex());
  token.setStopIndex(before.getStartIndex() - 1);
  return &token;
}

antlr4::Token* Recovery::recoverInline(Parser* parser) {
  IntervalSet expected = parser->getExpectedTokens();
  size_t type = current(*parser).getType();
  bool ends_here = begins_line(*parser) || type == TileParser::RIGHT_BRACE || type == Token::EOF;
  if (expected.contains(size_t(TileParser::SEMICOLON)) && ends_here && !inErrorRecoveryMode(parser)) {
    beginErrorCondition(parser);
    report_missing_semicolon(*parser);
    return imagine_semicolon(current(*parser));
  }
  if (expected.contains(size_t(TileParser::LEFT_BRACE)) && !inErrorRecoveryMode(parser)) {
    for (ssize_t ahead = 1;; ++ahead) {
      size_t next = parser->getTokenStream()->LA(ahead);
      if (next == Token::EOF || next == TileParser::SEMICOLON || next == TileParser::RIGHT_BRACE) break;
      if (next != TileParser::LEFT_BRACE) continue;
      report(*parser, current(*parser), expected);
      while (current(*parser).getType() != TileParser::LEFT_BRACE) skip(*parser);
      Token* brace = parser->getTokenStream()->LT(1);
      parser->consume();
      return brace;
    }
  }
  throw antlr4::InputMismatchException(parser);
}

void Recovery::sync(Parser* parser) {
  size_t rule = parser->getContext()->getRuleIndex();
  if (rule != TileParser::RuleBlock && rule != TileParser::RuleFile) return;
  for (;;) {
    size_t type = current(*parser).getType();
    const IntervalSet& follow = parser->getATN().nextTokens(parser->getATN().states[parser->getState()]);
    if (type == Token::EOF || follow.contains(type)) return;
    if (!inErrorRecoveryMode(parser)) {
      beginErrorCondition(parser);
      report(*parser, current(*parser), {});
    }
    if (rule == TileParser::RuleFile) {
      skip_to_declaration(*parser);
    } else {
      bool was_end = type == TileParser::SEMICOLON;
      skip(*parser);
      if (!was_end) skip_to_stop(*parser);
    }
  }
}

}  // namespace tilec::syntax
