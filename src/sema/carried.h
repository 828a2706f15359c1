// Variables that a loop carries.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

// A variable while a loop is built: every one in sight is carried, those that did not change are taken out again.
struct Carried {
  VariableId variable;
  ir::ValueId init, arg, last;
  bool changes() const { return last != arg; }
};

// New arguments of the region for all variables that have a value; they are the current values now.
std::vector<Carried> carry(Instance& in, ir::RegionId region);
// The same variables as arguments of a second region.
void carry_again(Instance& in, std::vector<Carried>& all, ir::RegionId region);
// Takes note of the values at the end of the body.
void read_last(Instance& in, std::vector<Carried>& all);
// A value at the end of the body, where the argument of an unchanged variable is what it was before the loop.
ir::ValueId settled(const std::vector<Carried>& all, ir::ValueId value);
// Takes what did not change out of the region's arguments; `args` are those of `all`, in this region.
void drop_unchanged(Instance& in, const std::vector<Carried>& all, ir::RegionId region,
                    std::span<const ir::ValueId> args);
std::vector<ir::ValueId> args_of(const std::vector<Carried>& all);

}  // namespace tilec::sema
