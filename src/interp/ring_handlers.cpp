// Rings: slots handed from a producing role to consuming roles. The producer acquires turn t (its slot is t mod depth,
// free once turn t - depth was given back by every consumer), fills it and commits it; a consumer waits for it, reads,
// releases.
#include "interp/async.h"
#include "interp/handlers.h"

namespace tilec::interp {

namespace {

void learn(std::vector<uint64_t>& all, const std::vector<uint64_t>& more) {
  if (all.size() < more.size()) all.resize(more.size(), 0);
  for (size_t k = 0; k < more.size(); ++k) all[k] = std::max(all[k], more[k]);
}

struct Turn {
  Ring& ring;
  RingSlot& slot;
  int64_t turn;
};
Turn turn_of(Strand& s, const Instr& i) {
  Ring& ring = s.block->rings[s.handles[i.a]];
  int64_t turn = s.at(i.b)->i;
  int64_t slot = ((turn % ring.depth) + ring.depth) % ring.depth;
  return {ring, ring.slots[size_t(slot)], turn};
}

Status misuse(Strand& s, const Instr& i, const Turn& t, std::string_view what) {
  return fail(s, FaultKind::Ring, i,
              "turn " + std::to_string(t.turn) + " of ring `" + t.ring.name + "` " + std::string(what));
}

Status blocked(Strand& s, const Instr& i, std::string_view what, int64_t turn) {
  s.waiting = {i.op, what, turn, s.handles[i.a]};
  return Status::Retry;
}

// What this strand has done is now known to those who take over; what it does next is later.
void hand_over(Strand& s, std::vector<uint64_t>& known) {
  learn(known, s.clock.knowledge());
  advance(*s.block->cluster, s.clock);
  s.block->cluster->progressed = true;
}

}  // namespace

Status do_ring_alloc(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Ring ring{.op = i.op, .depth = data.counts[0], .consumers = data.counts[1], .name = data.names[0]};
  if (ring.depth < 1) return fail(s, FaultKind::Ring, i, "a ring has at least one slot");
  ring.slots.resize(size_t(ring.depth));
  for (int64_t k = 0; k < ring.depth; ++k) ring.slots[size_t(k)].turn = k;
  s.handles[i.dst] = uint32_t(s.block->rings.size());
  s.block->rings.push_back(std::move(ring));
  return Status::Next;
}

Status do_acquire(Strand& s, const Instr& i) {
  Turn t = turn_of(s, i);
  if (t.turn < 0 || t.slot.turn > t.turn) return misuse(s, i, t, "is taken though its slot has been handed on");
  if (t.slot.turn == t.turn && t.slot.state != RingSlot::State::Free) return misuse(s, i, t, "is taken twice");
  if (t.slot.turn < t.turn) return blocked(s, i, "a free turn", t.turn - t.ring.depth);
  t.slot.state = RingSlot::State::Taken;
  s.clock.learn(t.slot.free_known);
  return Status::Next;
}

Status do_commit(Strand& s, const Instr& i) {
  Turn t = turn_of(s, i);
  if (t.slot.turn != t.turn || t.slot.state != RingSlot::State::Taken)
    return misuse(s, i, t, "is committed without having been acquired");
  t.slot.state = RingSlot::State::Filled;
  t.slot.released = 0;
  t.slot.filled_known.clear();
  t.slot.free_known.clear();
  t.slot.tokens.clear();
  for (const Location& token : s.code->data[size_t(i.imm)].operands) t.slot.tokens.push_back(s.handles[token.slot]);
  hand_over(s, t.slot.filled_known);
  return Status::Next;
}

Status do_wait(Strand& s, const Instr& i) {
  Turn t = turn_of(s, i);
  if (t.slot.turn > t.turn) return misuse(s, i, t, "is waited for though its slot has been handed on");
  if (t.slot.turn < t.turn || t.slot.state != RingSlot::State::Filled) return blocked(s, i, "turn", t.turn);
  s.clock.learn(t.slot.filled_known);
  for (uint32_t token : t.slot.tokens) join(s, token);
  return Status::Next;
}

Status do_release(Strand& s, const Instr& i) {
  Turn t = turn_of(s, i);
  if (t.slot.turn != t.turn || t.slot.state != RingSlot::State::Filled)
    return misuse(s, i, t, "is released without having been filled");
  hand_over(s, t.slot.free_known);
  if (++t.slot.released < t.ring.consumers) return Status::Next;
  t.slot.state = RingSlot::State::Free;
  t.slot.turn += t.ring.depth;
  return Status::Next;
}

}  // namespace tilec::interp
