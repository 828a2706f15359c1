#include "sema/while.h"

#include "sema/carried.h"
#include "sema/exits.h"
#include "sema/scalar.h"
#include "sema/stmt.h"

namespace tilec::sema {
namespace {

// A region of the loop, and its index where the loop counts.
struct Part {
  ir::RegionId region;
  ir::ValueId index;
};

Part new_part(Instance& in, const std::optional<Count>& count) {
  Part part{in.kernel.new_region(), {}};
  if (count) part.index = in.kernel.new_arg(part.region, ir::scalar_type(Scalar::Index), std::string(count->name.text));
  return part;
}

// False at once when a `break` or `return` has been met, so that the condition is not looked at.
ir::ValueId run_condition(Instance& in, const ast::Expr& condition_expr, ir::ValueId here) {
  Value going = Poison{};
  if (here.valid()) {
    VariableId goes = in.new_variable("goes", {}, ir::scalar_type(Scalar::Bool), here);
    auto look = [&] {
      if (Value test = condition(in, condition_expr); !test.is_poison()) in.set(goes, emit(in, test));
    };
    branch(in, here, look, [] {});
    going = Dynamic{in.variable(goes).current};
  } else {
    going = condition(in, condition_expr);
  }
  return going.is_poison() ? in.builder.boolean(false) : emit(in, going);
}

void run_body(Instance& in, const ast::Block& body, const Loop& loop, const std::optional<Count>& count, ir::ValueId index) {
  Restore<int> depth(in.control_depth, in.control_depth + 1);
  Restore<bool> dead(in.is_dead, false);
  ScopeGuard scope(in);
  if (count) in.declare(count->name, Dynamic{index}, "a loop index");
  in.loops.push_back(loop);
  if (needs_flag(body.statements, &Exits::continues)) in.loops.back().in_turn = new_flag(in, "in_turn");
  run_scoped(in, body);
  in.loops.pop_back();
}

// The greatest index from which a step stays within 64 bits goes to the greatest `int`, and so does what lies above it: the
// loop ends there, as its high end cannot lie above.
ir::ValueId next_index(Instance& in, ir::ValueId index, ir::ValueId step) {
  auto known = in.kernel.constant(step);
  if (known && known->i == 1) return in.builder.add(index, step);
  ir::ValueId last = in.builder.sub(in.builder.index(INT64_MAX), step);
  return in.builder.add(in.builder.binary(ir::BinaryFn::Min, index, last), step);
}

// What goes from turn to turn: the index of a loop that counts, then the variables that the body sets.
struct Flow {
  std::vector<ir::ValueId> inits, passed, yields;
  std::vector<ir::Type> types;
  std::vector<VariableId> variables;
};

void add_variables(Flow& flow, Instance& in, const std::vector<Carried>& all, std::span<const ir::ValueId> test_args) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].changes()) continue;
    flow.inits.push_back(all[i].init);
    flow.passed.push_back(test_args[i]);
    flow.yields.push_back(settled(all, all[i].last));
    flow.types.push_back(in.variable(all[i].variable).type);
    flow.variables.push_back(all[i].variable);
  }
}

void build(Instance& in, const ast::Block& statements, const std::optional<Count>& count,
           const std::function<ir::ValueId(ir::ValueId here, ir::ValueId index)>& goes_on, Span span) {
  Exits exits = exits_of(statements.statements);
  ScopeGuard outer(in);
  Loop loop;
  if (exits.breaks) loop.goes_on = new_flag(in, "goes_on");
  auto before = in.snapshot();
  Part test = new_part(in, count), body = new_part(in, count);
  auto all = carry(in, test.region);
  auto test_args = args_of(all);
  {
    RegionGuard inside(in, test.region);
    Restore<int> depth(in.control_depth, in.control_depth + 1);
    ScopeGuard scope(in);
    in.loops.push_back(loop);
    Exits left{.breaks = exits.breaks, .continues = false, .returns = exits.returns};
    in.builder.yield({goes_on(still_here(in, left), test.index)});
    in.loops.pop_back();
  }
  Flow flow;
  {
    RegionGuard inside(in, body.region);
    carry_again(in, all, body.region);
    run_body(in, statements, loop, count, body.index);
    in.builder.set_span(span);
    if (count) flow = {{count->low}, {test.index}, {next_index(in, body.index, count->step)}, {in.type(body.index)}, {}};
  }
  read_last(in, all);
  drop_unchanged(in, all, test.region, test_args);
  drop_unchanged(in, all, body.region, args_of(all));
  in.restore(before);
  add_variables(flow, in, all, test_args);
  auto& passed = in.kernel.op(in.kernel.region(test.region).ops.back()).as<op::Yield>().values;
  passed.insert(passed.end(), flow.passed.begin(), flow.passed.end());
  {
    RegionGuard inside(in, body.region);
    in.builder.yield(std::move(flow.yields));
  }
  in.builder.set_span(span);
  op::While loop_op{.inits = std::move(flow.inits), .condition = test.region, .body = body.region, .step = {}};
  if (count) loop_op.step = count->step;
  ir::OpId id = in.builder.add(std::move(loop_op), flow.types);
  for (size_t i = 0; i < flow.variables.size(); ++i)
    in.set(flow.variables[i], in.kernel.op(id).results[i + (count ? 1 : 0)]);
}

}  // namespace

void run_while(Instance& in, const ast::While& node) {
  auto look = [&](ir::ValueId here, ir::ValueId) { return run_condition(in, *node.condition, here); };
  build(in, node.body, {}, look, node.condition->span);
}

void run_counted(Instance& in, const ast::Block& body, const Count& count, Span span) {
  auto look = [&](ir::ValueId here, ir::ValueId index) {
    ir::ValueId is_below = in.builder.compare(ir::CompareFn::Lt, index, count.high);
    return here.valid() ? in.builder.logical_and(here, is_below) : is_below;
  };
  build(in, body, count, look, span);
}

}  // namespace tilec::sema
