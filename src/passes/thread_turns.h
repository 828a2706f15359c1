// The phases of a `simt` region: what its threads do between two barriers, followed through the loops and branches that hold
// barriers. All threads take the same turns there; a turn has its loop's numbers where they are known, so that the last phase
// of one turn meets the first of the next.
#pragma once
#include <functional>

#include "passes/region.h"

namespace tilec::passes {

struct NamedNumber {
  std::string name;
  prove::Linear number;
};

// One passage of the threads through a region with barriers, seen by two of them.
struct Turn {
  prove::Twin one, other;
  std::vector<std::pair<ir::ValueId, prove::Linear>> known;  // the same for all threads
  std::vector<ir::RegionId> entered;                         // regions whose condition stands in `path`
  std::vector<prove::Formula> path;
  std::vector<NamedNumber> names;                            // of the loops around, for messages
};

// An operation without barriers that nothing keeps apart from what is met with it.
struct Passage {
  ir::RegionId region;
  ir::OpId op;
  const Turn* turn;
  std::vector<prove::Formula> path;  // what else holds where it is met
};

// `meet(a, b)`: some thread may run `b` while another runs `a`, which comes first or is the same.
using Meet = std::function<void(const Passage& a, const Passage& b)>;
void each_meeting(const ir::Kernel& kernel, prove::Prover& prover, const ir::op::Simt& simt, const Meet& meet);

}  // namespace tilec::passes
