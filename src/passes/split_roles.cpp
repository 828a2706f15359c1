// A role's program is a slice of the block's: the operations that are its own, the control flow around them, and what these
// need to know, which both roles compute. The role that fills rings must need no more than scalars: if its slice holds a
// tile, or reads what the launch writes, the block stays whole.
#include "passes/split_roles.h"

#include <algorithm>
#include <set>

#include "diag/diag.h"
#include "ir/builder.h"
#include "ir/overlap.h"
#include "passes/cleanup.h"
#include "passes/clone.h"
#include "passes/effects.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Lanes that copy do better as many; a role of their own pays where an engine does the work.
bool starts_engine(const Op& op) { return op.is<op::CopyAsync>() && op.as<op::CopyAsync>().copy_class == CopyClass::Bulk; }
bool fills_rings(const Op& op) { return op.is<op::Acquire>() || op.is<op::Commit>() || op.is<op::CopyAsync>(); }
// What may only report that it has no value is anybody's who needs the value.
bool reports(const Op& op) { return op.is<op::ElementLoad>() || is_pure(op); }
bool is_shared_by_roles(const Kernel& kernel, OpId id) {
  const Op& op = kernel.op(id);
  return op.is<op::RingAlloc>() || (op.is<op::Alloc>() && kernel.type(op.result()).space != Space::Private);
}

bool holds(const Kernel& kernel, RegionId region, bool (*wanted)(const Op&)) {
  bool found = false;
  each_op(kernel, region, [&](OpId id) { found |= wanted(kernel.op(id)); });
  return found;
}

class Splitter {
 public:
  // `roles`: the filling one and the other, in the order of their warps.
  Splitter(Kernel& kernel, const Schedule& schedule, const Role& filling) : kernel_(kernel), roles_(schedule.roles), filling_(filling) {}

  // Why the launch cannot be split; empty: it is.
  std::string run(OpId launch) {
    body_ = kernel_.op(launch).as<op::Launch>().body;
    computing_warps_ = kernel_.op(launch).as<op::Launch>().warps;
    if (!has_rings_of_the_block()) return "a ring is made inside a loop";
    make_roles();
    drop_dead_code(kernel_);
    while (drop_unread_reports()) drop_dead_code(kernel_);
    return flaw();
  }

 private:
  // Its turns are counted over the whole life of the block.
  bool has_rings_of_the_block() const {
    int all = 0, outermost = 0;
    each_op(kernel_, body_, [&](OpId id) { all += kernel_.op(id).is<op::RingAlloc>(); });
    for (OpId id : kernel_.region(body_).ops) outermost += kernel_.op(id).is<op::RingAlloc>();
    return all == outermost;
  }

  // What both roles see, and the numbers that it is made of.
  std::set<OpId> shared_by_roles() const {
    std::set<OpId> shared;
    std::set<ValueId> needed;
    const std::vector<OpId>& ops = kernel_.region(body_).ops;
    for (size_t i = ops.size(); i-- > 0;) {
      bool is_needed = std::ranges::any_of(kernel_.op(ops[i]).results, [&](ValueId v) { return needed.contains(v); });
      if (!is_needed && !is_shared_by_roles(kernel_, ops[i])) continue;
      shared.insert(ops[i]);
      each_operand(kernel_.op(ops[i]).data, [&](ValueId v) { needed.insert(v); });
    }
    return shared;
  }

  void make_roles() {
    std::vector<OpId> common, rest;
    std::set<OpId> shared = shared_by_roles();
    for (OpId id : kernel_.region(body_).ops) (shared.contains(id) ? common : rest).push_back(id);
    RegionId whole = kernel_.new_region();
    kernel_.region(whole).ops = std::move(rest);
    op::Roles roles;
    for (const Role& role : roles_) {
      RegionId part = clone_region(kernel_, whole);
      bool fills = role.name == filling_.name;
      if (fills) filling_body_ = part;
      keep_own(part, fills);
      roles.names.push_back(role.name);
      roles.warps.push_back(fills ? role.warps : computing_warps_);
      roles.registers.push_back(role.registers);
      roles.bodies.push_back(part);
    }
    // One behind the other, so that they begin together.
    std::ranges::stable_partition(common, [&](OpId id) { return !kernel_.op(id).is<op::RingAlloc>(); });
    kernel_.region(body_).ops = std::move(common);
    Builder builder(kernel_, body_);
    builder.set_span(kernel_.op(kernel_.region(whole).ops.front()).span);
    builder.add(std::move(roles));
    builder.yield({});
  }

  // Drops from `region` the effects that are the other role's. What only serves them is dead code then.
  void keep_own(RegionId region, bool fills) {
    std::vector<OpId> kept;
    for (OpId id : kernel_.region(region).ops) {
      const OpData data = kernel_.op(id).data;
      bool is_nest = data.is<op::For>() || data.is<op::If>();
      bool is_needed_by_both = data.is<op::Yield>() || reports(kernel_.op(id));
      if (is_nest) each_region(data, [&](RegionId r) { keep_own(r, fills); });
      bool is_other = fills_rings(kernel_.op(id)) ? !fills : fills && has_effect(kernel_, kernel_.op(id));
      if (is_other && !is_nest && !is_needed_by_both) {
        for (ValueId v : kernel_.op(id).results) dropped_.insert(v);
      } else {
        kept.push_back(id);
      }
    }
    kernel_.region(region).ops = std::move(kept);
  }

  // Reads and arithmetic that are guarded stay for their report, which the other role makes.
  bool drop_unread_reports() {
    std::vector<int> uses = use_counts(kernel_);
    std::vector<RegionId> regions{filling_body_};
    bool found = false;
    for (size_t i = 0; i < regions.size(); ++i) {
      found |= std::erase_if(kernel_.region(regions[i]).ops, [&](OpId id) {
        return reports(kernel_.op(id)) && !uses[kernel_.op(id).result().index];
      }) > 0;
      for (OpId id : kernel_.region(regions[i]).ops)
        each_region(std::as_const(kernel_.op(id).data), [&](RegionId r) { regions.push_back(r); });
    }
    return found;
  }

  // What the filling role needs beyond scalars that nobody writes.
  std::string flaw() const {
    std::set<ValueId> written;
    each_op(kernel_, body_, [&](OpId id) {
      for (const MemoryTouch& touch : touches_of(kernel_, id))
        if (touch.writes) written.insert(touch.buffer);
    });
    auto meets_written = [&](ValueId buffer) {
      return std::ranges::any_of(written, [&](ValueId other) { return may_overlap(kernel_, buffer, other); });
    };
    std::string why;
    each_op(kernel_, filling_body_, [&](OpId id) {
      const Op& op = kernel_.op(id);
      bool is_plain = fills_rings(op) || op.is<op::For>() || op.is<op::If>() || op.is<op::Yield>() || op.is<op::ElementLoad>() || is_pure(op);
      if (!is_plain) why = "what is to be copied depends on '" + std::string(name(op.kind())) + "'";
      if (auto* load = op.get<op::ElementLoad>(); load && meets_written(load->buffer)) why = "what is to be copied depends on what the launch writes";
      each_operand(op.data, [&](ValueId v) {
        if (dropped_.contains(v)) why = "what is to be copied depends on what the other role computes";
      });
    });
    return why;
  }

  Kernel& kernel_;
  std::vector<Role> roles_;
  Role filling_;
  RegionId body_, filling_body_;
  int64_t computing_warps_ = 0;
  std::set<ValueId> dropped_;
};

bool has_rest(const Schedule& schedule, const Role& role) {
  return std::ranges::any_of(schedule.placements, [&](const Placement& p) { return p.role == role.name && p.label == kRest; });
}
const Role* filling_role(const Schedule& schedule) {
  auto found = std::ranges::find_if(schedule.roles, [&](const Role& role) { return !has_rest(schedule, role); });
  return found == schedule.roles.end() ? nullptr : &*found;
}

// The statements that fill rings, by label or by the tile that they fill.
std::set<std::string> copied_ahead(const Kernel& kernel) {
  std::set<std::string> names;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::CopyAsync* copy = kernel.op(id).get<op::CopyAsync>())
      names.insert(copy->label.empty() ? kernel.value(copy->dst).hint : copy->label);
  });
  return names;
}

// The filling role names the copies into rings, all of them and nothing else.
std::string misplaced(const Kernel& kernel, const Schedule& schedule, const Role& filling) {
  std::set<std::string> copied = copied_ahead(kernel), named;
  for (const Placement& p : schedule.placements)
    if (p.role == filling.name) named.insert(p.label);
  for (const std::string& name : named)
    if (!copied.contains(name)) return "`" + name + "` is not filled ahead of time";
  for (const std::string& name : copied)
    if (!named.contains(name)) return "`" + name + "` is filled ahead of time, but not by role `" + filling.name + "`";
  return "";
}

// What the role came to fill, where the scheduler only hoped.
void write_down(Kernel& kernel, const Role& filling) {
  std::set<std::string> copied = copied_ahead(kernel);
  std::erase_if(kernel.schedule.placements, [&](const Placement& p) { return p.role == filling.name && !copied.contains(p.label); });
}

}  // namespace

void split_roles(Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  const Schedule schedule = kernel.schedule;
  const Role* filling = filling_role(schedule);
  if (!filling) return;
  std::vector<OpId> launches;
  for (OpId id : kernel.region(kernel.body).ops)
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>())
      if (holds(kernel, launch->body, schedule.are_roles_pinned ? fills_rings : starts_engine)) launches.push_back(id);
  std::string why = launches.empty() ? "no tile is filled ahead of time" : schedule.are_roles_pinned ? misplaced(kernel, schedule, *filling) : "";
  if (!why.empty()) launches.clear();
  bool is_split = false;
  for (OpId launch : launches) {
    Kernel trial = kernel;
    std::string flaw = Splitter(trial, schedule, *filling).run(launch);
    if (flaw.empty()) kernel = std::move(trial), is_split = true;
    else why = flaw;
  }
  if (is_split) return write_down(kernel, *filling);
  if (schedule.are_roles_pinned) {
    diagnostics.at(schedule.span).error(diag::ScheduleRefused, "the block cannot be split into roles: " + why);
    return;
  }
  kernel.schedule.roles.clear();
  std::erase_if(kernel.schedule.placements, [](const Placement& p) { return !p.role.empty(); });
}

bool lanes_copy(const Kernel& kernel) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Roles* roles = kernel.op(id).get<op::Roles>();
    for (size_t role = 0; roles && role < roles->bodies.size(); ++role)
      each_op(kernel, roles->bodies[role], [&](OpId inner) {
        const op::CopyAsync* copy = kernel.op(inner).get<op::CopyAsync>();
        found |= copy && (copy->copy_class != CopyClass::Bulk || !is_never_written(kernel, root_buffer(kernel, copy->src)));
      });
  });
  return found;
}

}  // namespace tilec::passes
