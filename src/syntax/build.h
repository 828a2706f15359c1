// Makes the AST from ANTLR's tree. The tree of a text with mistakes has holes: every function takes a null context, and
// answers it with `Missing` or an empty name.
#pragma once
#include <antlr4-runtime.h>

#include <typeinfo>

#include "TileParser.h"
#include "diag/sink.h"
#include "syntax/ast.h"
#include "syntax/tokens.h"

namespace tilec::syntax {

class Builder {
 public:
  Builder(const Input& input, Ast& ast, Diagnostics& diagnostics) : input_(input), ast_(ast),
      diagnostics_(diagnostics) {}
  void file(TileParser::FileContext* context);

 private:
  using Rule = antlr4::ParserRuleContext;
  using P = TileParser;

  // build_decl.cpp
  ast::Decl* declaration(P::DeclarationContext*);
  ast::Import import(P::ImportDeclarationContext*);
  ast::Enum enumeration(P::EnumDeclarationContext*);
  ast::Fn function(P::FnDeclarationContext*);
  ast::Export export_of(P::ExportDeclarationContext*);
  ast::Tune tune(P::TuneDeclarationContext*);
  ast::Signature signature(P::SignatureContext*);
  ast::Parameter parameter(P::ParameterContext*);
  std::vector<ast::GenericParameter> generic_parameters(P::GenericParametersContext*);
  std::string doc_before(uint32_t offset) const;

  // build_schedule.cpp
  ast::Schedule schedule(P::ScheduleDeclarationContext*);
  ast::ScheduleItem schedule_item(P::ScheduleItemContext*);
  ast::LaunchOption launch_option(P::LaunchOptionContext*);
  ast::Clause clause(P::ClauseContext*);
  std::vector<ast::Clause> clauses(const std::vector<P::ClauseContext*>&);

  // build_stmt.cpp
  ast::Block block(P::BlockContext*);
  const ast::Stmt* statement(P::StatementContext*);
  const ast::Stmt* if_statement(P::IfStatementContext*);
  ast::For for_loop(P::ForStatementContext*);
  ast::Launch launch(P::LaunchStatementContext*);
  ast::Asm inline_asm(P::AsmStatementContext*);
  ast::StaticAssert static_assertion(P::StaticAssertContext*);
  decltype(ast::Stmt::node) simple(P::SimpleStatementContext*);
  ast::Pattern pattern(P::PatternContext*);
  std::vector<ast::Attribute> attributes(const std::vector<P::AttributeContext*>&);

  // build_type.cpp
  const ast::Type* type(P::TypeContext*);
  const ast::Type* optional_type(P::TypeContext* context) { return context ? type(context) : nullptr; }
  ast::ShapedType shaped_type(P::TypeContext*);

  // build_expr.cpp
  ast::Expr* expression(P::ExpressionContext*);
  ast::Expr* optional_expression(P::ExpressionContext* context) { return context ? expression(context) : nullptr; }
  ast::Expr* conditional(P::ExpressionContext*);
  std::vector<const ast::Expr*> expressions(const std::vector<P::ExpressionContext*>&);
  ast::Expr* if_expression(P::IfExpressionContext*);
  ast::Expr* binary(P::BinaryExpressionContext*);
  ast::Expr* operand(P::OperandContext*);
  ast::Expr* primary(P::PrimaryContext*);
  ast::Expr* literal(const antlr4::Token&);
  ast::Expr* postfix(ast::Expr* base, P::PostfixContext*, P::PostfixContext* next, bool& takes_next);
  ast::Expr* index(ast::Expr* base, P::RegionContext*);
  ast::Expr* call(ast::Expr* callee, P::RegionContext* generics, P::ArgumentsContext*);
  ast::Subscript subscript(P::SubscriptContext*);
  ast::Argument argument(P::ArgumentContext*);
  std::vector<ast::Argument> arguments(P::ArgumentsContext*);
  std::vector<ast::Argument> generic_arguments(P::GenericArgumentsContext*);
  std::vector<ast::Argument> arguments_of(const std::vector<P::ArgumentContext*>&);
  std::vector<ast::Argument> generics_of(P::RegionContext*);
  std::string string_value(std::span<const antlr4::Token* const> tokens);
  ast::Expr* missing(Span span);

  // build.cpp
  ast::Name name(P::NameContext*);
  ast::Name name_of(const antlr4::Token& token);
  std::vector<ast::Name> names(const std::vector<P::NameContext*>&);
  std::vector<ast::Name> path(P::PathContext*);
  Span span(const Rule*) const;
  Span span(const antlr4::Token& token) const { return input_.span(token); }

  template <class T>
  ast::Expr* make(Span where, T node) { return ast_.add(ast::Expr{where, std::move(node)}); }

  const Input& input_;
  Ast& ast_;
  Diagnostics& diagnostics_;
};

// The rule that a child is, or null for a token. ANTLR's own answer is a dynamic_cast, which would be a fifth of
// parsing.
inline antlr4::ParserRuleContext* rule_of(antlr4::tree::ParseTree* child) {
  const std::type_info& type = typeid(*child);
  bool is_token = type == typeid(antlr4::tree::TerminalNodeImpl) || type == typeid(antlr4::tree::ErrorNodeImpl);
  return is_token ? nullptr : static_cast<antlr4::ParserRuleContext*>(child);
}
// The child as the context `Context` of rule `rule`, or null when it is another or there is none.
template <class Context>
Context* rule_as(antlr4::tree::ParseTree* child, size_t rule) {
  antlr4::ParserRuleContext* found = child ? rule_of(child) : nullptr;
  return found && found->getRuleIndex() == rule ? static_cast<Context*>(found) : nullptr;
}
// The token of a child that is one, else null.
inline const antlr4::Token* token_of(antlr4::tree::ParseTree* child) {
  if (typeid(*child) != typeid(antlr4::tree::TerminalNodeImpl)) return nullptr;
  return dynamic_cast<antlr4::tree::TerminalNodeImpl*>(child)->getSymbol();
}

}  // namespace tilec::syntax
