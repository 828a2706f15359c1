// Whether two parts of a tile begin at one place, from how their offsets are computed.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/kernel.h"
#include "prove/linear.h"

namespace tilec::sema {

class Offsets {
 public:
  explicit Offsets(const ir::Kernel& kernel) : kernel_(kernel) {}

  // None: in some runs, as far as is known.
  std::optional<bool> are_equal(ir::ValueId a, ir::ValueId b);

 private:
  prove::Linear sum(ir::ValueId v);
  prove::Linear read(ir::ValueId v);
  prove::AtomId atom(ir::ValueId v);

  const ir::Kernel& kernel_;
  std::map<ir::ValueId, prove::Linear> sums_;   // of values that were read: chains of sums are trees of powers of two
  int depth_ = 0;                               // of them open
  std::map<std::string, prove::AtomId> atoms_;  // what is computed alike is one
  std::vector<prove::Interval> ranges_;         // of each
};

}  // namespace tilec::sema
