// What the lanes of a warp are and how they exchange numbers.
#include "interp/handlers.h"

namespace tilec::interp {

using namespace ir;

Status do_thread_index(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  for (uint32_t lane = 0; lane < s.width; ++lane) d[lane].i = int64_t(s.warp) * s.width + lane;
  return Status::Next;
}
Status do_lane_index(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  for (uint32_t lane = 0; lane < s.width; ++lane) d[lane].i = lane;
  return Status::Next;
}
Status do_warp_index(Strand& s, const Instr& i) {
  std::fill_n(s.at(i.dst), s.width, Slot{.i = s.warp});
  return Status::Next;
}

namespace {

// The lane that `lane` reads from; one outside the warp, going up or down, reads itself.
int64_t source_lane(ShuffleKind how, int lane, int64_t by, uint32_t width) {
  auto or_self = [&](int64_t from) { return from < 0 || from >= int64_t(width) ? lane : from; };
  switch (how) {
    case ShuffleKind::Index:
      return by;
    case ShuffleKind::Xor:
      return lane ^ by;
    case ShuffleKind::Up:
      return or_self(lane - by);
    case ShuffleKind::Down:
      return or_self(lane + by);
  }
  UNREACHABLE("a shuffle is one of four");
}

}  // namespace

Status do_shuffle(Strand& s, const Instr& i) {
  Slot* d = s.at(i.dst);
  const Slot* by = s.at(i.b);
  Slot x[64];
  std::copy_n(s.at(i.a), s.width, x);
  for (uint64_t left = s.mask; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    int64_t from = source_lane(ShuffleKind(i.fn), lane, by[lane].i, s.width);
    if (from < 0 || from >= int64_t(s.width) || !(s.mask >> from & 1))
      return fail(s, FaultKind::OutOfBounds, i,
                  "lane " + std::to_string(lane) + " shuffles from lane " + std::to_string(from) +
                      ", which does not take part");
    d[lane] = x[from];
  }
  ++s.run->counters().shuffles;
  return Status::Next;
}

Status do_vote(Strand& s, const Instr& i) {
  const Slot* x = s.at(i.a);
  uint64_t ballot = 0;
  each_lane(s.mask, [&](int lane) { ballot |= uint64_t(x[lane].i != 0) << lane; });
  Slot result{.i = 0};
  switch (VoteKind(i.fn)) {
    case VoteKind::Any:
      result.i = ballot != 0;
      break;
    case VoteKind::All:
      result.i = ballot == s.mask;
      break;
    case VoteKind::Ballot:
      result.u = ballot;
      break;
  }
  std::fill_n(s.at(i.dst), s.width, result);
  ++s.run->counters().votes;
  return Status::Next;
}

Status do_warp_reduce(Strand& s, const Instr& i) {
  const Slot* x = s.at(i.a);
  Number sum = identity(ReduceFn(i.fn), i.type);
  Numeric numeric = i.fast ? Numeric::Wide : Numeric::Typed;
  each_lane(s.mask, [&](int lane) { sum = combine(ReduceFn(i.fn), i.type, sum, to_number(i.type, x[lane]), numeric); });
  std::fill_n(s.at(i.dst), s.width, to_slot(sum));
  ++s.run->counters().shuffles;
  return Status::Next;
}

Status do_fault(Strand& s, const Instr& i) {
  const Slot *condition = s.at(i.a), *index = s.at(i.b);
  each_lane(s.mask, [&](int lane) {
    if (condition[lane].i) note_guard(s, i.op, i.imm, index[lane].i);
  });
  return Status::Next;
}

}  // namespace tilec::interp
