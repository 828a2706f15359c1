#include "sema/stmt.h"

#include "sema/always_set.h"
#include "sema/assign.h"
#include "sema/exits.h"

namespace tilec::sema {
namespace {

std::string message_of(Instance& in, const ast::StaticAssert& node) {
  if (!node.message) return std::string(in.text(node.condition->span));
  Value text = evaluate(in, *node.message);
  return text.is<Text>() ? text.as<Text>()->text : std::string(in.text(node.condition->span));
}

void run_sync(Instance& in, Span span) {
  if (in.level != Level::Thread) return void(not_allowed(in, span, "`sync`", "outside of `simt`"));
  in.builder.set_span(span);
  in.builder.add(op::BlockBarrier{});
}

// `y[i] == 0;` of an `out` was meant to set it.
bool compares_output(Instance& in, const ast::Expr& expr) {
  auto* test = expr.as<ast::Binary>();
  auto* index = test && test->op == ast::BinaryOp::Equal ? test->lhs->as<ast::Index>() : nullptr;
  auto* name = index ? index->base->as<ast::NameRef>() : nullptr;
  const Binding* binding = name ? in.find(name->name.text) : nullptr;
  auto* value = binding ? std::get_if<Value>(&binding->what) : nullptr;
  auto* view = value ? value->as<View>() : nullptr;
  if (!view || in.memory(view->memory).access != ir::Access::Out) return false;
  in.at(test->op_span).error(diag::ReadOfOut, name->name.text).fix(test->op_span, "=", "`==` compares, `=` sets it");
  return true;
}

struct Run {
  Instance& in;
  const ast::Stmt& stmt;
  void operator()(const ast::Missing&) {}
  void operator()(const ast::Block& n) { run_scoped(in, n); }
  void operator()(const ast::Let& n) { run_let(in, n); }
  void operator()(const ast::Var& n) { run_var(in, stmt, n); }
  void operator()(const ast::Assign& n) { run_assign(in, n, cover(n.target->span, n.value->span)); }
  void operator()(const ast::ExprStmt& n) {
    if (!compares_output(in, *n.value)) evaluate(in, *n.value);
  }
  void operator()(const ast::If& n) { run_if(in, n, {}); }
  void operator()(const ast::For& n) { run_for(in, stmt, n); }
  void operator()(const ast::While& n) { run_while(in, n); }
  void operator()(const ast::Break&) { run_break(in, stmt.span); }
  void operator()(const ast::Continue&) { run_continue(in, stmt.span); }
  void operator()(const ast::Return& n) { run_return(in, n, stmt.span); }
  void operator()(const ast::Launch& n) { run_launch(in, stmt, n); }
  void operator()(const ast::Simt& n) { run_simt(in, stmt, n); }
  void operator()(const ast::Sync&) { run_sync(in, stmt.span); }
  void operator()(const ast::StaticAssert& n) { run_static_assert(in, n); }
  void operator()(const ast::Asm&) { not_supported(in, stmt.span, "`asm`"); }
};

// Flags of exits inside a statement that is no `if`.
Exits exits_inside(const ast::Stmt& stmt) {
  bool is_exit = stmt.as<ast::Break>() || stmt.as<ast::Continue>() || stmt.as<ast::Return>();
  return is_exit ? Exits{} : exits_of(stmt);
}

}  // namespace

void run_static_assert(Instance& in, const ast::StaticAssert& node) {
  Value test = condition(in, *node.condition);
  if (test.is_poison()) return;
  auto* c = test.as<Const>();
  if (!c) in.at(node.condition->span).error(diag::NotCompileTime, "the condition of `static_assert`");
  else if (!c->number.i) in.at(node.condition->span).error(diag::StaticAssertFailed, message_of(in, node));
}

void run_statement(Instance& in, const ast::Stmt& stmt) {
  // A label means the statement's own loads and stores; that of a loop means the loop.
  bool has_body = stmt.as<ast::For>() || stmt.as<ast::While>() || stmt.as<ast::Launch>() || stmt.as<ast::Simt>();
  Restore<std::string> label(in.label, has_body ? "" : stmt.label.exists() ? std::string(stmt.label.text) : in.label);
  for (const ast::Attribute& a : stmt.attributes)
    not_supported(in, a.span, "the attribute `@" + std::string(a.name.text) + "` of a statement");
  in.builder.set_span(stmt.span);
  in.assigned_when.clear();
  std::visit(Run{in, stmt}, stmt.node);
}

void run_statements(Instance& in, std::span<const ast::Stmt* const> statements) {
  for (size_t i = 0; i < statements.size() && !in.is_dead; ++i) {
    const ast::Stmt& stmt = *statements[i];
    auto rest = statements.subspan(i + 1);
    if (auto* node = stmt.as<ast::If>(); node && exits_of(stmt).any()) {
      in.assigned_when.clear();
      run_if(in, *node, rest);
      return;
    }
    run_statement(in, stmt);
    if (auto* node = stmt.as<ast::Var>(); node && !node->value) begin_with_zeros_if_always_set(in, *node, rest);
    Exits exits = exits_inside(stmt);
    if (!exits.any() || rest.empty() || in.is_dead) continue;
    ir::ValueId here = still_here(in, exits);
    if (!here.valid()) continue;
    return run_where(in, here, rest);
  }
}

void run_block(Instance& in, const ast::Block& block) { run_statements(in, block.statements); }

void run_scoped(Instance& in, const ast::Block& block) {
  ScopeGuard scope(in);
  run_block(in, block);
}

}  // namespace tilec::sema
