#include "sema/always_set.h"

#include "sema/dims.h"
#include "sema/exits.h"
#include "sema/scalar.h"

namespace tilec::sema {

namespace {

// Has the variable been set? None where control does not come.
using State = std::optional<bool>;

State joined(State a, State b) { return !a ? b : !b ? a : State(*a && *b); }

// Every mention but `name = ...` counts as a read.
class Paths {
 public:
  Paths(std::string_view name, bool is_read_at_exit) : name_(name), is_read_at_exit_(is_read_at_exit) {}

  bool are_fine(std::span<const ast::Stmt* const> statements) {
    State end = run(statements, false);
    if (is_read_at_exit_) read(end);
    return is_fine_;
  }

 private:
  void read(State state) { is_fine_ &= !state || *state; }
  void read(const ast::Expr* expr, State state) {
    if (expr) each_name(*expr, [&](const ast::Name& name) { if (name.text == name_) read(state); });
  }
  void declare(const ast::Name& name) { is_fine_ &= name.text != name_; }  // another one of this name: nothing is said

  State run(std::span<const ast::Stmt* const> statements, State state) {
    for (const ast::Stmt* s : statements) state = run(*s, state);
    return state;
  }

  State run(const ast::Stmt& stmt, State state) {
    if (auto* n = stmt.as<ast::Block>()) return run(n->statements, state);
    if (auto* n = stmt.as<ast::Let>()) {
      for (const ast::Name& name : n->pattern.names) declare(name);
      return read(n->value, state), state;
    }
    if (auto* n = stmt.as<ast::Var>()) return declare(n->name), read(n->value, state), state;
    if (auto* n = stmt.as<ast::ExprStmt>()) return read(n->value, state), state;
    if (auto* n = stmt.as<ast::Assign>()) return assign(*n, state);
    if (auto* n = stmt.as<ast::If>()) {
      read(n->condition, state);
      return joined(run(n->then_block.statements, state), n->else_branch ? run(*n->else_branch, state) : state);
    }
    if (auto* n = stmt.as<ast::For>()) {
      for (const ast::Argument& a : n->arguments) read(a.value, state);
      for (const ast::Name& name : n->pattern.names) declare(name);
      return loop(n->body, state, state);
    }
    if (auto* n = stmt.as<ast::While>()) {
      read(n->condition, state);
      auto* literal = n->condition->as<ast::BoolLiteral>();
      return loop(n->body, state, literal && literal->value ? State() : state);
    }
    if (stmt.as<ast::Break>()) {
      if (breaks_.empty()) is_fine_ = false;
      else breaks_.back() = joined(breaks_.back(), state);
      return {};
    }
    if (stmt.as<ast::Continue>()) return {};
    if (auto* n = stmt.as<ast::Return>()) {
      read(n->value, state);
      if (is_read_at_exit_) read(state);
      return {};
    }
    if (stmt.as<ast::Sync>() || stmt.as<ast::StaticAssert>()) return state;
    is_fine_ = false;  // launches, threads
    return state;
  }

  State assign(const ast::Assign& n, State state) {
    auto* target = n.target->as<ast::NameRef>();
    bool is_set = target && target->name.text == name_ && !n.op;
    read(n.value, state);
    if (!is_set) read(n.target, state);
    return is_set && state ? State(true) : state;
  }

  // What its turns set counts where they leave it by `break`; `end` is how it ends else.
  State loop(const ast::Block& body, State begin, State end) {
    breaks_.push_back({});
    run(body.statements, begin);
    State left = breaks_.back();
    breaks_.pop_back();
    return joined(end, left);
  }

  std::string_view name_;
  bool is_read_at_exit_;
  bool is_fine_ = true;
  std::vector<State> breaks_;
};

bool has_loops_or_exits(std::span<const ast::Stmt* const> statements) {
  auto is_loop = [](const ast::Stmt* s) { return s->as<ast::For>() || s->as<ast::While>(); };
  return exits_of(statements).any() || std::ranges::any_of(statements, is_loop);
}

void begin_with_zeros(Instance& in, VariableId id) {
  Variable& v = in.variable(id);
  if (v.current.valid() || v.is_poison) return;
  v.current = zero(in, v.type);
}

}  // namespace

void begin_with_zeros_if_always_set(Instance& in, const ast::Var& node, std::span<const ast::Stmt* const> rest) {
  const Binding* binding = in.find(node.name.text);
  auto* id = binding ? std::get_if<VariableId>(&binding->what) : nullptr;
  if (id && in.level != Level::Constant && has_loops_or_exits(rest) && Paths(node.name.text, false).are_fine(rest)) begin_with_zeros(in, *id);
}

void begin_with_zeros_if_always_set(Instance& in, const ast::Fn& fn) {
  if (!fn.body || in.level == Level::Constant || !has_loops_or_exits(fn.body->statements)) return;
  for (const ast::Parameter& p : fn.signature.parameters) {
    const Binding* binding = p.direction == ast::Direction::Out ? in.find(p.name.text) : nullptr;
    auto* id = binding ? std::get_if<VariableId>(&binding->what) : nullptr;
    if (id && Paths(p.name.text, true).are_fine(fn.body->statements)) begin_with_zeros(in, *id);
  }
}

}  // namespace tilec::sema
