#include "passes/insert_barriers.h"

#include <map>
#include <set>

#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What was touched since the last barrier.
struct Pending {
  std::set<ValueId> read, written;
  void add(const Pending& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
  }
  bool conflicts(const MemoryTouch& touch) const {
    return written.contains(touch.buffer) || (touch.writes && read.contains(touch.buffer));
  }
  void note(const MemoryTouch& touch) { (touch.writes ? written : read).insert(touch.buffer); }
};

class Inserter {
 public:
  Inserter(Kernel& kernel, const std::set<ValueId>& handed_over) : kernel_(kernel), handed_over_(handed_over) {}

  // Walks a region from what is pending before it; gives what is pending after it.
  Pending run(RegionId region, Pending pending) {
    for (OpId id : std::vector<OpId>(kernel_.region(region).ops)) pending = step(region, id, std::move(pending));
    return pending;
  }

 private:
  Pending step(RegionId region, OpId id, Pending pending) {
    const OpData data = kernel_.op(id).data;
    if (std::holds_alternative<op::Barrier>(data)) return {};
    if (auto* loop = std::get_if<op::For>(&data)) return repeat({loop->body}, std::move(pending));
    if (auto* loop = std::get_if<op::While>(&data)) return repeat({loop->condition, loop->body}, std::move(pending));
    if (auto* branch = std::get_if<op::If>(&data)) {
      Pending taken = run(branch->then_body, pending);
      taken.add(run(branch->else_body, pending));
      return taken;
    }
    if (auto* roles = std::get_if<op::Roles>(&data)) {
      Pending all;
      for (RegionId body : roles->bodies) all.add(run(body, pending));
      return all;
    }
    std::vector<MemoryTouch> touches = touches_of(kernel_, id);
    std::erase_if(touches, [&](const MemoryTouch& t) { return handed_over_.contains(t.buffer); });
    auto conflict = std::find_if(touches.begin(), touches.end(), [&](const MemoryTouch& t) { return pending.conflicts(t); });
    if (conflict != touches.end()) {
      const std::string& name = kernel_.value(conflict->buffer).hint;
      insert_before(kernel_, region, id, [&](Builder& b) { b.add(op::Barrier{name}); });
      pending = {};
    }
    for (const MemoryTouch& touch : touches) pending.note(touch);
    return pending;
  }

  // Once from what comes before, once more from what an iteration leaves to the next; it may also not run at all.
  Pending repeat(std::vector<RegionId> bodies, Pending before) {
    auto once = [&](Pending pending) {
      for (RegionId body : bodies) pending = run(body, std::move(pending));
      return pending;
    };
    Pending first = once(before);
    first.add(before);
    Pending again = once(first);
    again.add(before);
    return again;
  }

  Kernel& kernel_;
  const std::set<ValueId>& handed_over_;
};

// Buffers that several roles touch, and those whose versions a ring hands from the engine that fills them to their readers.
std::set<ValueId> handed_over_in(const Kernel& kernel, RegionId body) {
  std::set<ValueId> found;
  each_op(kernel, body, [&](OpId id) {
    if (const op::CopyAsync* copy = kernel.op(id).get<op::CopyAsync>()) found.insert(root_buffer(kernel, copy->dst));
    const op::Roles* roles = kernel.op(id).get<op::Roles>();
    if (!roles) return;
    std::map<ValueId, std::set<size_t>> touched_by;
    for (size_t role = 0; role < roles->bodies.size(); ++role)
      each_op(kernel, roles->bodies[role], [&](OpId inner) {
        for (const MemoryTouch& touch : touches_of(kernel, inner)) touched_by[touch.buffer].insert(role);
      });
    for (const auto& [buffer, roles_of] : touched_by)
      if (roles_of.size() > 1) found.insert(buffer);
  });
  return found;
}

}  // namespace

void insert_barriers(Kernel& kernel, const Machine&, Diagnostics&) {
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    if (!kernel.op(id).is<op::Launch>()) return;
    op::Launch launch = kernel.op(id).as<op::Launch>();
    if (launch.warps <= 1) return;
    std::set<ValueId> handed_over = handed_over_in(kernel, launch.body);
    Inserter(kernel, handed_over).run(launch.body, {});
  });
}

}  // namespace tilec::passes
