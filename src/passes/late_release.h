// Slots of rings that go back some turns of a loop later than their release stands, because products in flight still read them.
#pragma once
#include <span>
#include <vector>

#include "ir/builder.h"

namespace tilec::passes {

// A ring whose slots the products of a loop read.
struct Handed {
  ir::ValueId ring, turn;
  ir::ValueId count, earlier;  // the turn: of this loop, behind those of earlier rounds of the loops around (invalid: there are none)
  ir::OpId release;
};

class LateRelease {
 public:
  // `region`: that the loop stands in.
  LateRelease(ir::Kernel& kernel, ir::RegionId region, ir::OpId loop);

  // A ring that is to go back later. False: the loop does not release it once a turn, or does not count its turns as its own.
  bool add(ir::ValueId ring);
  // False: something fills one of the rings in the loop, and cannot stand behind its release.
  bool find_fills();
  std::span<const Handed> rings() const { return rings_; }

  // Each slot goes back so many turns later, behind `awaited`, the last ones behind `all_awaited`, which follows the loop.
  void give_back(int64_t turns, ir::OpId awaited, ir::OpId all_awaited);

 private:
  const std::vector<ir::OpId>& body() const;
  bool is_count_of_turns(ir::ValueId turn) const;
  bool is_outside(ir::ValueId v) const;
  bool stands_before(ir::ValueId v, ir::OpId at) const;
  void count_again(ir::Builder& b, Handed& handed) const;
  ir::OpId release_before(ir::Builder& b, const Handed& handed, int64_t turns);
  void release_last(ir::Builder& b, const Handed& handed, int64_t turns);

  ir::Kernel& kernel_;
  ir::RegionId region_;
  const ir::op::For loop_;
  std::vector<Handed> rings_;
  std::vector<ir::OpId> fills_;
};

}  // namespace tilec::passes
