// Moves, jumps and masks.
#include "interp/handlers.h"

namespace tilec::interp {

Status do_move(Strand& s, const Instr& i) {
  if (s.mask == s.full) return do_copy(s, i);
  for (int64_t k = 0; k < i.imm; ++k) {
    Slot* d = s.at(i.dst) + k * s.width;
    const Slot* a = s.at(i.a) + k * s.width;
    each_lane(s.mask, [&](int lane) { d[lane] = a[lane]; });
  }
  return Status::Next;
}

Status do_copy(Strand& s, const Instr& i) {
  std::memmove(s.at(i.dst), s.at(i.a), size_t(i.imm) * s.width * sizeof(Slot));
  return Status::Next;
}

Status do_move_tile(Strand& s, const Instr& i) {
  if (i.fast)
    s.tiles[i.dst] = std::move(s.tiles[i.a]);
  else
    s.tiles[i.dst] = s.tiles[i.a];
  return Status::Next;
}

Status do_move_view(Strand& s, const Instr& i) {
  s.views[i.dst] = s.views[i.a];
  return Status::Next;
}

Status do_move_handle(Strand& s, const Instr& i) {
  s.handles[i.dst] = s.handles[i.a];
  return Status::Next;
}

namespace {

// A jump back is where an endless loop comes by.
Status jump(Strand& s, const Instr& i) {
  bool is_back = i.imm < int64_t(s.pc);
  s.pc = uint32_t(i.imm);
  if (is_back && s.run->counters().steps > s.run->options.step_limit)
    return fail(s, FaultKind::StepLimit, i,
                "the run is stopped after " + std::to_string(s.run->options.step_limit) + " steps");
  return Status::Next;
}

uint64_t lanes_where(const Strand& s, const Slot* condition) {
  uint64_t bits = 0;
  for (uint32_t lane = 0; lane < s.width; ++lane) bits |= uint64_t(condition[lane].i != 0) << lane;
  return bits;
}

}  // namespace

Status do_jump(Strand& s, const Instr& i) { return jump(s, i); }

Status do_jump_unless(Strand& s, const Instr& i) {
  if (!s.at(i.a)->i) s.pc = uint32_t(i.imm);
  return Status::Next;
}

Status do_if(Strand& s, const Instr& i) {
  uint64_t taken = lanes_where(s, s.at(i.a));
  s.saved[2 * i.b] = s.mask;
  s.saved[2 * i.b + 1] = s.mask & ~taken;
  s.mask &= taken;
  if (!s.mask) s.pc = uint32_t(i.imm);
  return Status::Next;
}

Status do_else(Strand& s, const Instr& i) {
  s.mask = s.saved[2 * i.b + 1];
  if (!s.mask) s.pc = uint32_t(i.imm);
  return Status::Next;
}

Status do_end_if(Strand& s, const Instr& i) {
  s.mask = s.saved[2 * i.b];
  return Status::Next;
}

Status do_loop_enter(Strand& s, const Instr& i) {
  s.saved[2 * i.b] = s.mask;
  if (i.c == kNoSlot) return Status::Next;
  for (uint64_t left = s.mask; left; left &= left - 1) {
    int64_t step = s.at(i.c)[std::countr_zero(left)].i;
    if (step <= 0)
      return fail(s, FaultKind::Loop, i, "the loop's step is " + std::to_string(step) + ", it must be positive");
  }
  return Status::Next;
}

Status do_loop_test(Strand& s, const Instr& i) {
  const Slot *at = s.at(i.dst), *high = s.at(i.a);
  if (i.fast) {
    if (!(at[0].i < high[0].i)) s.pc = uint32_t(i.imm);
    return Status::Next;
  }
  uint64_t inside = 0;
  for (uint32_t lane = 0; lane < s.width; ++lane) inside |= uint64_t(at[lane].i < high[lane].i) << lane;
  s.mask &= inside;
  if (!s.mask) s.pc = uint32_t(i.imm);
  return Status::Next;
}

// A counter that would pass the greatest `int` stays there: the loop ends, as its high end cannot lie above.
Status do_loop_next(Strand& s, const Instr& i) {
  Slot* at = s.at(i.dst);
  const Slot* step = s.at(i.c);
  for (uint32_t lane = 0; lane < s.width; ++lane)
    if (__builtin_add_overflow(at[lane].i, step[lane].i, &at[lane].i)) at[lane].i = INT64_MAX;
  return jump(s, i);
}

Status do_while_test(Strand& s, const Instr& i) {
  if (i.fast) return do_jump_unless(s, i);
  s.mask &= lanes_where(s, s.at(i.a));
  if (!s.mask) s.pc = uint32_t(i.imm);
  return Status::Next;
}

Status do_loop_exit(Strand& s, const Instr& i) {
  s.mask = s.saved[2 * i.b];
  return Status::Next;
}

Status do_done(Strand&, const Instr&) { return Status::Done; }

Status do_check_uniform(Strand& s, const Instr& i) {
  Slot* x = s.at(i.a);
  if (!s.mask) return Status::Next;
  int first = std::countr_zero(s.mask);
  for (uint64_t left = s.mask; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (x[lane].u != x[first].u)
      return fail(
          s, FaultKind::Uniformity, i,
          "a value declared uniform differs between lanes " + std::to_string(first) + " and " + std::to_string(lane));
  }
  for (uint32_t lane = 0; lane < s.width; ++lane) x[lane] = x[first];
  return Status::Next;
}

}  // namespace tilec::interp
