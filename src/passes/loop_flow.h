// What is pending behind a loop, for walks that follow what a program leaves open.
#pragma once

namespace tilec::passes {

// Once from what comes before, once more from what an iteration leaves to the next; it may also not run at all.
// `once(pending)`: what is pending behind one iteration. A `Pending` takes in another with `add`, and is equal to
// one that has the same open.
template <class Pending, class Once>
Pending through_loop(const Pending& before, Once&& once) {
  Pending first = once(before);
  first.add(before);
  if (first == before) return first;  // an iteration leaves nothing more: else loops in loops would double the work
  Pending again = once(first);
  again.add(before);
  return again;
}

}  // namespace tilec::passes
