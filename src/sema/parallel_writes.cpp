#include "sema/parallel_writes.h"

#include "sema/names.h"

namespace tilec::sema {
namespace {

struct Writes {
  Instance& in;
  const std::function<void(const ast::Index&, Span)>& found;

  // Expressions: what is handed over to be written.
  void look(const ast::Expr* expr) { if (expr) std::visit(*this, expr->node); }
  void look(const std::vector<const ast::Expr*>& all) { for (const ast::Expr* e : all) look(e); }
  void operator()(const ast::Member& n) { look(n.base); }
  void operator()(const ast::Unary& n) { look(n.operand); }
  void operator()(const ast::Binary& n) { look(n.lhs), look(n.rhs); }
  void operator()(const ast::Cast& n) { look(n.operand); }
  void operator()(const ast::Tuple& n) { look(n.elements); }
  void operator()(const ast::List& n) { look(n.elements); }
  void operator()(const ast::IfExpr& n) { look(n.condition), look(n.then_value), look(n.else_value); }
  void operator()(const ast::Index& n) {
    look(n.base);
    for (const ast::Subscript& s : n.subscripts) look(s.lo), look(s.hi);
  }
  void operator()(const ast::Call& n) {
    look(n.callee);
    const FnSet functions = functions_called(in, n);
    for (const ast::Argument& argument : n.arguments) {
      look(argument.value);
      auto* element = argument.value->as<ast::Index>();
      auto writes = [&](const FnRef& fn) {
        const ast::Parameter* parameter = parameter_of(fn, n, argument);
        return parameter && parameter->direction != ast::Direction::In;
      };
      if (element && std::ranges::any_of(functions.candidates, writes)) found(*element, argument.value->span);
    }
  }

  // Statements.
  void look(std::span<const ast::Stmt* const> statements) {
    for (const ast::Stmt* s : statements) std::visit(*this, s->node);
  }
  void operator()(const ast::Block& n) { look(n.statements); }
  void operator()(const ast::Let& n) { look(n.value); }
  void operator()(const ast::Var& n) { look(n.value); }
  void operator()(const ast::ExprStmt& n) { look(n.value); }
  void operator()(const ast::Return& n) { look(n.value); }
  void operator()(const ast::Assign& n) {
    if (auto* index = n.target->as<ast::Index>()) found(*index, n.target->span);
    look(n.target), look(n.value);
  }
  void operator()(const ast::If& n) {
    look(n.condition), look(n.then_block.statements);
    if (n.else_branch) look(std::span(&n.else_branch, 1));
  }
  void operator()(const ast::For& n) {
    for (const ast::Argument& a : n.arguments) look(a.value);
    look(n.body.statements);
  }
  void operator()(const ast::While& n) { look(n.condition), look(n.body.statements); }
  template <class T> void operator()(const T&) {}  // names, literals, what may not stand here
};

}  // namespace

void each_written_element(Instance& in, std::span<const ast::Stmt* const> statements,
                          const std::function<void(const ast::Index&, Span)>& found) {
  Writes{in, found}.look(statements);
}

}  // namespace tilec::sema
