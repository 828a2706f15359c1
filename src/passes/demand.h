// What the loops of a launch that feed products ask of the caches that all cores share.
#pragma once
#include <vector>

#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Of a turn of each of these loops.
struct Demand {
  double bytes = 0;             // read
  double stored = 0;            // written; what is added is read there, too
  double clocks = 0;            // that the products take
  std::vector<double> alike;    // by axis of the launch: of the bytes read, those that do not depend on it
  std::vector<double> along;    // those that depend on it and on no other one
  uint64_t decides = 0;         // axes on which it may depend how many turns a block has

  bool is_equal() const { return decides == 0; }  // all blocks have as many turns
};

Demand demand_of(const ir::Kernel& kernel, const ir::op::Launch& launch, const Machine& machine);

bool holds_product(const ir::Kernel& kernel, ir::RegionId region);
// That a copy reads; either side may be a tensor, of which it takes a part.
double bytes_of(const ir::Kernel& kernel, const ir::op::Copy& copy);
bool is_fed_from_device(const ir::Kernel& kernel, const ir::op::Copy& copy);

}  // namespace tilec::passes
