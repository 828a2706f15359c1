#include "passes/marks.h"

namespace tilec::passes {

Marks most(const Marks& a, const Marks& b) {
  const Made made = most(a.made, b.made);
  // Beside what a variable has kept a place does not count, where it may be that.
  const bool may_be_kept = (a.is_beyond || b.is_beyond) && made == Made::Counting;
  const bool is_always = a.is_always_tainted() || b.is_always_tainted();
  const uint32_t sure_data = (a.data & ~a.late_data) | (b.data & ~b.late_data);
  return {std::max(a.taint, b.taint), may_be_kept ? Made::Maybe : made, a.is_of_element || b.is_of_element, a.is_beyond || b.is_beyond, a.kept | b.kept, a.data | b.data, a.read | b.read, a.may_be_taken_up | b.may_be_taken_up, a.is_assigned && b.is_assigned, 0, (a.is_tainted_late || b.is_tainted_late) && !is_always, (a.late | b.late) & ~((a.kept & ~a.late) | (b.kept & ~b.late)), (a.late_data | b.late_data) & ~sure_data, a.was_beside || b.was_beside};
}

void note_late(Marks& any, std::span<const Marks> sources) {
  for (const Marks& source : sources) {
    any.is_tainted_late |= any.taint >= Taint::Mixed && !source.is_always_tainted();
    any.late |= any.kept & (~source.kept | source.late);
    any.late_data |= any.data & (~source.data | source.late_data);
  }
}

Marks untold(Marks marks) {
  marks.taint = Taint::Clean;
  return marks;
}

Marks kept(Marks held, bool is_of_number) {
  held.is_assigned = true;
  // Places count once it is left as it was, numbers do not.
  const bool may_count = held.made == Made::Plain || held.made == Made::Maybe;
  if (held.made == Made::Plain) held.made = Made::Maybe, held.data |= held.variable ? held.variable : kOtherData;
  const bool is_number = held.made == Made::Free || (held.made == Made::Maybe && held.data);
  const uint32_t own = held.variable ? held.variable : kOtherData;
  if (is_number && !is_of_number) held.is_beyond = held.is_of_element = true, held.kept |= own, held.late = may_count ? held.late | own : held.late & ~own;
  return held;
}

}  // namespace tilec::passes
