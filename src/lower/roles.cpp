// Roles: each warp of the block runs the program of its role, and meets the other warps of that role at a barrier of their own.
#include <set>

#include "lower/lowering.h"

namespace tilec::lower {

int64_t Lowering::warps_of_block(const ir::op::Launch& launch) const {
  int64_t warps = launch.warps ? launch.warps : 1;
  each_op(source_, launch.body, [&](OpId id) {
    const ir::op::Roles* roles = source_.op(id).get<ir::op::Roles>();
    if (roles) warps = std::accumulate(roles->warps.begin(), roles->warps.end(), int64_t(0));
  });
  return warps;
}

void Lowering::lower_roles(const ir::op::Roles& roles) {
  int64_t all = warps_, first = 0;
  for (size_t role = 0; role < roles.bodies.size(); ++role) {
    ValueId warp = builder_.value(ir::op::WarpIndex{}, ir::scalar_type(Scalar::Index));
    int64_t end = first + roles.warps[role];
    ValueId is_before_end = builder_.compare(ir::CompareFn::Lt, warp, builder_.index(end));
    ValueId is_behind_start = builder_.compare(ir::CompareFn::Ge, warp, builder_.index(first));
    RegionId outer = builder_.region(), taken = target_.new_region(), other = target_.new_region();
    builder_.set_region(taken);
    warps_ = roles.warps[role], first_warp_ = first, barrier_id_ = int64_t(role) + 1;
    takes_blocks_ = deal_ && deal_->filling == roles.bodies[role];
    if (roles.registers[role] && machine_.has(Cap::RegisterBudgets)) builder_.add(ir::op::RegisterBudget{roles.registers[role]});
    lower_program(roles.bodies[role]);
    await_all_own_rows(roles.bodies[role]);
    builder_.yield({});
    builder_.set_region(other);
    builder_.yield({});
    builder_.set_region(outer);
    builder_.add(ir::op::If{builder_.logical_and(is_behind_start, is_before_end), taken, other});
    first = end;
  }
  warps_ = all, first_warp_ = barrier_id_ = 0;
}

// Does a role do nothing but have engines fill rings? Then a warp of it is enough. What writes, or meets other warps, is more.
bool Lowering::only_fills(RegionId body) const {
  bool only = true;
  auto is_number = [](const ir::Op& op) {
    bool has_effect = op.is<ir::op::ElementStore>() || op.is<ir::op::Atomic>() || op.is<ir::op::BlockBarrier>();
    bool crosses_lanes = op.is<ir::op::Shuffle>() || op.is<ir::op::Vote>() || op.is<ir::op::WarpReduce>();
    return ir::table(op.kind()) == ir::OpTable::Scalar && !has_effect && !crosses_lanes;
  };
  each_op(source_, body, [&](OpId id) {
    const ir::Op& op = source_.op(id);
    bool is_control = op.is<ir::op::For>() || op.is<ir::op::If>() || op.is<ir::op::Yield>();
    bool is_filling = op.is<ir::op::Acquire>() || op.is<ir::op::CopyAsync>() || op.is<ir::op::Commit>() || op.is<ir::op::Subview>();
    only &= is_control || is_filling || is_number(op);
    if (const ir::op::Commit* commit = op.get<ir::op::Commit>()) only &= rings_.at(commit->ring.index).is_bulk;
  });
  return only;
}

// The program of a role all of whose copies engines do, `conditions` being known to hold. Whether blocks copy for each other does not
// change in it either.
void Lowering::lower_for_engine(RegionId body, const std::set<ValueId>& conditions) {
  std::set<ValueId> together;
  each_op(source_, body, [&](OpId id) {
    const ir::op::Commit* commit = source_.op(id).get<ir::op::Commit>();
    if (commit && rings_.at(commit->ring.index).together.valid()) together.insert(rings_.at(commit->ring.index).together);
  });
  auto knowing = [&](bool is_together) {
    held_ = conditions;
    (is_together ? held_ : broken_).insert(together.begin(), together.end());
    lower_region(body);
    held_.clear(), broken_.clear();
  };
  auto program = [&] {
    // Where all of them copy in boxes, the rings differ in nothing else.
    if (together.empty()) knowing(false);
    else by_engine(*together.begin(), [&] { knowing(true); }, [&] { knowing(false); });
  };
  if (!only_fills(body)) return program();
  once([&] {
    int64_t warps = std::exchange(warps_, 1);
    program();
    warps_ = warps;
  });
}

// A role that fills rings has a program for calls whose tensors suit the engine, where nothing else is in its way or takes registers,
// and one for the others.
void Lowering::lower_program(RegionId body) {
  ValueId suit;
  std::set<ValueId> conditions;
  each_op(source_, body, [&](OpId id) {
    const ir::op::Commit* commit = source_.op(id).get<ir::op::Commit>();
    if (!commit) return;
    const Ring& ring = rings_.at(commit->ring.index);
    if (ring.is_bulk && ring.boxes.valid() && conditions.insert(ring.boxes).second) suit = all(suit, ring.boxes);
  });
  auto knowing = [&](std::set<ValueId>& known) {
    known = conditions;
    lower_region(body);
    known.clear();
  };
  std::set<ValueId> unknown;
  by_engine(suit, [&] { lower_for_engine(body, conditions); }, [&] { knowing(conditions.size() == 1 ? broken_ : unknown); });
}

// Of the roles that hold an operation; of the block, where there are none.
int64_t Lowering::threads_with(const std::function<bool(const ir::Op&)>& wanted) const {
  int64_t warps = 0;
  each_op(source_, source_.body, [&](OpId id) {
    const ir::op::Roles* roles = source_.op(id).get<ir::op::Roles>();
    for (size_t role = 0; roles && role < roles->bodies.size(); ++role) {
      bool holds = false;
      each_op(source_, roles->bodies[role], [&](OpId inner) { holds |= wanted(source_.op(inner)); });
      if (holds) warps += roles->warps[role];
    }
  });
  return (warps ? warps : warps_) * machine_.lanes;
}

int64_t Lowering::consuming_threads(ValueId ring) const {
  return threads_with([&](const ir::Op& op) { return op.is<ir::op::Wait>() && op.as<ir::op::Wait>().ring == ring; });
}

int64_t Lowering::filling_threads(ValueId ring) const {
  return threads_with([&](const ir::Op& op) { return op.is<ir::op::Commit>() && op.as<ir::op::Commit>().ring == ring; });
}

}  // namespace tilec::lower
