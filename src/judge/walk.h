// Walks over the text of statements and expressions.
#pragma once
#include "syntax/ast.h"

namespace tilec::judge {

// Calls f(call) for every call in an expression, outer ones first.
template <class F> void each_call(const ast::Expr* expr, const F& f) {
  if (!expr) return;
  auto arguments = [&](const std::vector<ast::Argument>& all) {
    for (const ast::Argument& a : all) each_call(a.value, f);
  };
  if (auto* call = expr->as<ast::Call>()) f(*call), each_call(call->callee, f), arguments(call->arguments);
  if (auto* index = expr->as<ast::Index>()) {
    each_call(index->base, f);
    for (const ast::Subscript& s : index->subscripts) each_call(s.lo, f), each_call(s.hi, f);
    arguments(index->options);
  }
  if (auto* member = expr->as<ast::Member>()) each_call(member->base, f);
  if (auto* unary = expr->as<ast::Unary>()) each_call(unary->operand, f);
  if (auto* binary = expr->as<ast::Binary>()) each_call(binary->lhs, f), each_call(binary->rhs, f);
  if (auto* cast = expr->as<ast::Cast>()) each_call(cast->operand, f);
  if (auto* choice = expr->as<ast::IfExpr>()) each_call(choice->condition, f), each_call(choice->then_value, f), each_call(choice->else_value, f);
  if (auto* tuple = expr->as<ast::Tuple>())
    for (const ast::Expr* e : tuple->elements) each_call(e, f);
  if (auto* list = expr->as<ast::List>())
    for (const ast::Expr* e : list->elements) each_call(e, f);
}

// Calls f(statement) for a statement and all within it.
template <class F> void each_statement(const ast::Stmt& stmt, const F& f) {
  f(stmt);
  auto each = [&](const ast::Block& block) {
    for (const ast::Stmt* s : block.statements) each_statement(*s, f);
  };
  if (auto* block = stmt.as<ast::Block>()) each(*block);
  if (auto* loop = stmt.as<ast::For>()) each(loop->body);
  if (auto* loop = stmt.as<ast::While>()) each(loop->body);
  auto* choice = stmt.as<ast::If>();
  if (!choice) return;
  each(choice->then_block);
  if (choice->else_branch) each_statement(*choice->else_branch, f);
}

// Calls f(call) for every call in a statement that is not in another statement of it.
template <class F> void each_call(const ast::Stmt& stmt, const F& f) {
  if (auto* let = stmt.as<ast::Let>()) each_call(let->value, f);
  if (auto* var = stmt.as<ast::Var>()) each_call(var->value, f);
  if (auto* assign = stmt.as<ast::Assign>()) each_call(assign->target, f), each_call(assign->value, f);
  if (auto* value = stmt.as<ast::ExprStmt>()) each_call(value->value, f);
  if (auto* choice = stmt.as<ast::If>()) each_call(choice->condition, f);
  if (auto* loop = stmt.as<ast::While>()) each_call(loop->condition, f);
  if (auto* back = stmt.as<ast::Return>()) each_call(back->value, f);
}

}  // namespace tilec::judge
