// A number that loops hand from round to round.
#pragma once
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace tilec::passes {

// Counts over the whole life of a region what happens again and again in a region somewhere under it: 0 at first, carried by the
// loops and handed on by the branches between the two.
class CarriedCount {
 public:
  // Where there is something else than loops and branches between: nothing.
  static std::optional<CarriedCount> between(ir::Kernel& kernel, ir::RegionId outermost, ir::RegionId innermost);

  ir::OpId first() const { return nests_.front().op; }  // of `outermost`, around the other region
  ir::ValueId open(ir::Kernel& kernel);                 // the count as `innermost` begins
  void close(ir::Kernel& kernel, ir::ValueId after);    // the count as it ends; the count is defined there

 private:
  struct Nest {
    ir::RegionId region;  // that holds the operation
    ir::OpId op;
    ir::RegionId inner;   // of its regions the one that leads to the innermost
    ir::ValueId before = {};
  };
  std::vector<Nest> nests_;  // the outermost first
};

}  // namespace tilec::passes
