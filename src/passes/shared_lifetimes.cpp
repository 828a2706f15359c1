#include "passes/shared_lifetimes.h"

#include <algorithm>
#include <map>
#include <set>

#include "passes/loop_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

using Buffers = std::set<size_t>;  // numbers of shared buffers

// What one operation does to shared buffers.
struct Touches {
  Buffers by_threads, by_products, filled, phases;
  Buffers all() const {
    Buffers every = by_threads;
    for (const Buffers* more : {&by_products, &filled, &phases}) every.insert(more->begin(), more->end());
    return every;
  }
};

class Numbering {
 public:
  Numbering(const Kernel& kernel, RegionId body) : kernel_(kernel) {
    each_op(kernel, body, [&](OpId id) {
      if (kernel.op(id).is<op::Alloc>()) add(id);
    });
    each_op(kernel, body, [&](OpId id) {
      if (auto* copy = kernel.op(id).get<op::CopyBox>())
        if (auto barriers = number(copy->barriers)) filled_by_[*barriers].insert(*number(copy->dst));
    });
    // What lanes have begun to move is there where a phase has followed it, of whichever barriers.
    each_op(kernel, body, [&](OpId id) {
      const op::MemLoad* load = kernel.op(id).get<op::MemLoad>();
      if (load && load->peer.valid() && number(load->buffer)) read_by_peers_.insert(*number(load->buffer));
    });
    Buffers moved;
    each_op(kernel, body, [&](OpId id) {
      if (auto* copy = kernel.op(id).get<op::CopyLanes>()) moved.insert(*number(copy->dst));
    });
    each_op(kernel, body, [&](OpId id) {
      if (auto* follow = kernel.op(id).get<op::PhaseFollow>())
        if (auto barriers = number(follow->barriers)) filled_by_[*barriers].insert(moved.begin(), moved.end());
    });
  }
  const std::vector<SharedBuffer>& buffers() const { return buffers_; }

  Touches touches(const Op& op) const {
    Touches t;
    auto put = [&](Buffers& set, ValueId v) {
      if (auto n = number(v)) set.insert(*n);
    };
    if (auto* o = op.get<op::CopyBox>()) return put(t.filled, o->dst), put(t.phases, o->barriers), t;
    if (auto* o = op.get<op::CopyLanes>()) return put(t.filled, o->dst), t;
    if (auto* o = op.get<op::GroupProduct>()) return put(t.by_products, o->a), put(t.by_products, o->b), t;
    if (auto* o = op.get<op::PhaseWait>()) {
      put(t.phases, o->barriers);
      auto filled = filled_by_.find(number(o->barriers).value_or(buffers_.size()));
      if (filled != filled_by_.end()) t.by_threads = filled->second;
      // Other blocks read until they have said that they are done.
      if (o->of_cluster) t.by_threads.insert(read_by_peers_.begin(), read_by_peers_.end());
      return t;
    }
    bool is_phase = op.is<op::PhaseInit>() || op.is<op::PhaseArrive>() || op.is<op::PhaseExpect>() || op.is<op::PhaseFollow>();
    each_operand(op.data, [&](ValueId v) { put(is_phase ? t.phases : t.by_threads, v); });
    return t;
  }

 private:
  void add(OpId id) {
    const Type& type = kernel_.type(kernel_.op(id).result());
    if (type.space != Space::Shared) return;
    numbers_[kernel_.op(id).result()] = buffers_.size();
    buffers_.push_back({id, type.element_count() * byte_width(type.element)});
  }
  std::optional<size_t> number(ValueId v) const {
    auto found = numbers_.find(v);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  const Kernel& kernel_;
  std::vector<SharedBuffer> buffers_;
  std::map<ValueId, size_t> numbers_;
  Buffers read_by_peers_;
  std::map<size_t, Buffers> filled_by_;  // by the number of an array of barriers
};

class Meetings {
 public:
  explicit Meetings(size_t count) : met_(count, std::vector<bool>(count)) {}
  void meet(size_t a, size_t b) {
    if (a != b) met_[a][b] = met_[b][a] = true;
  }
  void meet(size_t a, const Buffers& others) {
    for (size_t b : others) meet(a, b);
  }
  std::vector<std::vector<bool>> take() { return std::move(met_); }

 private:
  std::vector<std::vector<bool>> met_;
};

// Intervals of places in program order.
class Spans {
 public:
  Spans(const Kernel& kernel, const Numbering& numbering)
      : kernel_(kernel), numbering_(numbering), depth_(numbering.buffers().size()), spans_(depth_.size()) {}

  void run(RegionId body, Meetings& meetings) {
    walk(body);
    for (const Touch& touch : touches_) {
      // The outermost loop that does not make the buffer anew each time.
      bool is_in_loop = touch.loops.size() > depth_[touch.buffer];
      Span at = is_in_loop ? loops_[touch.loops[depth_[touch.buffer]]] : Span{touch.place, touch.place};
      Span& span = spans_[touch.buffer];
      span = {std::min(span.first, at.first), std::max(span.last, at.last)};
    }
    for (size_t a = 0; a < spans_.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (spans_[a].first <= spans_[b].last && spans_[b].first <= spans_[a].last) meetings.meet(a, b);
  }

 private:
  struct Span {
    int first = INT32_MAX, last = -1;
  };
  struct Touch {
    size_t buffer;
    int place;
    std::vector<size_t> loops;  // around it, from the outside in
  };

  void walk(RegionId region) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      int place = next_++;
      for (size_t n = 0; n < depth_.size(); ++n)
        if (numbering_.buffers()[n].alloc == id) depth_[n] = open_.size();
      if (!op.is<op::Alloc>())
        for (size_t buffer : numbering_.touches(op).all()) touches_.push_back({buffer, place, open_});
      bool is_loop = op.is<op::For>() || op.is<op::While>();
      if (is_loop) open_.push_back(loops_.size()), loops_.push_back({place, place});
      each_region(op.data, [&](RegionId inner) { walk(inner); });
      if (is_loop) loops_[open_.back()].last = next_++, open_.pop_back();
    }
  }

  const Kernel& kernel_;
  const Numbering& numbering_;
  std::vector<size_t> depth_;  // of loops around the alloc
  std::vector<Span> spans_, loops_;
  std::vector<Touch> touches_;
  std::vector<size_t> open_;
  int next_ = 0;
};

// What other threads may still be doing at a place.
struct Pending {
  Buffers touched;    // since the last barrier
  Buffers in_flight;  // read by products that nobody has awaited: no barrier ends that
  Buffers ever;       // touched by threads at any time before
  friend bool operator==(const Pending&, const Pending&) = default;
  void add(const Pending& other) {
    touched.insert(other.touched.begin(), other.touched.end());
    in_flight.insert(other.in_flight.begin(), other.in_flight.end());
    ever.insert(other.ever.begin(), other.ever.end());
  }
};

class Order {
 public:
  Order(const Kernel& kernel, const Numbering& numbering, bool in_step, Meetings& meetings)
      : kernel_(kernel), numbering_(numbering), in_step_(in_step), meetings_(meetings) {}

  Pending run(RegionId region, Pending pending) {
    for (OpId id : kernel_.region(region).ops) pending = step(kernel_.op(id), std::move(pending));
    return pending;
  }

 private:
  Pending step(const Op& op, Pending pending) {
    if (op.is<op::BlockBarrier>() || op.is<op::NamedBarrier>() || op.is<op::BarrierVote>() || op.is<op::ClusterBarrier>()) return pending.touched.clear(), pending;
    if (auto* loop = op.get<op::For>()) return repeat({loop->body}, pending);
    if (auto* loop = op.get<op::While>()) return repeat({loop->condition, loop->body}, std::move(pending));
    if (auto* branch = op.get<op::If>()) {
      Pending taken = run(branch->then_body, pending);
      taken.add(run(branch->else_body, pending));
      return taken;
    }
    if (auto* roles = op.get<op::Roles>()) return run_roles(*roles, pending);
    if (auto* wait = op.get<op::GroupWait>()) return awaited(*wait, std::move(pending));
    if (op.is<op::Alloc>()) return pending;
    touch(numbering_.touches(op), pending);
    return pending;
  }

  void touch(const Touches& touches, Pending& pending) {
    for (size_t buffer : touches.filled) meetings_.meet(buffer, pending.ever);
    for (size_t buffer : touches.phases) meet_all(buffer);
    for (const Buffers* set : {&touches.by_threads, &touches.by_products})
      for (size_t buffer : *set) {
        meetings_.meet(buffer, pending.touched);
        meetings_.meet(buffer, pending.in_flight);
        if (!in_step_) pending.touched.insert(buffer);
        pending.ever.insert(buffer);
      }
    pending.in_flight.insert(touches.by_products.begin(), touches.by_products.end());
  }

  void meet_all(size_t buffer) {
    for (size_t other = 0; other < numbering_.buffers().size(); ++other) meetings_.meet(buffer, other);
  }

  // A warp knows of the end of its own products alone: what they have read counts as read now.
  Pending awaited(const op::GroupWait& wait, Pending pending) {
    if (!in_step_) pending.touched.insert(pending.in_flight.begin(), pending.in_flight.end());
    if (wait.in_flight == 0) pending.in_flight.clear();
    return pending;
  }

  // Roles run side by side.
  Pending run_roles(const op::Roles& roles, const Pending& before) {
    Pending after;
    std::vector<Buffers> touched;
    for (RegionId body : roles.bodies) {
      after.add(run(body, before));
      Buffers& mine = touched.emplace_back();
      each_op(kernel_, body, [&](OpId id) {
        if (kernel_.op(id).is<op::Alloc>()) return;
        Touches touches = numbering_.touches(kernel_.op(id));
        for (const Buffers* set : {&touches.by_threads, &touches.by_products}) mine.insert(set->begin(), set->end());
      });
    }
    for (size_t a = 0; a < touched.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        for (size_t buffer : touched[a]) meetings_.meet(buffer, touched[b]);
    return after;
  }

  Pending repeat(const std::vector<RegionId>& bodies, const Pending& before) {
    return through_loop(before, [&](Pending pending) {
      for (RegionId body : bodies) pending = run(body, std::move(pending));
      return pending;
    });
  }

  const Kernel& kernel_;
  const Numbering& numbering_;
  bool in_step_;
  Meetings& meetings_;
};

}  // namespace

SharedLifetimes shared_lifetimes(const Kernel& kernel, RegionId body, bool in_step) {
  Numbering numbering(kernel, body);
  SharedLifetimes result{numbering.buffers(), {}};
  each_op(kernel, body, [&](OpId id) {
    Touches touches = numbering.touches(kernel.op(id));
    for (const Buffers* set : {&touches.by_products, &touches.filled})
      for (size_t buffer : *set) result.buffers[buffer].is_of_engine = true;
  });
  Meetings meetings(result.buffers.size());
  if (result.buffers.size() > 1) {
    Spans(kernel, numbering).run(body, meetings);
    Order(kernel, numbering, in_step, meetings).run(body, {});
  }
  result.meets = meetings.take();
  return result;
}

}  // namespace tilec::passes
