// `while`: a condition and a body, both over the carried variables.
#include "sema/carried.h"
#include "sema/exits.h"
#include "sema/scalar.h"
#include "sema/stmt.h"

namespace tilec::sema {
namespace {

// The condition's region: false at once when a `break` or `return` has been met, so that the condition is not looked
// at.
void run_condition(Instance& in, const ast::While& node, const Loop& loop, ir::RegionId region, Exits exits) {
  RegionGuard inside(in, region);
  Restore<int> depth(in.control_depth, in.control_depth + 1);
  ScopeGuard scope(in);
  in.loops.push_back(loop);
  ir::ValueId here = still_here(in, {.breaks = exits.breaks, .continues = false, .returns = exits.returns});
  Value going = Poison{};
  if (here.valid()) {
    VariableId goes = in.new_variable("goes", {}, ir::scalar_type(Scalar::Bool), here);
    auto look = [&] {
      if (Value test = condition(in, *node.condition); !test.is_poison()) in.set(goes, emit(in, test));
    };
    branch(in, here, look, [] {});
    going = Dynamic{in.variable(goes).current};
  } else {
    going = condition(in, *node.condition);
  }
  in.loops.pop_back();
  in.builder.yield({going.is_poison() ? in.builder.boolean(false) : emit(in, going)});
}

void run_body(Instance& in, const ast::While& node, const Loop& loop) {
  Restore<int> depth(in.control_depth, in.control_depth + 1);
  Restore<bool> dead(in.is_dead, false);
  ScopeGuard scope(in);
  in.loops.push_back(loop);
  if (needs_flag(node.body.statements, &Exits::continues)) in.loops.back().in_turn = new_flag(in, "in_turn");
  run_scoped(in, node.body);
  in.loops.pop_back();
}

}  // namespace

void run_while(Instance& in, const ast::While& node) {
  Exits exits = exits_of(node.body.statements);
  ScopeGuard outer(in);
  Loop loop;
  if (exits.breaks) loop.goes_on = new_flag(in, "goes_on");
  auto before = in.snapshot();
  ir::RegionId test = in.kernel.new_region(), body = in.kernel.new_region();
  auto all = carry(in, test);
  auto test_args = args_of(all);
  run_condition(in, node, loop, test, exits);
  {
    RegionGuard inside(in, body);
    carry_again(in, all, body);
    run_body(in, node, loop);
  }
  read_last(in, all);
  drop_unchanged(in, all, test, test_args);
  drop_unchanged(in, all, body, args_of(all));
  in.restore(before);
  op::While loop_op{.inits = {}, .condition = test, .body = body};
  std::vector<ir::ValueId> yields;
  std::vector<ir::Type> types;
  std::vector<VariableId> changed;
  auto& passed = in.kernel.op(in.kernel.region(test).ops.back()).as<op::Yield>().values;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].changes()) continue;
    loop_op.inits.push_back(all[i].init);
    passed.push_back(test_args[i]);
    yields.push_back(settled(all, all[i].last));
    types.push_back(in.variable(all[i].variable).type);
    changed.push_back(all[i].variable);
  }
  {
    RegionGuard inside(in, body);
    in.builder.yield(std::move(yields));
  }
  in.builder.set_span(node.condition->span);
  ir::OpId id = in.builder.add(std::move(loop_op), types);
  for (size_t i = 0; i < changed.size(); ++i) in.set(changed[i], in.kernel.op(id).results[i]);
}

}  // namespace tilec::sema
