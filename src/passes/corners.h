// What the conditions of a map say at all of its indices, asked at one of them.
//
// A comparison of whole numbers whose sides are sums of the map's indices, each times a constant, and of numbers from outside is
// monotone in every index: where it says so at the index that is worst for it, a corner of the tile, it says so everywhere.
//
//   map over [128, 128], q + r < k + c    it is true everywhere if q + 127 < k + 0, false everywhere if q + 0 >= k + 127
#pragma once
#include <optional>
#include <set>

#include "ir/builder.h"

namespace tilec::passes {

class Corners {
 public:
  Corners(const ir::Kernel& kernel, const ir::op::Map& map);

  // A bool for the front of the map: where it is true, condition `v` of the body says `says` at every index. None: who knows.
  ir::ValueId holds(ir::Builder& builder, ir::ValueId v, bool says) const;
  bool is_outside(ir::ValueId v) const { return !inside_.contains(v); }
  // Is a condition made of the map's indices at all?
  bool depends_on_place(ir::ValueId v) const;

 private:
  using Factors = std::vector<int64_t>;  // by map axis
  std::optional<Factors> factors(ir::ValueId v) const;
  std::optional<Factors> factors(const ir::op::Binary& o) const;
  ir::ValueId compare(ir::Builder& builder, const ir::op::Compare& o, bool says) const;
  ir::ValueId both(ir::Builder& builder, const ir::op::Binary& o, bool says) const;
  ir::ValueId at(ir::Builder& builder, ir::ValueId v, const std::vector<int64_t>& corner) const;

  const ir::Kernel& kernel_;
  std::vector<int64_t> shape_;
  std::vector<ir::ValueId> indices_;
  std::set<ir::ValueId> inside_;  // values of the body
  std::set<ir::ValueId> always_;  // of those, what every index works out, a corner too: there it does not leave 64 bits
};

}  // namespace tilec::passes
