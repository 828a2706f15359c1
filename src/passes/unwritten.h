// Memory that several blocks or threads write at places that no area tells: is there an element that a read needs and that no
// write before it can have given?
#pragma once
#include "passes/region.h"

namespace tilec::passes {

struct Access {
  ir::RegionId region, launch;  // where it stands, and the body of the launch around
  Box box;                      // of the buffer itself, not of a view
};

// A run and an element which `read` needs in it, in words, that is certainly in none of `writes`, whatever block or turn makes
// them.
std::optional<std::string> missed_element(prove::Prover& prover, const ir::Kernel& kernel, const Access& read,
                                          std::span<const Access> writes);

}  // namespace tilec::passes
