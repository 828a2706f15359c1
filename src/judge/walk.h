// Walks over the text of statements and expressions.
#pragma once
#include <optional>

#include "syntax/ast.h"

namespace tilec::judge {

// Calls f(part) for an expression and all within it, outer ones first.
template <class F> void each_part(const ast::Expr* expr, const F& f) {
  if (!expr) return;
  f(*expr);
  auto arguments = [&](const std::vector<ast::Argument>& all) {
    for (const ast::Argument& a : all) each_part(a.value, f);
  };
  if (auto* call = expr->as<ast::Call>()) each_part(call->callee, f), arguments(call->arguments);
  if (auto* index = expr->as<ast::Index>()) {
    each_part(index->base, f);
    for (const ast::Subscript& s : index->subscripts) each_part(s.lo, f), each_part(s.hi, f);
    arguments(index->options);
  }
  if (auto* member = expr->as<ast::Member>()) each_part(member->base, f);
  if (auto* unary = expr->as<ast::Unary>()) each_part(unary->operand, f);
  if (auto* binary = expr->as<ast::Binary>()) each_part(binary->lhs, f), each_part(binary->rhs, f);
  if (auto* cast = expr->as<ast::Cast>()) each_part(cast->operand, f);
  if (auto* choice = expr->as<ast::IfExpr>()) each_part(choice->condition, f), each_part(choice->then_value, f), each_part(choice->else_value, f);
  if (auto* tuple = expr->as<ast::Tuple>())
    for (const ast::Expr* e : tuple->elements) each_part(e, f);
  if (auto* list = expr->as<ast::List>())
    for (const ast::Expr* e : list->elements) each_part(e, f);
}

// Calls f(call) for every call in an expression, outer ones first.
template <class F> void each_call(const ast::Expr* expr, const F& f) {
  each_part(expr, [&](const ast::Expr& part) {
    if (auto* call = part.as<ast::Call>()) f(*call);
  });
}

// Calls f(statement) for a statement and all within it; of a choice, one side alone where `side(choice)` gives one.
template <class F, class S> void each_statement(const ast::Stmt& stmt, const F& f, const S& side) {
  f(stmt);
  auto each = [&](const ast::Block& block) {
    for (const ast::Stmt* s : block.statements) each_statement(*s, f, side);
  };
  if (auto* block = stmt.as<ast::Block>()) each(*block);
  if (auto* loop = stmt.as<ast::For>()) each(loop->body);
  if (auto* loop = stmt.as<ast::While>()) each(loop->body);
  auto* choice = stmt.as<ast::If>();
  if (!choice) return;
  const std::optional<bool> one = side(*choice);
  if (one != false) each(choice->then_block);
  if (choice->else_branch && one != true) each_statement(*choice->else_branch, f, side);
}
template <class F> void each_statement(const ast::Stmt& stmt, const F& f) {
  each_statement(stmt, f, [](const ast::If&) { return std::optional<bool>(); });
}

// Calls f(expression) for every expression of a statement that is not in another statement of it.
template <class F> void each_expression(const ast::Stmt& stmt, const F& f) {
  if (auto* let = stmt.as<ast::Let>()) f(let->value);
  if (auto* var = stmt.as<ast::Var>()) f(var->value);
  if (auto* assign = stmt.as<ast::Assign>()) f(assign->target), f(assign->value);
  if (auto* value = stmt.as<ast::ExprStmt>()) f(value->value);
  if (auto* choice = stmt.as<ast::If>()) f(choice->condition);
  if (auto* loop = stmt.as<ast::While>()) f(loop->condition);
  if (auto* loop = stmt.as<ast::For>())
    for (const ast::Argument& a : loop->arguments) f(a.value);
  if (auto* back = stmt.as<ast::Return>()) f(back->value);
}

// Calls f(call) for every call in a statement that is not in another statement of it.
template <class F> void each_call(const ast::Stmt& stmt, const F& f) {
  each_expression(stmt, [&](const ast::Expr* expr) { each_call(expr, f); });
}

// Calls f(target) for every assignment in a statement.
template <class F> void each_target(const ast::Stmt& stmt, const F& f) {
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (auto* assign = s.as<ast::Assign>()) f(*assign->target);
  });
}

// Is the name read there?
inline bool mentions(const ast::Expr* expr, std::string_view name) {
  bool found = false;
  each_part(expr, [&](const ast::Expr& part) {
    auto* ref = part.as<ast::NameRef>();
    found |= ref && ref->name.text == name;
  });
  return found;
}

inline bool mentions(const ast::Block& body, std::string_view name) {
  bool found = false;
  for (const ast::Stmt* s : body.statements)
    each_statement(*s, [&](const ast::Stmt& inner) { each_expression(inner, [&](const ast::Expr* expr) { found |= mentions(expr, name); }); });
  return found;
}

// The name of which all or a part is assigned to; empty where there is none.
inline std::string_view root_of(const ast::Expr* place) {
  while (place && !place->as<ast::NameRef>()) {
    auto* index = place->as<ast::Index>();
    auto* member = place->as<ast::Member>();
    place = index ? index->base : member ? member->base : nullptr;
  }
  return place ? place->as<ast::NameRef>()->name.text : std::string_view();
}

inline bool returns(const ast::If& choice) {
  bool found = false;
  auto look = [&](const ast::Stmt& s) { found |= s.as<ast::Return>() != nullptr; };
  for (const ast::Stmt* s : choice.then_block.statements) each_statement(*s, look);
  if (choice.else_branch) each_statement(*choice.else_branch, look);
  return found;
}

}  // namespace tilec::judge
