// Statements.
#include "diag/diag.h"
#include "syntax/build.h"

namespace tilec::syntax {
namespace {

std::optional<ast::BinaryOp> compound_of(size_t token) {
  switch (token) {
    case TileParser::ADD_ASSIGN: return ast::BinaryOp::Add;
    case TileParser::SUBTRACT_ASSIGN: return ast::BinaryOp::Subtract;
    case TileParser::MULTIPLY_ASSIGN: return ast::BinaryOp::Multiply;
    case TileParser::DIVIDE_ASSIGN: return ast::BinaryOp::Divide;
    case TileParser::REMAINDER_ASSIGN: return ast::BinaryOp::Remainder;
    case TileParser::MATRIX_ASSIGN: return ast::BinaryOp::MatrixMultiply;
    case TileParser::AND_ASSIGN: return ast::BinaryOp::BitAnd;
    case TileParser::OR_ASSIGN: return ast::BinaryOp::BitOr;
    case TileParser::XOR_ASSIGN: return ast::BinaryOp::BitXor;
    case TileParser::SHIFT_LEFT_ASSIGN: return ast::BinaryOp::ShiftLeft;
    case TileParser::SHIFT_RIGHT_ASSIGN: return ast::BinaryOp::ShiftRight;
    default: return std::nullopt;
  }
}

bool is_assignable(const ast::Expr& target) {
  return target.as<ast::NameRef>() || target.as<ast::Member>() || target.as<ast::Index>() || target.as<ast::Call>() ||
         target.as<ast::Tuple>() || target.as<ast::Missing>();
}

std::optional<ast::LoopKind> loop_named(std::string_view word) {
  for (auto kind : {ast::LoopKind::Range, ast::LoopKind::Parallel, ast::LoopKind::Pipelined, ast::LoopKind::Unroll,
                    ast::LoopKind::Vectorized})
    if (word == spelling(kind)) return kind;
  return std::nullopt;
}

}  // namespace

ast::Block Builder::block(P::BlockContext* context) {
  ast::Block result{span(context), {}};
  if (!context) return result;
  for (auto* child : context->statement()) result.statements.push_back(statement(child));
  return result;
}

std::vector<ast::Attribute> Builder::attributes(const std::vector<P::AttributeContext*>& contexts) {
  std::vector<ast::Attribute> list;
  for (auto* context : contexts) {
    ast::Name word = context->OP() ? name_of(*context->OP()->getSymbol()) : name(context->name());
    list.push_back({span(context), word, arguments(context->arguments())});
  }
  return list;
}

const ast::Stmt* Builder::statement(P::StatementContext* context) {
  if (!context) return ast_.add(ast::Stmt{{}, ast::Missing{}, {}, {}});
  ast::Stmt result{span(context), ast::Missing{}, name(context->name()), attributes(context->attribute())};
  Rule* body = context->children.empty() ? nullptr : rule_of(context->children.back());
  switch (body ? body->getRuleIndex() : size_t(P::RuleStatement)) {
    case P::RuleBlock: result.node = block(static_cast<P::BlockContext*>(body)); break;
    case P::RuleLetStatement: {
      auto* let = static_cast<P::LetStatementContext*>(body);
      result.node = ast::Let{pattern(let->pattern()), optional_type(let->type()), expression(let->expression())};
      break;
    }
    case P::RuleVarStatement: {
      auto* var = static_cast<P::VarStatementContext*>(body);
      result.node = ast::Var{name(var->name()), optional_type(var->type()), optional_expression(var->expression())};
      break;
    }
    case P::RuleIfStatement: result.node = if_statement(static_cast<P::IfStatementContext*>(body))->node; break;
    case P::RuleForStatement: result.node = for_loop(static_cast<P::ForStatementContext*>(body)); break;
    case P::RuleWhileStatement: {
      auto* loop = static_cast<P::WhileStatementContext*>(body);
      result.node = ast::While{expression(loop->expression()), block(loop->block())};
      break;
    }
    case P::RuleLaunchStatement: result.node = launch(static_cast<P::LaunchStatementContext*>(body)); break;
    case P::RuleSimtStatement: {
      auto* simt = static_cast<P::SimtStatementContext*>(body);
      result.node = ast::Simt{name(simt->name()), block(simt->block())};
      break;
    }
    case P::RuleSyncStatement: result.node = ast::Sync{}; break;
    case P::RuleBreakStatement: result.node = ast::Break{}; break;
    case P::RuleContinueStatement: result.node = ast::Continue{}; break;
    case P::RuleReturnStatement:
      result.node = ast::Return{optional_expression(static_cast<P::ReturnStatementContext*>(body)->expression())};
      break;
    case P::RuleStaticAssert: result.node = static_assertion(static_cast<P::StaticAssertContext*>(body)); break;
    case P::RuleAsmStatement: result.node = inline_asm(static_cast<P::AsmStatementContext*>(body)); break;
    case P::RuleSimpleStatement: result.node = simple(static_cast<P::SimpleStatementContext*>(body)); break;
    default: ast_.has_errors = true;
  }
  return ast_.add(std::move(result));
}

const ast::Stmt* Builder::if_statement(P::IfStatementContext* context) {
  ast::If result{expression(context->expression()), block(context->block(0)), nullptr};
  if (auto* next = context->ifStatement()) result.else_branch = if_statement(next);
  else if (auto* last = context->block(1)) result.else_branch = ast_.add(ast::Stmt{span(last), block(last), {}, {}});
  return ast_.add(ast::Stmt{span(context), std::move(result), {}, {}});
}

ast::Pattern Builder::pattern(P::PatternContext* context) {
  ast::Pattern result{{}, false, span(context)};
  if (!context) return result;
  for (auto* part : context->patternName()) result.names.push_back(part->start ? name_of(*part->start) : ast::Name{});
  if (result.names.empty()) result.names.push_back({});
  result.is_tuple = result.names.size() > 1;
  return result;
}

ast::For Builder::for_loop(P::ForStatementContext* context) {
  ast::For result{pattern(context->pattern()), ast::LoopKind::Each, {}, {}, {}};
  auto bounds = context->expression();
  const ast::Expr* first = expression(bounds.empty() ? nullptr : bounds[0]);
  result.domain_span = first->span;
  const auto* call = first->as<ast::Call>();
  const auto* word = call && call->generics.empty() ? call->callee->as<ast::NameRef>() : nullptr;
  std::optional<ast::LoopKind> kind = word ? loop_named(word->name.text) : std::nullopt;
  if (context->DOT_DOT()) {
    const ast::Expr* last = expression(bounds.size() > 1 ? bounds[1] : nullptr);
    result.kind = ast::LoopKind::Interval;
    result.domain_span = cover(first->span, last->span);
    result.arguments = {{{}, first, first->span}, {{}, last, last->span}};
  } else if (kind && !first->is_parenthesized) {
    result.kind = *kind;
    result.arguments = call->arguments;
  } else {
    result.arguments = {{{}, first, first->span}};
  }
  result.body = block(context->block());
  return result;
}

ast::Launch Builder::launch(P::LaunchStatementContext* context) {
  ast::Launch result;
  for (auto* axis : context->launchAxis()) result.axes.push_back({name(axis->name()), expression(axis->expression())});
  for (auto* option : context->launchOption()) result.options.push_back(launch_option(option));
  for (size_t i = 0; i < result.options.size(); ++i)
    for (size_t before = 0; before < i; ++before)
      if (result.options[i].kind == result.options[before].kind)
        diagnostics_.at(result.options[i].span).error(diag::RepeatedModifier, spelling(result.options[i].kind));
  result.body = block(context->block());
  return result;
}

ast::Asm Builder::inline_asm(P::AsmStatementContext* context) {
  ast::Asm result;
  std::vector<const antlr4::Token*> strings;
  for (auto* part : context->STRING()) strings.push_back(part->getSymbol());
  if (!strings.empty()) {
    result.target = string_value(std::span(strings).first(1));
    result.target_span = span(*strings[0]);
    result.text = string_value(std::span(strings).subspan(1));
    if (strings.size() > 1) result.text_span = cover(span(*strings[1]), span(*strings.back()));
  }
  for (auto* part : context->asmOperand()) {
    ast::AsmOperand operand{ast::AsmOperandKind::Option, span(part), {}};
    const antlr4::Token* word = part->children.empty() ? nullptr : token_of(part->children[0]);
    if (word) {
      size_t type = word->getType();
      operand.kind = type == P::IN    ? ast::AsmOperandKind::In
                     : type == P::OUT ? ast::AsmOperandKind::Out
                                      : ast::AsmOperandKind::InOut;
      operand.arguments = arguments(part->arguments());
    } else {
      operand.arguments.push_back(argument(part->argument()));
    }
    result.operands.push_back(std::move(operand));
  }
  return result;
}

ast::StaticAssert Builder::static_assertion(P::StaticAssertContext* context) {
  std::vector<ast::Argument> list = arguments(context->arguments());
  const ast::Expr* condition = list.empty() ? missing(span(context)) : list[0].value;
  if (context->arguments() && (list.empty() || list.size() > 2))
    diagnostics_.at(span(context->arguments())).error(diag::ExpectedToken, "a condition and a message", list.empty()
        ? "nothing" : "more");
  return {condition, list.size() > 1 ? list[1].value : nullptr};
}

decltype(ast::Stmt::node) Builder::simple(P::SimpleStatementContext* context) {
  const ast::Expr* target = binary(context->binaryExpression());
  auto* op = context->assignmentOperator();
  if (!op || !op->start) return ast::ExprStmt{target};
  Span op_span = span(*op->start);
  if (!is_assignable(*target)) {
    diagnostics_.at(target->span).error(diag::NotAssignable, input_.spelling(*op->start));
    target = missing(target->span);
  }
  return ast::Assign{target, compound_of(op->start->getType()), op_span, expression(context->expression())};
}

}  // namespace tilec::syntax
