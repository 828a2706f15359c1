#include "passes/insert_barriers.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/overlap.h"
#include "ir/own_rows.h"
#include "passes/loop_flow.h"
#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/touches.h"
#include "passes/written_apart.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What was touched since the last barrier.
struct Pending {
  std::set<ValueId> read, written;
  std::vector<std::set<ValueId>> in_flight;  // read by products that nobody has awaited, the youngest first: no barrier ends that
  bool is_unfenced = false;                  // has something been written that engines read?
  // By rings of one slot: what was touched for the last time before the slot went back. Who gets it again knows that all warps had given it back.
  std::map<ValueId, std::set<ValueId>> given_back = {};
  friend bool operator==(const Pending&, const Pending&) = default;
  void add(const Pending& other) {
    keep_known_to_both(other);
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
    in_flight.resize(std::max(in_flight.size(), other.in_flight.size()));
    for (size_t age = 0; age < other.in_flight.size(); ++age) in_flight[age].insert(other.in_flight[age].begin(), other.in_flight[age].end());
    is_unfenced |= other.is_unfenced;
  }
  // Beyond so many the oldest are told apart no more.
  void start(std::set<ValueId> reads) {
    constexpr size_t kMostTold = 16;
    in_flight.insert(in_flight.begin(), std::move(reads));
    if (in_flight.size() <= kMostTold) return;
    in_flight[kMostTold - 1].insert(in_flight.back().begin(), in_flight.back().end());
    in_flight.pop_back();
  }
  bool is_in_flight(ValueId buffer) const {
    return std::ranges::any_of(in_flight, [&](const std::set<ValueId>& reads) { return reads.contains(buffer); });
  }
  Pending behind_barrier() const { return {{}, {}, in_flight, false, {}}; }
  bool is_pending(ValueId buffer) const { return read.contains(buffer) || written.contains(buffer) || is_in_flight(buffer); }

  void give_back(ValueId ring) {
    std::set<ValueId>& known = given_back[ring] = read;
    known.insert(written.begin(), written.end());
  }
  void take_again(ValueId ring) {
    for (ValueId buffer : given_back[ring]) read.erase(buffer), written.erase(buffer);
    given_back.erase(ring);
  }
  bool conflicts(const Kernel& kernel, const MemoryTouch& touch) const {
    auto meets = [&](ValueId other) { return may_overlap(kernel, touch.buffer, other); };
    return std::ranges::any_of(written, meets) || (touch.writes && std::ranges::any_of(read, meets));
  }
  void note(const MemoryTouch& touch) {
    (touch.writes ? written : read).insert(touch.buffer);
    forget(touch.buffer);
  }
  void forget(ValueId buffer) {
    for (auto& [ring, known] : given_back) known.erase(buffer);
  }

 private:
  void keep_known_to_both(const Pending& other) {
    auto is_known = [](const Pending& p, ValueId ring, ValueId buffer) {
      auto known = p.given_back.find(ring);
      return !p.is_pending(buffer) || (known != p.given_back.end() && known->second.contains(buffer));
    };
    std::map<ValueId, std::set<ValueId>> both;
    for (const Pending* one : {static_cast<const Pending*>(this), &other})
      for (const auto& [ring, known] : one->given_back)
        for (ValueId buffer : known)
          if (is_known(*this, ring, buffer) && is_known(other, ring, buffer)) both[ring].insert(buffer);
    given_back = std::move(both);
  }
};

class Inserter {
 public:
  Inserter(Kernel& kernel, const std::set<ValueId>& handed_over, const std::set<ValueId>& read_by_engines)
      : kernel_(kernel), handed_over_(handed_over), read_by_engines_(read_by_engines) {}

  // Walks a region from what is pending before it; gives what is pending after it.
  Pending run(RegionId region, Pending pending) {
    OpId turn;  // that a group has taken and not yet passed on: it meets no other group until then
    for (OpId id : std::vector<OpId>(kernel_.region(region).ops)) {
      if (kernel_.op(id).is<op::TakeTurn>()) turn = id;
      if (kernel_.op(id).is<op::PassTurn>()) turn = {};
      pending = step(region, id, turn.valid() ? turn : id, std::move(pending));
    }
    return pending;
  }

 private:
  // `before`: where a barrier that the operation needs is to stand.
  Pending step(RegionId region, OpId id, OpId before, Pending pending) {
    const OpData data = kernel_.op(id).data;
    if (data.is<op::Barrier>()) {
      if (pending.is_unfenced) insert_before(kernel_, region, id, [](Builder& b) { b.add(op::Fence{}); });
      return pending.behind_barrier();
    }
    if (data.is<op::VoteTile>()) {
      if (pending.is_unfenced) insert_before(kernel_, region, id, [](Builder& b) { b.add(op::Fence{}); });
      return pending.behind_barrier();
    }
    if (data.is<op::Fence>()) pending.is_unfenced = false;
    auto is_of_one = [&](ValueId ring) { return kernel_.type(ring).shape[0] == 1; };
    if (auto* release = data.get<op::Release>(); release && is_of_one(release->ring)) return pending.give_back(release->ring), pending;
    if (auto* wait = data.get<op::Wait>(); wait && is_of_one(wait->ring)) return pending.take_again(wait->ring), pending;
    if (auto* await = data.get<op::AwaitGemm>()) return awaited(*await, std::move(pending));
    if (auto* loop = data.get<op::For>()) {
      if (ValueId buffer = conflict_in(loop->body, pending); buffer.valid()) pending = add_barrier(region, id, buffer, std::move(pending));
      return kernel_.defined_by<op::GridBlocks>(loop->step) ? through_blocks(loop->body, pending) : repeat({loop->body}, pending);
    }
    if (auto* loop = data.get<op::While>()) return repeat({loop->condition, loop->body}, std::move(pending));
    if (auto* branch = data.get<op::If>()) {
      Pending taken = run(branch->then_body, pending);
      if (kernel_.defined_by<op::VoteTile>(branch->condition) && taken.written != pending.written) taken = end_with_barrier(branch->then_body, std::move(taken));
      taken.add(run(branch->else_body, pending));
      return taken;
    }
    if (auto* roles = data.get<op::Roles>()) {
      Pending all;
      for (RegionId body : roles->bodies) all.add(run(body, pending));
      return all;
    }
    std::vector<MemoryTouch> touches = touches_of(kernel_, id);
    std::erase_if(touches, [&](const MemoryTouch& t) { return handed_over_.contains(t.buffer); });
    auto conflict = std::find_if(touches.begin(), touches.end(), [&](const MemoryTouch& t) { return pending.conflicts(kernel_, t); });
    if (conflict != touches.end()) pending = add_barrier(region, before, conflict->buffer, std::move(pending));
    bool is_of_engine = data.is<op::CopyAsync>(), is_product = data.is<op::GemmAsync>();
    std::set<ValueId> read;
    for (const MemoryTouch& touch : touches) {
      INVARIANT(!touch.writes || !pending.is_in_flight(touch.buffer), "what a product in flight reads is not written");
      pending.note(touch);
      read.insert(touch.buffer);
      pending.is_unfenced |= touch.writes && !is_of_engine && read_by_engines_.contains(touch.buffer);
    }
    if (is_product) pending.start(std::move(read));
    return pending;
  }

  // What is seldom done has its own barrier, that the other way need not have one.
  Pending end_with_barrier(RegionId body, Pending pending) {
    const OpId yield = kernel_.region(body).ops.back();
    for (ValueId buffer : pending.written)
      if (kernel_.type(buffer).space == Space::Shared) return add_barrier(body, yield, buffer, std::move(pending));
    return pending;
  }

  Pending add_barrier(RegionId region, OpId before, ValueId buffer, Pending pending) {
    const std::string& name = kernel_.value(buffer).hint;
    insert_before(kernel_, region, before, [&](Builder& b) {
      if (pending.is_unfenced) b.add(op::Fence{});
      b.add(op::Barrier{"`" + name + "` goes from warps that touched it to others"});
    });
    return pending.behind_barrier();
  }

  // What was touched before a loop and waits for a barrier there, and is not touched anew in each of its rounds: one barrier in front
  // serves all of them.
  ValueId conflict_in(RegionId body, const Pending& pending) const {
    std::vector<MemoryTouch> touches;
    each_op(kernel_, body, [&](OpId id) {
      for (const MemoryTouch& t : touches_of(kernel_, id))
        if (!handed_over_.contains(t.buffer)) touches.push_back(t);
    });
    auto is_only_read = [&](ValueId buffer) { return std::ranges::none_of(touches, [&](const MemoryTouch& t) { return t.writes && may_overlap(kernel_, t.buffer, buffer); }); };
    for (const MemoryTouch& t : touches)
      if (pending.conflicts(kernel_, t) && is_only_read(t.buffer)) return t.buffer;
    return {};
  }

  // A warp knows of the end of its own products alone, which end in the order of their starts: what they have read counts as read now.
  static Pending awaited(const op::AwaitGemm& await, Pending pending) {
    const auto open = size_t(await.in_flight);
    for (size_t age = open; age < pending.in_flight.size(); ++age)
      for (ValueId buffer : pending.in_flight[age]) pending.read.insert(buffer), pending.forget(buffer);
    if (open < pending.in_flight.size()) pending.in_flight.resize(open);
    return pending;
  }

  // Blocks touch elements of their own, whichever of them one after the other are run by the same warps: tensors wait for nobody there.
  Pending through_blocks(RegionId body, const Pending& before) {
    auto is_tensor = [&](ValueId buffer) { return kernel_.param_of(buffer) != nullptr; };
    return through_loop(before, [&](Pending pending) {
      std::erase_if(pending.read, is_tensor);
      std::erase_if(pending.written, is_tensor);
      return run(body, std::move(pending));
    });
  }

  Pending repeat(const std::vector<RegionId>& bodies, const Pending& before) {
    return through_loop(before, [&](Pending pending) {
      for (RegionId body : bodies) pending = run(body, std::move(pending));
      return pending;
    });
  }

  Kernel& kernel_;
  const std::set<ValueId>&handed_over_, &read_by_engines_;
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

std::set<ValueId> read_by_engines_in(const Kernel& kernel, RegionId body) {
  std::set<ValueId> found;
  each_op(kernel, body, [&](OpId id) {
    const op::GemmAsync* product = kernel.op(id).get<op::GemmAsync>();
    if (!product) return;
    for (ValueId operand : {product->a, product->b})
      if (kernel.type(operand).is_buffer()) found.insert(root_buffer(kernel, operand));
  });
  return found;
}

}  // namespace

void insert_barriers(Kernel& kernel, const Machine& machine, Diagnostics&) {
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    if (!kernel.op(id).is<op::Launch>()) return;
    op::Launch launch = kernel.op(id).as<op::Launch>();
    // Lanes of one warp are in step where they cannot part, and only there.
    if (launch.warps <= 1 && !machine.has(Cap::DivergentBranches)) return;
    std::set<ValueId> handed_over = handed_over_in(kernel, launch.body);
    handed_over.merge(written_apart_in(kernel, launch.body));
    each_op(kernel, launch.body, [&](OpId id) {
      if (kernel.op(id).is<op::Alloc>() && rows_of_own(kernel, kernel.op(id).result())) handed_over.insert(kernel.op(id).result());
    });
    std::set<ValueId> read_by_engines = read_by_engines_in(kernel, launch.body);
    Inserter(kernel, handed_over, read_by_engines).run(launch.body, {});
  });
}

}  // namespace tilec::passes
