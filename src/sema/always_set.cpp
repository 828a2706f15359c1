#include "sema/always_set.h"

#include "sema/exits.h"
#include "sema/names.h"
#include "sema/scalar.h"

namespace tilec::sema {

namespace {

// Has the variable been set? None where control does not come.
using State = std::optional<bool>;

State joined(State a, State b) { return !a ? b : !b ? a : State(*a && *b); }

// Behind a condition, by its answer.
struct Decided {
  State yes, no;
  State either() const { return joined(yes, no); }
};

// Every mention counts as a read but `name = ...` and, with an instance, `f(name)` of an `out` parameter to which f assigns on every path.
class Paths {
 public:
  Paths(Instance* in, std::string_view name, bool is_read_at_exit) : in_(in), name_(name), is_read_at_exit_(is_read_at_exit) {}

  bool are_fine(std::span<const ast::Stmt* const> statements) {
    State end = run(statements, false);
    if (is_read_at_exit_) read(end);
    return is_fine_;
  }

 private:
  // An expression, from left to right, and what its calls have set.
  struct Evaluation {
    Paths& paths;
    State state;

    void all(const auto& expressions) { for (const ast::Expr* e : expressions) visit(e); }
    void visit(const ast::Expr* e) { if (e) std::visit(*this, e->node); }
    void operator()(const ast::NameRef& n) { if (n.name.text == paths.name_) paths.read(state); }
    void operator()(const ast::Member& n) { visit(n.base); }
    void operator()(const ast::Unary& n) { visit(n.operand); }
    void operator()(const ast::Binary& n) {
      if (is_logic(n)) state = paths.decide(n, state).either();
      else visit(n.lhs), visit(n.rhs);
    }
    void operator()(const ast::Cast& n) { visit(n.operand); }
    void operator()(const ast::IsTest& n) { visit(n.operand); }
    void operator()(const ast::Tuple& n) { all(n.elements); }
    void operator()(const ast::List& n) { all(n.elements); }
    void operator()(const ast::IfExpr& n) {
      const Decided decided = paths.decide(*n.condition, state);
      state = joined(paths.evaluate(n.then_value, decided.yes), paths.evaluate(n.else_value, decided.no));
    }
    void operator()(const ast::Call& n) {
      visit(n.callee);
      const FnSet functions = paths.in_ ? functions_called(*paths.in_, n) : FnSet();
      bool is_set = false;
      for (const ast::Argument& a : n.arguments) {
        auto sets = [&](const FnRef& fn) { return sets_parameter(fn, n, a); };
        const bool is_written = paths.is_named(a.value) && !functions.candidates.empty() && std::ranges::all_of(functions.candidates, sets);
        if (!is_written) visit(a.value);
        is_set |= is_written;
      }
      if (is_set && state) state = true;
    }
    void operator()(const ast::Index& n) {
      visit(n.base);
      for (const ast::Subscript& s : n.subscripts) visit(s.lo), visit(s.hi);
      for (const ast::Argument& o : n.options) visit(o.value);
    }
    template <class T> void operator()(const T&) {}  // literals
  };

  static bool sets_parameter(const FnRef& fn, const ast::Call& call, const ast::Argument& argument) {
    const ast::Parameter* parameter = parameter_of(fn, call, argument);
    const auto& body = fn.fn().body;
    return parameter && parameter->direction == ast::Direction::Out && body && Paths(nullptr, parameter->name.text, true).are_fine(body->statements);
  }
  bool is_named(const ast::Expr* expr) const {
    auto* name = expr ? expr->as<ast::NameRef>() : nullptr;
    return name && name->name.text == name_;
  }
  void read(State state) { is_fine_ &= !state || *state; }
  State evaluate(const ast::Expr* expr, State state) {
    Evaluation evaluation{*this, state};
    evaluation.visit(expr);
    return evaluation.state;
  }

  static bool is_logic(const ast::Binary& n) { return n.op == ast::BinaryOp::And || n.op == ast::BinaryOp::Or; }
  Decided decide(const ast::Binary& n, State state) {
    const Decided left = decide(*n.lhs, state);
    const bool is_and = n.op == ast::BinaryOp::And;
    const Decided right = decide(*n.rhs, is_and ? left.yes : left.no);
    return is_and ? Decided{right.yes, joined(left.no, right.no)} : Decided{joined(left.yes, right.yes), right.no};
  }
  Decided decide(const ast::Expr& condition, State state) {
    if (auto* n = condition.as<ast::Binary>(); n && is_logic(*n)) return decide(*n, state);
    if (auto* n = condition.as<ast::Unary>(); n && n->op == ast::UnaryOp::Not) {
      const Decided decided = decide(*n->operand, state);
      return {decided.no, decided.yes};
    }
    if (auto* n = condition.as<ast::BoolLiteral>()) return n->value ? Decided{state, {}} : Decided{{}, state};
    state = evaluate(&condition, state);
    return {state, state};
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
      return evaluate(n->value, state);
    }
    if (auto* n = stmt.as<ast::Var>()) return declare(n->name), evaluate(n->value, state);
    if (auto* n = stmt.as<ast::ExprStmt>()) return evaluate(n->value, state);
    if (auto* n = stmt.as<ast::Assign>()) return assign(*n, state);
    if (auto* n = stmt.as<ast::If>()) {
      const Decided decided = decide(*n->condition, state);
      return joined(run(n->then_block.statements, decided.yes), n->else_branch ? run(*n->else_branch, decided.no) : decided.no);
    }
    if (auto* n = stmt.as<ast::For>()) {
      for (const ast::Argument& a : n->arguments) state = evaluate(a.value, state);
      for (const ast::Name& name : n->pattern.names) declare(name);
      return loop(n->body, state, state);
    }
    if (auto* n = stmt.as<ast::While>()) {
      const Decided decided = decide(*n->condition, state);
      return loop(n->body, decided.yes, decided.no);
    }
    if (stmt.as<ast::Break>()) {
      if (breaks_.empty()) is_fine_ = false;
      else breaks_.back() = joined(breaks_.back(), state);
      return {};
    }
    if (stmt.as<ast::Continue>()) return {};
    if (auto* n = stmt.as<ast::Return>()) {
      state = evaluate(n->value, state);
      if (is_read_at_exit_) read(state);
      return {};
    }
    if (stmt.as<ast::Sync>() || stmt.as<ast::StaticAssert>()) return state;
    is_fine_ = false;  // launches, threads
    return state;
  }

  State assign(const ast::Assign& n, State state) {
    const bool is_set = is_named(n.target) && !n.op;
    if (!is_set) state = evaluate(n.target, state);
    state = evaluate(n.value, state);
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

  Instance* in_;
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
  if (id && in.level != Level::Constant && has_loops_or_exits(rest) && Paths(&in, node.name.text, false).are_fine(rest)) begin_with_zeros(in, *id);
}

void begin_with_zeros_if_always_set(Instance& in, const ast::Fn& fn) {
  if (!fn.body || in.level == Level::Constant || !has_loops_or_exits(fn.body->statements)) return;
  for (const ast::Parameter& p : fn.signature.parameters) {
    const Binding* binding = p.direction == ast::Direction::Out ? in.find(p.name.text) : nullptr;
    auto* id = binding ? std::get_if<VariableId>(&binding->what) : nullptr;
    if (id && Paths(&in, p.name.text, true).are_fine(fn.body->statements)) begin_with_zeros(in, *id);
  }
}

}  // namespace tilec::sema
