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
  s.clock.since = advance(*s.block->cluster, s.clock);
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
  s.has_arrived = s.block->cluster->progressed = true;
  return Status::Retry;
}

void release_group(Cluster& cluster, Group& group) {
  std::vector<uint64_t> known = std::move(group.known);
  group.known.clear();
  group.arrived = 0;
  for (Strand* other : cluster.strands)
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
  release_group(*s.block->cluster, group);
  s.is_released = s.has_arrived = false;
  return Status::Next;
}

// Whole-tile operations of one role follow each other anyway: nothing to wait for.
Status do_role_barrier(Strand& s, const Instr&) {
  ++s.run->counters().barriers;
  return Status::Next;
}

namespace {

// One strand more has come. True where it was the last one, and all go on.
bool is_complete(Strand& s, NamedMeeting& meeting, uint32_t needed) {
  meeting.needed = needed;
  meeting.members.push_back(&s);
  learn(meeting.known, s.clock.knowledge());
  if (++meeting.arrived < needed) return false;
  std::vector<uint64_t> known = std::move(meeting.known);
  for (Strand* member : meeting.members) {
    member->is_released = true;
    member->any = meeting.any, member->all = meeting.all;
    pass(*member, known);
  }
  meeting = {};
  s.is_released = s.has_arrived = false;
  return true;
}

// The meeting that the strand comes to; null: others are there who expect another one.
NamedMeeting* come_to(Strand& s, const Instr& i, int64_t id, uint32_t warps, bool is_vote) {
  if (!all_lanes_reach(s, i)) return nullptr;
  ++s.run->counters().barriers;
  NamedMeeting& meeting = s.block->meetings[id];
  if (meeting.arrived && meeting.needed != warps)
    fail(s, FaultKind::Barrier, i, "barrier " + std::to_string(id) + " is awaited by " + std::to_string(meeting.needed) + " and by " + std::to_string(warps) + " warps");
  else if (meeting.arrived && meeting.is_vote != is_vote)
    fail(s, FaultKind::Barrier, i, "some warps vote at barrier " + std::to_string(id) + " and some do not");
  else
    return meeting.is_vote = is_vote, &meeting;
  return nullptr;
}

}  // namespace

Status do_named_barrier(Strand& s, const Instr& i) {
  if (was_released(s)) return Status::Next;
  if (s.has_arrived) return arrive(s, i, "a named barrier");
  const uint32_t needed = i.a ? i.a : s.group->members;
  NamedMeeting* meeting = come_to(s, i, i.imm, needed, false);
  if (!meeting) return Status::Stop;
  return is_complete(s, *meeting, needed) ? Status::Next : arrive(s, i, "a named barrier");
}

namespace {

Status take_verdict(Strand& s, const Instr& i) {
  std::fill_n(s.at(i.dst), s.width, Slot{.i = ir::VoteKind(i.fn) == ir::VoteKind::Any ? s.any : s.all});
  return Status::Next;
}

}  // namespace

Status do_barrier_vote(Strand& s, const Instr& i) {
  if (was_released(s)) return take_verdict(s, i);
  if (s.has_arrived) return arrive(s, i, "a barrier at which warps vote");
  NamedMeeting* meeting = come_to(s, i, i.imm, i.b, true);
  if (!meeting) return Status::Stop;
  const Slot* x = s.at(i.a);
  each_lane(s.full, [&](int lane) { meeting->any |= x[lane].i != 0, meeting->all &= x[lane].i != 0; });
  return is_complete(s, *meeting, i.b) ? take_verdict(s, i) : arrive(s, i, "a barrier at which warps vote");
}

Status do_cluster_barrier(Strand& s, const Instr& i) {
  if (was_released(s)) return Status::Next;
  if (s.has_arrived) return arrive(s, i, "the barrier of its cluster");
  if (!all_lanes_reach(s, i)) return Status::Stop;
  ++s.run->counters().barriers;
  Cluster& cluster = *s.block->cluster;
  return is_complete(s, cluster.meeting, s.group->members * uint32_t(cluster.blocks.size())) ? Status::Next : arrive(s, i, "the barrier of its cluster");
}

// Its lanes know from here on what each other did.
Status do_warp_barrier(Strand& s, const Instr& i) {
  if (!all_lanes_reach(s, i)) return Status::Stop;
  s.clock.learn(s.clock.agent, s.clock.now);
  s.clock.since = advance(*s.block->cluster, s.clock);
  return Status::Next;
}

// None: the slot was never made, or lies outside.
PhaseBarrier* phase_barrier(Strand& s, const Instr& i, const View& view, int64_t index) {
  if (!view.memory || index < 0 || index >= view.reach) {
    fail(s, FaultKind::OutOfBounds, i,
         "slot " + std::to_string(index) + " leaves " + (view.memory ? name_of(*view.memory) : "an absent tensor"));
    return nullptr;
  }
  auto it = s.block->cluster->phases.find({view.memory, view.base + index});
  bool is_made = it != s.block->cluster->phases.end();
  if (is_made && (!s.run->options.check_races || s.clock.is_after(it->second.made, 0))) return &it->second;
  fail(s, FaultKind::Barrier, i,
       "slot " + std::to_string(index) + " of " + name_of(*view.memory) + (is_made ? " is used, and nothing orders that behind `phase_init`" : " is used before `phase_init`"));
  return nullptr;
}
PhaseBarrier* phase_barrier(Strand& s, const Instr& i) { return phase_barrier(s, i, s.views[i.a], s.at(i.b)->i); }

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
void land_all(Cluster& cluster, PhaseBarrier& barrier) {
  for (uint32_t id : barrier.copies) {
    if (cluster.flying[id].stage != Flying::Stage::Open) continue;
    land(cluster, id);
    cluster.progressed = true;
  }
}

// Whose bytes the waiter now knows to be there.
void join_all(Cluster& cluster, PhaseBarrier& barrier) {
  for (uint32_t id : barrier.copies) {
    Flying& f = cluster.flying[id];
    if (f.stage != Flying::Stage::Landed) continue;
    f.stage = Flying::Stage::Joined;
    cluster.free_agents.push_back(f.agent);
  }
  std::erase_if(barrier.copies, [&](uint32_t id) { return cluster.flying[id].stage == Flying::Stage::Joined; });
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

void count_bytes(Cluster& cluster, const Flying& copy, int64_t bytes) {
  PhaseBarrier& barrier = *copy.box.barrier;
  barrier.bytes -= bytes;
  gather(barrier, copy);
  complete_phase(*cluster.run, copy.op, barrier);
}

void count_arrivals(Cluster& cluster, const Flying& copy) {
  PhaseBarrier& barrier = *copy.lanes->follower;
  barrier.pending -= copy.lanes->arrivals;
  gather(barrier, copy);
  if (barrier.pending < 0)
    fail(*cluster.run, FaultKind::Barrier, copy.op, "more than the " + std::to_string(barrier.arrivals) + " arrivals that a phase of this barrier has");
  complete_phase(*cluster.run, copy.op, barrier);
}

// Of the copies that it follows the last one brings the arrivals: they land in the order of their issue.
Status do_phase_follow(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  Cluster& cluster = *s.block->cluster;
  std::vector<uint32_t> followed = std::exchange(s.begun, {});
  if (followed.empty()) {
    Instr plain = i;
    plain.fn = 0, plain.dst = kNoSlot;
    return do_phase_arrive(s, plain);
  }
  for (uint32_t id : followed) {
    LaneMoves& lanes = *cluster.flying[id].lanes;
    lanes.follower = barrier;
    lanes.arrivals = id == followed.back() ? std::popcount(s.mask) : 0;
    barrier->copies.push_back(id);
    if (cluster.flying[id].stage == Flying::Stage::Landed) count_arrivals(cluster, cluster.flying[id]);
  }
  cluster.progressed = true;
  return s.run->result.fault ? Status::Stop : Status::Next;
}

Status do_phase_init(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t index = s.at(i.b)->i;
  if (!view.memory || index < 0 || index >= view.reach)
    return fail(s, FaultKind::OutOfBounds, i, "slot " + std::to_string(index) + " leaves its buffer of barriers");
  s.block->cluster->phases[{view.memory, view.base + index}] = {.arrivals = i.imm, .pending = i.imm, .made = s.clock.stamp(0)};
  return Status::Next;
}

namespace {

uint64_t arriving(Strand& s, const Instr& i) {
  uint64_t lanes = s.mask;
  const Slot* mask = s.at(i.c);
  if (i.fn) each_lane(s.mask, [&](int lane) { lanes &= mask[lane].i ? ~0ull : ~(1ull << lane); });
  return lanes;
}

// A clock is of a warp: of what lanes that may part have done since they met, some of them alone cannot tell.
std::vector<uint64_t> told_by(const Strand& s, uint64_t lanes) { return s.clock.lock_step || lanes == s.full ? s.clock.knowledge() : s.clock.known; }

bool arrive_at(Strand& s, const Instr& i, PhaseBarrier& barrier, uint64_t lanes) {
  barrier.pending -= std::popcount(lanes);
  if (barrier.pending < 0) {
    fail(s, FaultKind::Barrier, i, "more than the " + std::to_string(barrier.arrivals) + " arrivals that a phase of this barrier has");
    return false;
  }
  learn(barrier.gathering, barrier.known);
  learn(barrier.gathering, told_by(s, lanes));
  complete_phase(*s.run, i.op, barrier);
  s.block->cluster->progressed = true;
  return !s.run->result.fault;
}

}  // namespace

// Every acting lane arrives; with bytes, the phase awaits those of them too.
Status do_phase_arrive(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  uint64_t lanes = arriving(s, i);
  if (!lanes) return Status::Next;
  if (i.dst != kNoSlot) each_lane(lanes, [&](int lane) { barrier->bytes += s.at(i.dst)[lane].i; });
  if (!arrive_at(s, i, *barrier, lanes)) return Status::Stop;
  begin_anew(s);
  return Status::Next;
}

// Each lane at the barrier of a block of its own choice.
Status do_phase_arrive_at(Strand& s, const Instr& i) {
  uint64_t lanes = arriving(s, i);
  const Slot* blocks = s.at(uint32_t(i.imm));
  for (uint64_t left = lanes; left; left &= left - 1) {
    auto view = peer_view(s, i, s.views[i.a], blocks[i.lanes == 1 ? 0 : std::countr_zero(left)].i);
    PhaseBarrier* barrier = view ? phase_barrier(s, i, *view, s.at(i.b)->i) : nullptr;
    if (!barrier || !arrive_at(s, i, *barrier, left & -left)) return Status::Stop;
  }
  if (lanes) begin_anew(s);
  return Status::Next;
}

// Waits for the end of the phase of that parity: while it is the current one.
Status do_phase_wait(Strand& s, const Instr& i) {
  PhaseBarrier* barrier = phase_barrier(s, i);
  if (!barrier) return Status::Stop;
  auto is_current = [&] { return int64_t(barrier->phase & 1) == (s.at(i.c)->i & 1); };
  if (is_current()) land_all(*s.block->cluster, *barrier);
  if (s.run->result.fault) return Status::Stop;
  if (is_current()) {
    s.waiting = {i.op, "a phase of a barrier in shared memory"};
    return Status::Retry;
  }
  join_all(*s.block->cluster, *barrier);
  pass(s, barrier->known);
  return Status::Next;
}

}  // namespace tilec::interp
