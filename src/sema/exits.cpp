#include "sema/exits.h"

#include "sema/expr.h"
#include "sema/stmt.h"
#include "sema/types.h"

namespace tilec::sema {
namespace {

struct ExitsOf {
  Exits operator()(const ast::Break&) const { return {.breaks = true}; }
  Exits operator()(const ast::Continue&) const { return {.continues = true}; }
  Exits operator()(const ast::Return&) const { return {.returns = true}; }
  Exits operator()(const ast::Block& b) const { return exits_of(b.statements); }
  Exits operator()(const ast::If& n) const {
    Exits exits = exits_of(n.then_block.statements);
    return n.else_branch ? exits | exits_of(*n.else_branch) : exits;
  }
  Exits operator()(const ast::For& n) const { return {.returns = exits_of(n.body.statements).returns}; }
  Exits operator()(const ast::While& n) const { return {.returns = exits_of(n.body.statements).returns}; }
  template <class T> Exits operator()(const T&) const { return {}; }
};

// A `return` inside a loop.
bool returns_from_loop(std::span<const ast::Stmt* const> statements) {
  for (const ast::Stmt* s : statements) {
    bool found = false;
    if (auto* n = s->as<ast::For>()) found = exits_of(n->body.statements).returns;
    if (auto* n = s->as<ast::While>()) found = exits_of(n->body.statements).returns;
    if (auto* n = s->as<ast::Block>()) found = returns_from_loop(n->statements);
    if (auto* n = s->as<ast::If>()) {
      found = returns_from_loop(n->then_block.statements);
      if (n->else_branch) found |= returns_from_loop(std::span(&n->else_branch, 1));
    }
    if (found) return true;
  }
  return false;
}

// The zero of a declared result, which a flag says not to look at.
ir::ValueId any_value(Instance& in, const ast::Type& declared, ir::Type& type) {
  auto resolved = resolve(in, declared);
  if (!resolved) return {};
  auto shape = resolved->is_scalar() ? Shape{} : resolved->shape();
  if (!shape) return {};
  type = resolved->is_scalar() ? ir::scalar_type(resolved->element) : ir::tile_type(resolved->element, *shape);
  return zero(in, type);
}

}  // namespace

Exits exits_of(const ast::Stmt& stmt) { return std::visit(ExitsOf{}, stmt.node); }

Exits exits_of(std::span<const ast::Stmt* const> statements) {
  Exits exits;
  for (const ast::Stmt* s : statements) exits = exits | exits_of(*s);
  return exits;
}

bool always_exits(const ast::Stmt& stmt) {
  if (stmt.as<ast::Break>() || stmt.as<ast::Continue>() || stmt.as<ast::Return>()) return true;
  if (auto* b = stmt.as<ast::Block>()) return always_exits(b->statements);
  auto* n = stmt.as<ast::If>();
  return n && n->else_branch && always_exits(n->then_block.statements) && always_exits(*n->else_branch);
}

bool always_exits(std::span<const ast::Stmt* const> statements) {
  return std::any_of(statements.begin(), statements.end(), [](const ast::Stmt* s) { return always_exits(*s); });
}

namespace {

std::span<const ast::Stmt* const> statements_of(const ast::Stmt* const& stmt) {
  if (auto* block = stmt->as<ast::Block>()) return block->statements;
  return std::span(&stmt, 1);
}

// A branch, with or without statements after it.
bool needs_flag(const ast::If& n, bool is_last, bool Exits::*kind) {
  std::span<const ast::Stmt* const> then_part = n.then_block.statements, else_part;
  if (n.else_branch) else_part = statements_of(n.else_branch);
  if (needs_flag(then_part, kind) || needs_flag(else_part, kind)) return true;
  if (is_last) return false;
  bool then_leaves = always_exits(then_part), else_leaves = always_exits(else_part);
  if (then_leaves && else_leaves) return false;
  if (then_leaves) return exits_of(else_part).*kind;
  return !else_leaves || exits_of(then_part).*kind;
}

}  // namespace

bool needs_flag(std::span<const ast::Stmt* const> statements, bool Exits::*kind) {
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt& s = *statements[i];
    bool is_last = i + 1 == statements.size();
    if (s.as<ast::Break>() || s.as<ast::Continue>() || s.as<ast::Return>()) return false;
    if (!(exits_of(s).*kind)) continue;
    if (auto* n = s.as<ast::If>()) {
      if (needs_flag(*n, is_last, kind)) return true;
    } else if (auto* b = s.as<ast::Block>()) {
      if (needs_flag(b->statements, kind) || (!is_last && !always_exits(b->statements))) return true;
    } else {
      return true;
    }
  }
  return false;
}

VariableId new_flag(Instance& in, std::string name) {
  return in.new_variable(std::move(name), {}, ir::scalar_type(Scalar::Bool), in.builder.boolean(true));
}

bool prepare_returns(Instance& in, const ast::Block& body) {
  Frame& frame = in.frame();
  std::span<const ast::Stmt* const> statements = body.statements;
  bool ends_in_return = !statements.empty() && statements.back()->as<ast::Return>();
  if (ends_in_return && !exits_of(statements.first(statements.size() - 1)).returns) return true;
  if (!exits_of(statements).returns || in.level == Level::Constant) return true;
  frame.result_variable = in.new_variable("result", {}, {}, {});
  if (!returns_from_loop(statements) && !needs_flag(statements, &Exits::returns)) return true;
  const ast::Type* declared = frame.decl->as<ast::Fn>()->signature.result;
  if (declared) {
    ir::Type type;
    ir::ValueId zero = any_value(in, *declared, type);
    if (!zero.valid()) return false;
    in.variable(*frame.result_variable).type = type;
    in.set(*frame.result_variable, zero);
  }
  in.frame().runs = new_flag(in, "runs");
  return true;
}

ir::ValueId still_here(Instance& in, Exits exits) {
  ir::ValueId all;
  auto also = [&](std::optional<VariableId> flag) {
    if (!flag) return;
    ir::ValueId value = in.variable(*flag).current;
    all = all.valid() ? in.builder.logical_and(all, value) : value;
  };
  bool has_loop = in.loops.size() > in.frame().first_loop;
  if (exits.breaks && has_loop) also(in.loops.back().goes_on);
  if (exits.continues && has_loop) also(in.loops.back().in_turn);
  if (exits.returns) also(in.frame().runs);
  return all;
}

namespace {

constexpr const char* kUnderIf = "put the rest under an `if`";

Loop* loop_to_leave(Instance& in, Span span, std::string_view what, const char* help = kUnderIf) {
  const bool is_block = !(in.frame().decl && in.frame().decl->as<ast::Fn>()) && in.level != Level::Host;
  if (in.loops.size() <= in.frame().first_loop) return not_allowed(in, span, what, "outside of a loop", is_block ? "`return;` ends what the block does" : nullptr), nullptr;
  if (in.loops.back().allows_exits) return &in.loops.back();
  in.at(span).error(diag::NotAllowedHere, what, "in a loop whose iterations are independent").help(help);
  return nullptr;
}

void note_unset(const Instance& in, std::set<uint32_t>& unset) {
  for (uint32_t i = 0; i < in.variables.size(); ++i)
    if (!in.variables[i].current.valid()) unset.insert(i);
}

void clear(Instance& in, std::optional<VariableId> flag) {
  if (flag) in.set(*flag, in.builder.boolean(false));
}

}  // namespace

void run_break(Instance& in, Span span) {
  Loop* loop = loop_to_leave(in, span, "`break`", "all iterations run, in any order: put what only some of them do under an `if`");
  if (!loop) return;
  note_unset(in, loop->unset_at_break);
  clear(in, loop->goes_on);
  in.is_dead = true;
}

void run_continue(Instance& in, Span span) {
  Loop* loop = loop_to_leave(in, span, "`continue`");
  if (!loop) return;
  note_unset(in, loop->unset_at_continue);
  clear(in, loop->in_turn);
  in.is_dead = true;
}

void run_return(Instance& in, const ast::Return& node, Span span) {
  bool is_kernel = !in.frame().decl || !in.frame().decl->as<ast::Fn>();
  if (is_kernel && node.value) return void(not_allowed(in, node.value->span, "a result", "in a kernel"));
  if (is_kernel && in.level == Level::Host)
    return void(not_allowed(in, span, "`return`", "outside of a launch's block"));
  if (in.depth != in.frame().depth) return void(in.at(span).error(diag::NotAllowedHere, "`return`", "inside a `parallel` loop").help(kUnderIf));
  Value value = node.value ? convert_result(in, operand(in, *node.value)) : Value(Nothing{});
  if (!node.value && !is_kernel && in.frame().decl->as<ast::Fn>()->signature.result)
    in.at(span).error(diag::MissingReturn, in.frame().decl->as<ast::Fn>()->signature.name.text);
  if (value.is<Elementwise>() || (value.is<View>() && value.is_element())) {
    value = value.is<Elementwise>() ? fragment(in, {value, span}) : number(in, {value, span});
  }
  Frame& frame = in.frame();
  clear(in, frame.runs);
  in.is_dead = true;
  if (is_kernel || value.is<Nothing>()) return;
  if (in.control_depth == frame.control_depth) return void(frame.result = std::move(value));
  if (!frame.result_variable) return void(not_supported(in, span, "a `return` under a run-time condition here"));
  Variable& variable = in.variable(*frame.result_variable);
  if (value.is_poison()) return void(variable.is_poison = true);
  ir::ValueId id = value.is<Tile>() ? value.as<Tile>()->id : value.is_scalar() ? emit(in, value) : ir::ValueId{};
  if (!id.valid()) return void(not_supported(in, span, "an early `return` of this"));
  if (!variable.was_written) variable.type = in.type(id);
  if (variable.type != in.type(id)) {
    in.at(span).error(diag::TypeMismatch, describe(variable.type), describe(in.type(id)));
    variable.is_poison = true;
    return;
  }
  in.set(*frame.result_variable, id);
}

}  // namespace tilec::sema
