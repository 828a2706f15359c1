#include "passes/drop_barriers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ir/packed.h"
#include "passes/loop_flow.h"
#include "passes/pack_shared.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

using Buffers = std::set<uint32_t>;  // shared ones by their value; all of device memory is one
constexpr uint32_t kDevice = UINT32_MAX;

bool meet(const Buffers& a, const Buffers& b) {
  return std::ranges::any_of(a, [&](uint32_t buffer) { return b.contains(buffer); });
}

struct Touched {
  Buffers read, written;
  bool tells_others = false;  // that all in front of it has been done, which may be that of other warps
  friend bool operator==(const Touched&, const Touched&) = default;
  bool is_empty() const { return read.empty() && written.empty() && !tells_others; }
  void add(const Touched& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
    tells_others |= other.tells_others;
  }
  bool conflicts(const Touched& later) const {
    if (later.tells_others && !(read.empty() && written.empty())) return true;
    return meet(written, later.written) || meet(written, later.read) || meet(read, later.written);
  }
};

// What of a program matters here.
struct Step {
  enum class Kind : uint8_t { Touch, Product, AwaitProducts, StoreBox, AwaitStores, Barrier, Loop, Branch } kind;
  Touched touched = {};
  OpId barrier = {};
  int64_t in_flight = 0;
  std::vector<std::vector<Step>> parts = {};
};
using Program = std::vector<Step>;

class Reader {
 public:
  explicit Reader(const Kernel& kernel) : kernel_(kernel) {}

  Program read(RegionId region) const {
    Program program;
    for (OpId id : kernel_.region(region).ops) add(id, program);
    return program;
  }

 private:
  void add(OpId id, Program& program) const {
    const Op& op = kernel_.op(id);
    using enum Step::Kind;
    if (op.is<op::BlockBarrier>() || op.is<op::NamedBarrier>()) return void(program.push_back({.kind = Barrier, .barrier = id}));
    if (auto* loop = op.get<op::For>()) return void(program.push_back({.kind = Loop, .parts = {read(loop->body)}}));
    if (auto* loop = op.get<op::While>()) return void(program.push_back({.kind = Loop, .parts = {read(loop->condition), read(loop->body)}}));
    if (auto* branch = op.get<op::If>()) {
      Step step{.kind = Branch, .parts = {read(branch->then_body), read(branch->else_body)}};
      if (!step.parts[0].empty() || !step.parts[1].empty()) program.push_back(std::move(step));
      return;
    }
    if (auto* roles = op.get<op::Roles>()) {
      Step step{.kind = Branch};
      for (RegionId body : roles->bodies) step.parts.push_back(read(body));
      return void(program.push_back(std::move(step)));
    }
    if (auto* wait = op.get<op::GroupWait>()) return void(program.push_back({.kind = AwaitProducts, .in_flight = wait->in_flight}));
    if (op.is<op::AwaitStores>()) return void(program.push_back({.kind = AwaitStores}));
    Touched touched = touches_of(op);
    if (touched.is_empty()) return;
    Step::Kind kind = op.is<op::GroupProduct>() ? Product : op.is<op::StoreBox>() ? StoreBox : Touch;
    if (kind == Touch && !program.empty() && program.back().kind == Touch) program.back().touched.add(touched);
    else program.push_back({.kind = kind, .touched = std::move(touched)});
  }

  Touched touches_of(const Op& op) const {
    Touched touched;
    auto reads = [&](ValueId v) { note(v, touched.read); };
    auto writes = [&](ValueId v) { note(v, touched.written); };
    if (auto* o = op.get<op::MemLoad>()) {
      reads(o->buffer);
      touched.tells_others = o->peer.valid();
    } else if (auto* o = op.get<op::MemStore>()) {
      writes(o->buffer);
    } else if (auto* o = op.get<op::LoadMatrices>()) {
      reads(o->buffer);
    } else if (auto* o = op.get<op::StoreMatrices>()) {
      writes(o->buffer);
    } else if (auto* o = op.get<op::GroupProduct>()) {
      reads(o->a), reads(o->b);
    } else if (auto* o = op.get<op::StoreBox>()) {
      reads(o->src), writes(o->dst);
    } else if (auto* o = op.get<op::PhaseWait>()) {
      reads(o->barriers);  // each warp waits for itself
    } else if (auto* o = op.get<op::ReadBlock>()) {
      reads(o->numbers);
    } else if (auto* o = op.get<op::CopyBox>()) {
      reads(o->barriers), touched.tells_others = true;
    } else if (auto* o = op.get<op::PhaseArrive>()) {
      reads(o->barriers), touched.tells_others = true;
    } else if (auto* o = op.get<op::PhaseExpect>()) {
      reads(o->barriers), touched.tells_others = true;
    } else if (auto* o = op.get<op::PhaseFollow>()) {
      reads(o->barriers), touched.tells_others = true;
    } else if (op.is<op::ClusterBarrier>() || op.is<op::TakeBlock>()) {
      touched.tells_others = true;
    } else if (!op.is<op::Alloc>() && !op.is<op::Prefetch>() && !op.is<op::IsAligned>() && !op.is<op::HasBoxes>()) {
      each_operand(op.data, writes);
    }
    return touched;
  }

  void note(ValueId v, Buffers& buffers) const {
    if (!v.valid() || !kernel_.type(v).is_buffer() || kernel_.type(v).space == Space::Private) return;
    buffers.insert(kernel_.type(v).space == Space::Shared ? v.index : kDevice);
  }

  const Kernel& kernel_;
};

// What other warps may still be doing at a place, were one barrier not there: since the barrier before it, and of that what stands in front of it.
struct Pending {
  Touched near, in_front;
  Buffers in_flight, stored;
  friend bool operator==(const Pending&, const Pending&) = default;
  void add(const Pending& other) {
    near.add(other.near);
    in_front.add(other.in_front);
    in_flight.insert(other.in_flight.begin(), other.in_flight.end());
    stored.insert(other.stored.begin(), other.stored.end());
  }
};

class Question {
 public:
  Question(const std::set<OpId>& dropped, OpId barrier) : dropped_(dropped), barrier_(barrier) {}

  bool is_needed(const Program& program) {
    run(program, {});
    return is_needed_;
  }

 private:
  Pending run(const Program& program, Pending pending) {
    for (const Step& step : program) pending = this->step(step, std::move(pending));
    return pending;
  }

  Pending step(const Step& step, Pending pending) {
    switch (step.kind) {
      case Step::Kind::Barrier:
        if (step.barrier == barrier_) {
          pending.in_front.add(pending.near);
          pending.near = {};
        } else if (!dropped_.contains(step.barrier)) pending.near = pending.in_front = {};
        return pending;
      case Step::Kind::Loop:
        return through_loop(pending, [&](Pending at) {
          for (const Program& part : step.parts) at = run(part, std::move(at));
          return at;
        });
      case Step::Kind::Branch: {
        Pending all = step.parts.size() == 2 ? run(step.parts[0], pending) : pending;
        for (size_t i = step.parts.size() == 2; i < step.parts.size(); ++i) all.add(run(step.parts[i], pending));
        return all;
      }
      case Step::Kind::Product:
        pending.in_flight.insert(step.touched.read.begin(), step.touched.read.end());
        return touch(step.touched, std::move(pending));
      case Step::Kind::AwaitProducts: {
        Touched read{.read = pending.in_flight, .written = {}};
        if (step.in_flight == 0) pending.in_flight.clear();
        return touch(read, std::move(pending));
      }
      case Step::Kind::StoreBox:
        pending.stored.insert(step.touched.read.begin(), step.touched.read.end());
        return touch(step.touched, std::move(pending));
      case Step::Kind::AwaitStores: {
        Touched read{.read = std::exchange(pending.stored, {}), .written = {}};
        return touch(read, std::move(pending));
      }
      case Step::Kind::Touch: return touch(step.touched, std::move(pending));
    }
    return pending;
  }

  Pending touch(const Touched& touched, Pending pending) {
    is_needed_ |= pending.in_front.conflicts(touched);
    pending.near.add(touched);
    return pending;
  }

  const std::set<OpId>& dropped_;
  const OpId barrier_;
  bool is_needed_ = false;
};

// Those in loops, where they cost time again and again.
void find_barriers(const Program& program, bool is_in_loop, std::vector<OpId>& found) {
  for (const Step& step : program) {
    if (step.kind == Step::Kind::Barrier && is_in_loop) found.push_back(step.barrier);
    for (const Program& part : step.parts) find_barriers(part, is_in_loop || step.kind == Step::Kind::Loop, found);
  }
}

// Buffers lie in the same bytes where a barrier is between them: so many bytes more a block may come to need.
constexpr int64_t kMostMore = 1024;

int64_t bytes_of(Kernel kernel, const Machine& machine) {
  Diagnostics none;
  pack_shared(kernel, machine, none);
  int64_t most = 0;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) most = std::max(most, packed_bytes(kernel, launch->body));
  });
  return most;
}

void drop(Kernel& kernel, const std::set<OpId>& barriers) {
  std::vector<RegionId> regions;
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    if (barriers.contains(id)) regions.push_back(region);
  });
  for (RegionId region : regions) std::erase_if(kernel.region(region).ops, [&](OpId id) { return barriers.contains(id); });
}

}  // namespace

void drop_barriers(Kernel& kernel, const Machine& machine, Diagnostics&) {
  std::set<OpId> dropped;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Launch* launch = kernel.op(id).get<op::Launch>();
    if (!launch || (launch->warps <= 1 && !machine.has(Cap::DivergentBranches))) return;
    Program program = Reader(kernel).read(launch->body);
    std::vector<OpId> barriers;
    find_barriers(program, false, barriers);
    for (OpId barrier : barriers)
      if (!Question(dropped, barrier).is_needed(program)) dropped.insert(barrier);
  });
  if (dropped.empty()) return;
  Kernel without = kernel;
  drop(without, dropped);
  if (bytes_of(without, machine) <= bytes_of(kernel, machine) + kMostMore) kernel = std::move(without);
}

}  // namespace tilec::passes
