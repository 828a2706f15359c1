// What variables hold, where padding is to be assigned to them.
#include <cstring>

#include "judge/evaluator.h"

namespace tilec::judge {

bool are_same(const Number& a, const Number& b) {
  return a.type == b.type && (a.is_real() ? std::memcmp(&a.f, &b.f, sizeof a.f) == 0 : a.i == b.i);
}

namespace {

bool is_left(const Number& old, const Number& next) { return are_same(old, next) && !old.is_anything(); }

// Where what is held is padding as well, nothing is kept out of it; along an axis where it is not, it still is none. Which number that leaves is not
// said where a mask for others may stand, or the place has set some of it.
Number both_padding(const Number& old, const Number& next) {
  Number out = next;
  const Padding fresh = next.padding & ~old.padding & kAllAxes;
  const bool is_beside_set = next.is_padding() && (next.padding & kSet) && !(old.padding & kSet);
  if ((fresh || is_beside_set || (next.padding & kMet)) && !is_left(old, next)) out.padding |= kAnything;
  out.padding &= ~fresh;
  out.data = (next.data & ~fresh) | (old.data & fresh), out.placed = (next.placed & ~fresh) | (old.placed & fresh);
  out.waiting = (next.waiting | (fresh & ~old.counted())) & ~out.data;
  return out;
}

}  // namespace

// It keeps what it holds where padding, computed of that, is to be assigned. Two numbers that are padding are computed like everything else.
Number Evaluator::assigned(const Number& old, Number next, bool takes_up, Span span) {
  const bool is_computed = takes_up || next.stamps.has(old.stamp) || next.stamps.has(old.copy_of);
  const Padding others = left_by_others(next, old);
  if (others && !is_computed && next.stamps.is_open) unknown(span, "what may be computed of what stands there");
  if (is_computed) next.padding |= others, next.kept = next.read = 0;
  if (!(next.is_padding() || next.is_set())) return next;
  if (!is_computed && !next.stamps.is_open) return next;
  if (old.is_padding()) {
    Number out = both_padding(old, next);
    if ((others || (next.is_padding() && next.padder != old.stamp)) && !is_left(old, next)) out.padding |= kAnything;
    return out;
  }
  const bool is_same = is_left(old, next);
  Number out = next;
  // By what can be proved of the place, what was set stands or is padding.
  if (!next.is_padding() && (!is_same || old.waiting)) out.padding |= kAnything;
  if (!next.is_padding() && !is_same && !(next.padding & (kAsked | kStands)) && old.data && !old.waiting && !old.is_set()) out.padding |= kHeld;
  if (!next.is_padding()) return out;
  if (!is_computed) unknown(span, "what may be computed of what stands there, as a branch that was not run decides, and padding");
  out = old;
  out.stamps.add(next.stamps);
  out.read = 0;
  // Along each axis by itself: what comes counts along those where it is none.
  if (!(next.padding & kLost)) out.data |= next.data & ~next.padding & kAllAxes & ~kLost;
  // What a loop of an iteration comes to is an element like others, as what a reduction of nothing gives.
  if (is_walking_ && (next.padding & kLost)) out.data |= kAllAxes & ~(next.padding & ~kLost);
  if (is_walking_ && (others & kLost) && !is_same) out.padding |= kAnything;  // of another variable's line it is not said
  // Of one that stands, or was kept out, it is not known whether it waits.
  const bool has_come = old.data && !(old.waiting & ~kLost);
  const Padding counted = old.counted() | out.data | (has_come ? kLost : Padding(0));
  out.unsaid |= next.padding & old.placed & ~old.data & kAllAxes;
  if (!old.is_anything()) out.waiting = (old.waiting | next.padding) & ~counted & kAllAxes;
  if ((next.is_anything() || (others && (old.padding & kStands))) && !is_same) out.padding |= kAnything;
  // Nor whether a place counts beside a line that another variable has kept as a whole.
  if ((others & kLost) && (old.placed & ~old.data) && !is_same) out.padding |= kAnything;
  if (!is_same && (next.padding & (kSet | kStands))) out.padding |= kStands;
  if ((next.padding & kAsked) && is_same) out.padding |= kStands;
  // In a loop of an iteration it is not known to which of its elements that was written.
  if ((next.padding & kAsked) && is_walking_) out.padding |= kAnything | kStands;
  // What was asked for stands. Of a number that waits nothing is said, nor of what is made of it.
  if (old.is_set() && is_same && (next.padding & kAsked)) out.waiting = old.waiting;
  if (old.is_set() && !is_same) out.padding |= kAnything;
  if ((next.padding & kAsked) && !is_same) out = next, out.padding = Padding(kSet | ((old.padding | next.padding) & kAnything) | (old.waiting ? kAnything : Padding(0))), out.data = old.data, out.placed = old.placed, out.waiting = 0;
  return out;
}

// A variable of a number keeps what it holds where an element at a place of its own lies beyond an edge. Where the iteration does itself, it does not.
void Evaluator::hold_number(Number& now, const Number* old, bool takes_up, Span span) {
  if (guards_) set_beside(now, old);
  // Had it returned, it would be as it was.
  if (is_parallel_ && old && frame_->may_have_returned) now.stamps.add(old->stamps);
  if (!keeps_numbers()) return;
  const Padding out = kept_out_ & kLost;
  now.padding |= out;
  if (out) now.padding &= ~kAsked;
  const bool is_kept = old && (now.padding & kLost);
  // Of a line that another variable has kept as a whole it is not said whether a number takes it up.
  if (old && !is_kept && (left_by_others(now, *old) & kLost) && !is_left(*old, now)) now.padding |= kAnything;
  if (is_kept) now = assigned(*old, now, takes_up || out, span);
  if (is_kept || !is_parallel_) now.padding &= ~kAsked;
  now = stamped(now, old ? old->stamp : 0);
}

}  // namespace tilec::judge
