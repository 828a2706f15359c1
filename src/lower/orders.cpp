// Groups of warps that take turns: a barrier with phases for each, which the group before it passes on to it.
//
// Turn t is phase t of each barrier. Group 0 waits for the phase before it, which the last group ends, and which counts as over before
// turn 0; the others wait for turn t itself.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

Order Lowering::new_order(const ir::Op& op) {
  int64_t groups = source_.type(op.result()).shape[0];
  return {.turns = scratch(Scalar::U64, groups, "turns"), .groups = groups, .warps = op.as<ir::op::OrderAlloc>().warps};
}

void Lowering::begin_phases(const Order& order) {
  for (int64_t group = 0; group < order.groups; ++group) builder_.add(ir::op::PhaseInit{order.turns, builder_.index(group), order.warps});
}

ValueId Lowering::group_of(const Order& order) { return builder_.binary(BinaryFn::Div, warp_index(), builder_.index(order.warps)); }

void Lowering::lower_take_turn(const ir::op::TakeTurn& take) {
  const Order& order = orders_.at(take.order.index);
  ValueId group = group_of(order), one = builder_.index(1);
  ValueId is_first = builder_.compare(ir::CompareFn::Eq, group, builder_.index(0));
  ValueId behind = builder_.select(is_first, one, builder_.index(0));
  ValueId parity = builder_.binary(BinaryFn::And, builder_.add(scalar(take.turn), behind), one);
  builder_.add(ir::op::PhaseWait{order.turns, group, parity});
}

void Lowering::lower_pass_turn(const ir::op::PassTurn& pass) {
  const Order& order = orders_.at(pass.order.index);
  ValueId next = builder_.binary(BinaryFn::Rem, builder_.add(group_of(order), builder_.index(1)), builder_.index(order.groups));
  builder_.add(ir::op::PhaseArrive{order.turns, next, is_first_lane()});
}

}  // namespace tilec::lower
