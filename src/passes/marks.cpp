#include "passes/marks.h"

namespace tilec::passes {

Marks most(const Marks& a, const Marks& b) {
  const Made made = most(a.made, b.made);
  // Beside what a variable has kept a place does not count, where it may be that.
  const bool may_be_kept = (a.is_beyond || b.is_beyond) && made == Made::Counting;
  return {std::max(a.taint, b.taint), may_be_kept ? Made::Maybe : made, a.is_of_element || b.is_of_element, a.is_beyond || b.is_beyond, a.kept | b.kept, a.data | b.data, a.read | b.read, a.may_be_taken_up | b.may_be_taken_up, a.is_assigned && b.is_assigned};
}

Marks untold(Marks marks) {
  marks.taint = Taint::Clean;
  return marks;
}

Marks kept(Marks held, bool is_of_number) {
  held.is_assigned = true;
  // Places count once it is left as it was, numbers do not.
  if (held.made == Made::Plain) held.made = Made::Maybe, held.data |= held.variable ? held.variable : kOtherData;
  const bool is_number = held.made == Made::Free || (held.made == Made::Maybe && held.data);
  if (is_number && !is_of_number) held.is_beyond = held.is_of_element = true, held.kept |= held.variable ? held.variable : kOtherData;
  return held;
}

}  // namespace tilec::passes
