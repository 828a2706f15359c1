// Barriers: of all threads of a block, of some of its warps, and with phases in shared memory.
#include "interp/async.h"
#include "interp/handlers.h"

namespace tilec::interp {

namespace {

void learn(std::vector<uint64_t>& all, const std::vector<uint64_t>& more) {
  if (all.size() < more.size()) all.resize(more.size(), 0);
  for (size_t k = 0; k < more.size(); ++k) all[k] = std::max(all[k], more[k]);
}

// What comes is later. Lanes in step stay ordered with what they did themselves, others only by what they learn.
void begin_anew(Strand& s) {
  if (s.clock.lock_step) s.clock.learn(s.clock.agent, s.clock.now);
  s.clock.since = advance(*s.block, s.clock);
}

// What came before is now known.
void pass(Strand& s, const std::vector<uint64_t>& known) {
  s.clock.learn(known);
  begin_anew(s);
}

bool all_lanes_reach(Strand& s, const Instr& i) {
  if (s.mask == s.full) return true;
  int missing = std::countr_zero(s.full & ~s.mask);
  fail(s, FaultKind::Barrier, i,
       "lane " + std::to_string(missing) + " of warp " + std::to_string(s.warp) + " does not reach this barrier");
  return false;
}

// A strand that the last one to come has let through.
bool was_released(Strand& s) {
  if (!s.is_released) return false;
  s.is_released = s.has_arrived = false;
  return true;
}

Status arrive(Strand& s, const Instr& i, std::string_view what) {
  s.waiting = {i.op, what};
  if (s.has_arrived) return Status::Retry;
  s.has_arrived = s.block->progressed = true;
  return Status::Retry;
}

void release_group(Block& block, Group& group) {
  std::vector<uint64_t> known = std::move(group.known);
  group.known.clear();
  group.arrived = 0;
  for (Strand* other : block.strands)
    if (other->group == &group && !other->is_done) {
      other->is_released = true;
      pass(*other, known);
    }
}

}  // namespace

Status do_block_barrier(Strand& s, const Instr& i) {
  if (was_released(s)) return Status::Next;
  if (s.has_arrived) return arrive(s, i, "the barrier of its block");
  if (!all_lanes_reach(s, i)) return Status::Stop;
  ++s.run->counters().barriers;
  if (!s.group) return Status::Next;
  Group& group = *s.group;
  if (group.arrived && group.barrier_op != i.op)
    return fail(s, FaultKind::Barrier, i, s.name + " waits here while others of its block wait at another barrier");
  if (group.finished)
    return fail(s, FaultKind::Barrier, i, s.name + " waits at a barrier that others of its block have ended without");
  group.barrier_op = i.op;
  learn(group.known, s.clock.knowledge());
  if (++group.arrived < group.members) return arrive(s, i, "the barrier of its block");
  release_group(*s.block, group);
  s.is_released = s.has_arrived = false;
  return Status::Next;
}

// Whole-tile operations of one role follow each other anyway: nothing to wait for.
Status do_role_barrier(Strand& s, const Instr&) {
  ++s.run->counters().barriers;
  return Status::Next;
}

Status do_named_barrier(Strand& s, const Instr& i) {
  if (was_released(s)) return Status::Next;
  if (s.has_arrived) return arrive(s, i, "a named barrier");
  if (!all_lanes_reach(s, i)) return Status::Stop;
  ++s.run->counters().barriers;
  NamedMeeting& meeting = s.block->meetings[i.imm];
  uint32_t needed = i.a ? i.a : s.group->members;
  if (meeting.arrived && meeting.needed != needed)
    return fail(s, FaultKind::Barrier, i,
                "barrier " + std::to_string(i.imm) + " is awaited by " + std::to_string(meeting.needed) + " and by " +
                    std::to_string(needed) + " warps");
  meeting.needed = needed;
  meeting.members.push_back(&s);
  learn(meeting.known, s.clock.knowledge());
  if (++meeting.arrived < needed) return arrive(s, i, "a named barrier");
  std::vector<uint64_t> known = std::move(meeting.known);
  for (Strand* member : meeting.members) {
    member->is_released = true;
    pass(*member, known);
  }
  s.block->meetings.erase(i.imm);
  s.is_released = s.has_arrived = false;
  return Status::Next;
}

// None: the slot was never made, or lies outside.
PhaseBarrier* phase_barrier(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t index = s.at(i.b)->i;
  if (!view.memory || index < 0 || index >= view.reach) {
    fail(s, FaultKind::OutOfBounds, i,
         "slot " + std::to_string(index) + " leaves " + (view.memory ? name_of(*view.memory) : "an absent tensor"));
    return nullptr;
  }
  auto it = s.block->phases.find({view.memory, view.base + index});
  if (it != s.block->phases.end()) return &it->second;
  fail(s, FaultKind::Barrier, i,
       "slot " + std::to_string(index) + " of " + name_of(*view.memory) + " is used before `phase_init`");
  return nullptr;
}

namespace {

// Bytes may come before the arrival that expects them.
void complete_phase(Run& run, uint32_t op, PhaseBarrier& barrier) {
  if (barrier.pending == 0 && barrier.bytes < 0)
    fail(run, FaultKind::Barrier, op, "a phase of a barrier is given " + std::to_string(-barrier.bytes) + " bytes more than it expects");
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  barrier.known = std::move(barrier.gathering);
  barrier.gathering.clear();
  barrier.pending = barrier.arrivals;
  ++barrier.phase;
}

// Copies that count here move now at the latest: somebody waits for them.
void land_all(Block& block, PhaseBarrier& barrier) {
  for (uint32_t id : barrier.copies) {
    if (block.flying[id].stage != Flying::Stage::Open) continue;
    land(block, id);
    block.progressed = true;
  }
}

// Whose bytes the waiter now knows to be there.
void join_all(Block& block, PhaseBarrier& barrier) {
  for (uint32_t id : barrier.copies) {
    Flying& f = block.flying[id];
    if (f.stage != Flying::Stage::Landed) continue;
    f.stage = Flying::Stage::Joined;
    block.free_agents.push_back(f.agent);
  }
  std::erase_if(barrier.copies, [&](uint32_t id) { return block.flying[id].stage == Flying::Stage::Joined; });
}

}  // namespace

namespace {

void gather(PhaseBarrier& barrier, const Flying& copy) {
  learn(barrier.gathering, barrier.known);
  learn(barrier.gathering, copy.known);
  if (barrier.gathering.size() <= copy.agent) barrier.gathering.resize(copy.agent + 1, 0);
  barrier.gathering[copy.agent] = std::max(barrier.gathering[copy.agent], copy.time);
}

}  // namespace

void count_bytes(Block& block, const Flying& copy, int64_t bytes) {
  PhaseBarrier& barrier = *copy.box.barrier;
  barrier.bytes -= bytes;
  gather(barrier, copy);
  complete_phase(*block.run, copy.op, barrier);
}

void count_arrivals(Block& block, const Flying& copy) {
  PhaseBarrier& barrier = *copy.lanes->follower;
  barrier.pending -= copy.lanes->arrivals;
  gather(barrier, copy);
  if (barrier.pending < 0)
    fail(*block.run, FaultKind::Barrier, copy.op, "more than the " + std::to_string(barrier.arrivals) + " arrivals that a phase of this barrier has");
  complete_phase(*block.run, copy.op, barrier);
}

// Of the copies that it follows the last one brings the arrivals: they land in the order of their issue.
Status do_phase_follow(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  Block& block = *s.block;
  std::vector<uint32_t> followed = std::exchange(s.begun, {});
  if (followed.empty()) {
    Instr plain = i;
    plain.fn = 0, plain.dst = kNoSlot;
    return do_phase_arrive(s, plain);
  }
  for (uint32_t id : followed) {
    LaneMoves& lanes = *block.flying[id].lanes;
    lanes.follower = barrier;
    lanes.arrivals = id == followed.back() ? std::popcount(s.mask) : 0;
    barrier->copies.push_back(id);
    if (block.flying[id].stage == Flying::Stage::Landed) count_arrivals(block, block.flying[id]);
  }
  block.progressed = true;
  return s.run->result.fault ? Status::Stop : Status::Next;
}

Status do_phase_init(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t index = s.at(i.b)->i;
  if (!view.memory || index < 0 || index >= view.reach)
    return fail(s, FaultKind::OutOfBounds, i, "slot " + std::to_string(index) + " leaves its buffer of barriers");
  s.block->phases[{view.memory, view.base + index}] = {.arrivals = i.imm, .pending = i.imm};
  return Status::Next;
}

// Every acting lane arrives; with bytes, the phase awaits those of them too.
Status do_phase_arrive(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  uint64_t lanes = s.mask;
  if (i.fn) {
    const Slot* mask = s.at(i.c);
    each_lane(s.mask, [&](int lane) {
      if (!mask[lane].i) lanes &= ~(1ull << lane);
    });
  }
  if (!lanes) return Status::Next;
  int64_t count = std::popcount(lanes);
  if (i.dst != kNoSlot) each_lane(lanes, [&](int lane) { barrier->bytes += s.at(i.dst)[lane].i; });
  barrier->pending -= count;
  if (barrier->pending < 0)
    return fail(s, FaultKind::Barrier, i,
                "more than the " + std::to_string(barrier->arrivals) + " arrivals that a phase of this barrier has");
  learn(barrier->gathering, barrier->known);
  learn(barrier->gathering, s.clock.knowledge());
  complete_phase(*s.run, i.op, *barrier);
  if (s.run->result.fault) return Status::Stop;
  s.block->progressed = true;
  begin_anew(s);
  return Status::Next;
}

// Waits for the end of the phase of that parity: while it is the current one.
Status do_phase_wait(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  auto is_current = [&] { return int64_t(barrier->phase & 1) == (s.at(i.c)->i & 1); };
  if (is_current()) land_all(*s.block, *barrier);
  if (s.run->result.fault) return Status::Stop;
  if (is_current()) {
    s.waiting = {i.op, "a phase of a barrier in shared memory"};
    return Status::Retry;
  }
  join_all(*s.block, *barrier);
  pass(s, barrier->known);
  return Status::Next;
}

}  // namespace tilec::interp
