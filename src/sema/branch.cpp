// Branches over run-time conditions: variables that a branch sets become results of the `if`.
#include "sema/assigned_when.h"
#include "sema/exits.h"
#include "sema/expr.h"
#include "sema/keep.h"
#include "sema/scalar.h"
#include "sema/stmt.h"

namespace tilec::sema {
namespace {

ir::ValueId zero_of(Instance& in, const ir::Type& type, ir::RegionId where) {
  RegionGuard region(in, where);
  return zero(in, type);
}

}  // namespace

Arm run_arm(Instance& in, const std::function<void()>& body) {
  Arm arm{.region = in.kernel.new_region(), .values = {}};
  ScopeGuard scope(in);
  RegionGuard region(in, arm.region);
  Restore<int> depth(in.control_depth, in.control_depth + 1);
  in.is_dead = false;
  body();
  arm.values = in.snapshot();
  arm.is_dead = in.is_dead;
  return arm;
}

Merged merge(Instance& in, const std::vector<ir::ValueId>& before, Arm& a, Arm& b) {
  Merged all;
  for (uint32_t i = 0; i < before.size(); ++i) {
    ir::ValueId &x = a.values[i], &y = b.values[i];
    Variable& v = in.variables[i];
    if (x == y) {
      v.current = x;
      if (x != before[i]) all.alike.push_back({i});
      continue;
    }
    // What an arm that leaves never wrote is not looked at after it, unless it belongs to the caller.
    bool is_own = i >= in.frame().first_variable && !v.is_element;
    if (!x.valid() && a.is_dead && is_own) x = zero_of(in, v.type, a.region);
    if (!y.valid() && b.is_dead && is_own) y = zero_of(in, v.type, b.region);
    if (!x.valid() || !y.valid()) {
      v.current = {};
      continue;
    }
    all.changed.push_back({i});
    all.types.push_back(v.type);
    all.then_values.push_back(x);
    all.else_values.push_back(y);
  }
  return all;
}

void set_merged(Instance& in, ir::ValueId condition, const std::vector<ir::ValueId>& before, const Merged& merged, std::span<const ir::ValueId> results) {
  std::vector<Changed> changed;
  for (size_t i = 0; i < merged.changed.size(); ++i) changed.push_back({merged.changed[i], before[merged.changed[i].index], results[i]});
  for (VariableId id : merged.alike) changed.push_back({id, before[id.index], in.variable(id).current});
  keep_behind(in, condition, changed);
}

void branch(Instance& in, ir::ValueId condition, const std::function<void()>& then_part,
            const std::function<void()>& else_part) {
  bool was_dead = in.is_dead;
  Span span = in.builder.span();
  auto before = in.snapshot();
  Arm a = run_arm(in, then_part);
  in.restore(before);
  Arm b = run_arm(in, else_part);
  in.restore(before);
  in.is_dead = was_dead || (a.is_dead && b.is_dead);
  Merged all = merge(in, before, a, b);
  auto finish = [&](ir::RegionId where, std::vector<ir::ValueId> values) {
    RegionGuard region(in, where);
    in.builder.yield(std::move(values));
  };
  finish(a.region, all.then_values);
  finish(b.region, all.else_values);
  in.builder.set_span(span);
  ir::OpId id = in.builder.add(op::If{condition, a.region, b.region}, all.types);
  in.statements.insert(id);
  set_merged(in, condition, before, all, in.kernel.op(id).results);
}

void run_where(Instance& in, ir::ValueId here, std::span<const ast::Stmt* const> statements) {
  branch(in, here, [&] { run_statements(in, statements); }, [&] { in.is_dead = true; });
}

namespace {

// Statements that follow something with exits.
void run_guarded(Instance& in, Exits exits, std::span<const ast::Stmt* const> rest) {
  if (rest.empty() || in.is_dead) return;
  ir::ValueId here = exits.any() ? still_here(in, exits) : ir::ValueId{};
  if (!here.valid() || (in.kernel.constant(here) && in.kernel.constant(here)->i)) return run_statements(in, rest);
  run_where(in, here, rest);
}

void run_else(Instance& in, const ast::If& node) {
  if (!node.else_branch) return;
  if (auto* block = node.else_branch->as<ast::Block>()) return run_scoped(in, *block);
  ScopeGuard scope(in);
  run_statement(in, *node.else_branch);
}

void run_known(Instance& in, const ast::If& node, bool is_true, std::span<const ast::Stmt* const> rest) {
  Exits exits;
  if (is_true) {
    run_scoped(in, node.then_block);
    exits = exits_of(node.then_block.statements);
  } else if (node.else_branch) {
    run_else(in, node);
    exits = exits_of(*node.else_branch);
  }
  run_guarded(in, exits, rest);
}

}  // namespace

void run_if(Instance& in, const ast::If& node, std::span<const ast::Stmt* const> rest) {
  Value test = condition(in, *node.condition);
  if (auto* c = test.as<Const>()) return run_known(in, node, c->number.i != 0, rest);
  // After a mistake in the condition both branches are still looked at.
  ir::ValueId value = test.is_poison() ? in.builder.boolean(true) : emit(in, test);
  // A `return` between launches is a mistake, and what follows it is read as if it were not there.
  bool is_function = in.frame().decl && in.frame().decl->as<ast::Fn>();
  bool may_leave = in.level != Level::Host || is_function || !in.loops.empty();
  bool then_leaves = may_leave && always_exits(node.then_block.statements);
  bool else_leaves = may_leave && node.else_branch && always_exits(*node.else_branch);
  Exits then_exits = may_leave ? exits_of(node.then_block.statements) : Exits{};
  Exits else_exits = may_leave && node.else_branch ? exits_of(*node.else_branch) : Exits{};
  in.builder.set_span(node.condition->span);
  const Assignments if_true = assigned_where(in, value, true), if_false = assigned_where(in, value, false);
  branch(
      in, value,
      [&] {
        assign(in, if_true);
        Restore<std::set<MemoryId>> known(in.present, present_where(in, *node.condition, true));
        run_scoped(in, node.then_block);
        if (else_leaves && !then_leaves) run_guarded(in, then_exits, rest);
      },
      [&] {
        assign(in, if_false);
        Restore<std::set<MemoryId>> known(in.present, present_where(in, *node.condition, false));
        run_else(in, node);
        if (then_leaves && !else_leaves) run_guarded(in, else_exits, rest);
      });
  if (!then_leaves && !else_leaves) run_guarded(in, then_exits | else_exits, rest);
}

}  // namespace tilec::sema
