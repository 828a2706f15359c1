// Where a thread stands in its warp: thread = warp * lanes + lane. A Typed kernel is for several machines, whose warps have
// different numbers of lanes; all threads of one run have the same. What is said of lanes is said of each of these machines,
// and an example is one of them.
#pragma once
#include <span>

#include "prove/terms.h"

namespace tilec::prove {

class Lanes {
 public:
  // Powers of two; none: of every machine there is.
  explicit Lanes(std::span<const int> counts);

  Linear warp(Terms& terms, const Linear& thread);
  Linear lane(Terms& terms, const Linear& thread);
  Linear count(Terms& terms);
  // How many an example has; nothing where it is about no lanes, or there is but one machine.
  std::optional<int64_t> count(const Model& model) const;
  bool is_choice(AtomId atom) const { return choice_.valid() && atom == choice_; }

 private:
  template <class F> Linear by_count(Terms& terms, F&& of);

  std::vector<int64_t> counts_;  // ascending
  AtomId choice_;                // which of them; made when it is first asked for
};

}  // namespace tilec::prove
