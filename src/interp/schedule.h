// The strands of one block: forked, run in turn, joined.
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// Runs until every strand of the block is done; false when a fault ended the run.
bool run_strands(Run& run, Cluster& cluster);
// Gives a new strand its clock. Without lock step every lane is an agent of its own between barriers.
void fork_clock(Strand& child, Strand& parent, std::string name, bool lock_step);
// Copies and products that nobody waited for; false when there is one.
bool check_flown(Run& run, Cluster& cluster);

}  // namespace tilec::interp
