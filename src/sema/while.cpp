#include "sema/while.h"

#include "sema/assigned_when.h"
#include "sema/carried.h"
#include "sema/exits.h"
#include "sema/host_range.h"
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
  if (count) note_near(in, part.index, count->low, count->high);
  return part;
}

// The variables that have no value before a loop, and what comes into its condition once that has given them one.
struct Unset {
  Assignments args;
  std::vector<VariableId> in_turns;  // those that have one where the condition is true alone
};

// False at once when a `break` or `return` has been met, so that the condition is not looked at: then all is as it was.
ir::ValueId run_condition(Instance& in, const ast::Expr& condition_expr, ir::ValueId here, Unset& unset) {
  auto look = [&] {
    Value test = condition(in, condition_expr);
    ir::ValueId going = test.is_poison() ? in.builder.boolean(false) : emit(in, test);
    for (const auto& [variable, value] : assigned_where(in, going, true)) {
      if (in.variable(variable).current.valid()) continue;
      in.variable(variable).current = value;
      unset.in_turns.push_back(variable);
    }
    return going;
  };
  if (!here.valid()) return look();
  VariableId goes = in.new_variable("goes", {}, ir::scalar_type(Scalar::Bool), here);
  std::vector<ir::ValueId> looked;
  auto look_once_more = [&] { in.set(goes, look()), looked = in.snapshot(); };
  branch(in, here, look_once_more, [&] {
    for (const auto& [variable, arg] : unset.args)
      if (looked[variable.index].valid()) in.variable(variable).current = arg;
  });
  return in.variable(goes).current;
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

// A variable as a loop that looks at a condition carries it: `all` knows what comes into the body and out of it, this what comes into
// the condition and out of that.
struct Tested {
  std::vector<Carried> all;
  std::vector<ir::ValueId> args, passed;  // of the region of the condition
  bool changes(size_t i) const { return all[i].changes() || passed[i] != args[i]; }
};

Unset unset_before(Instance& in, ir::RegionId test) {
  Unset unset;
  for (uint32_t i = 0; i < in.variables.size(); ++i) {
    const Variable& v = in.variables[i];
    if (!v.current.valid() && v.depth == in.depth) unset.args.push_back({{i}, in.kernel.new_arg(test, v.type, v.name)});
  }
  return unset;
}

// What the condition gives a first value has one from then on: in front of the loop it is a zero that nobody sees.
void carry_first_values(Instance& in, Tested& tested, const Unset& unset, ir::RegionId test) {
  for (const auto& [variable, arg] : unset.args) {
    const Variable& v = in.variable(variable);
    if (!v.current.valid()) {
      std::erase(in.kernel.region(test).args, arg);
      continue;
    }
    tested.all.push_back({variable, zero(in, v.type), arg, arg});
    tested.args.push_back(arg);
  }
}

// Takes what neither part changes out of both; `values`, of either part, then say what they were before the loop.
void drop_unchanged(Instance& in, Tested& tested, ir::RegionId test, ir::RegionId body, std::vector<ir::ValueId>& values) {
  for (size_t i = 0; i < tested.all.size(); ++i) {
    if (tested.changes(i)) continue;
    const Carried& c = tested.all[i];
    for (auto [region, arg] : {std::pair{test, tested.args[i]}, std::pair{body, c.arg}}) {
      ir::replace_uses(in.kernel, region, arg, c.init);
      std::erase(in.kernel.region(region).args, arg);
      std::ranges::replace(values, arg, c.init);
    }
  }
}

void add_variables(Flow& flow, Instance& in, Tested& tested, ir::RegionId test, ir::RegionId body) {
  std::vector<ir::ValueId> values = tested.passed;
  for (const Carried& c : tested.all) values.push_back(c.last);
  drop_unchanged(in, tested, test, body, values);
  for (size_t i = 0; i < tested.all.size(); ++i) {
    if (!tested.changes(i)) continue;
    const Carried& c = tested.all[i];
    flow.inits.push_back(c.init);
    flow.passed.push_back(values[i]);
    flow.yields.push_back(values[tested.all.size() + i]);
    flow.types.push_back(in.variable(c.variable).type);
    flow.variables.push_back(c.variable);
  }
}

void build(Instance& in, const ast::Block& statements, const std::optional<Count>& count,
           const std::function<ir::ValueId(ir::ValueId here, ir::ValueId index, Unset& unset)>& goes_on, Span span) {
  Exits exits = exits_of(statements.statements);
  ScopeGuard outer(in);
  Loop loop;
  if (exits.breaks) loop.goes_on = new_flag(in, "goes_on");
  auto before = in.snapshot();
  Part test = new_part(in, count), body = new_part(in, count);
  Tested tested{.all = carry(in, test.region), .args = {}, .passed = {}};
  tested.args = args_of(tested.all);
  Unset unset = unset_before(in, test.region);
  {
    RegionGuard inside(in, test.region);
    Restore<int> depth(in.control_depth, in.control_depth + 1);
    ScopeGuard scope(in);
    in.loops.push_back(loop);
    Exits left{.breaks = exits.breaks, .continues = false, .returns = exits.returns};
    in.builder.yield({goes_on(still_here(in, left), test.index, unset)});
    in.loops.pop_back();
  }
  carry_first_values(in, tested, unset, test.region);
  for (const Carried& c : tested.all) tested.passed.push_back(in.variable(c.variable).current);
  Flow flow;
  {
    RegionGuard inside(in, body.region);
    carry_again(in, tested.all, body.region);
    run_body(in, statements, loop, count, body.index);
    in.builder.set_span(span);
    if (count) flow = {{count->low}, {test.index}, {next_index(in, body.index, count->step)}, {in.type(body.index)}, {}};
  }
  read_last(in, tested.all);
  in.restore(before);
  add_variables(flow, in, tested, test.region, body.region);
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
  for (VariableId variable : unset.in_turns) in.variable(variable).current = {};
}

}  // namespace

void run_while(Instance& in, const ast::While& node) {
  auto look = [&](ir::ValueId here, ir::ValueId, Unset& unset) { return run_condition(in, *node.condition, here, unset); };
  build(in, node.body, {}, look, node.condition->span);
  // Only a `break` comes out of a loop that goes on for ever.
  auto* forever = node.condition->as<ast::BoolLiteral>();
  in.is_dead |= forever && forever->value && !exits_of(node.body.statements).breaks;
}

void note_near(Instance& in, ir::ValueId index, ir::ValueId low, ir::ValueId high) {
  const int most = std::max(magnitude(in.kernel, in.near_indices, low), magnitude(in.kernel, in.near_indices, high));
  if (most < 63) in.near_indices[index] = most;
}

void run_counted(Instance& in, const ast::Block& body, const Count& count, Span span) {
  auto look = [&](ir::ValueId here, ir::ValueId index, Unset&) {
    ir::ValueId is_below = in.builder.compare(ir::CompareFn::Lt, index, count.high);
    return here.valid() ? in.builder.logical_and(here, is_below) : is_below;
  };
  build(in, body, count, look, span);
}

}  // namespace tilec::sema
