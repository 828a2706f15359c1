// Numbers of blocks that are dealt out: the role that fills takes the next one from the launch's counter once it has copied all for the
// block at hand, and hands it to the other roles in a slot of its own.
//
//   full[slot]   its phase ends when the number stands in next[slot]
//   empty[slot]  its phase ends when every warp of the other roles has read it
//
// Round r of a block has phase r / kSlots of slot r mod kSlots, as turns of a ring have.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

constexpr int64_t kSlots = 2;  // the role that fills is a round ahead

const ir::op::Roles* roles_in(const ir::Kernel& kernel, RegionId region) {
  const ir::op::Roles* roles = nullptr;
  for (OpId id : kernel.region(region).ops)
    if (const ir::op::Roles* found = kernel.op(id).get<ir::op::Roles>()) roles = found;
  return roles;
}

}  // namespace

// Of a launch whose loop over blocks is dealt out, where one warp of one role fills all rings. Else each block goes on by steps.
std::optional<Deal> Lowering::new_deal(RegionId launch) {
  const ir::op::Roles* roles = roles_in(source_, launch);
  if (!roles || !cluster_.empty()) return {};
  std::optional<size_t> filling;
  int64_t warps = 0, loops = 0;
  for (size_t role = 0; role < roles->bodies.size(); ++role) {
    bool fills = false, is_plain = true;
    each_op(source_, roles->bodies[role], [&](OpId id) {
      const ir::op::Commit* commit = source_.op(id).get<ir::op::Commit>();
      if (!commit) return;
      fills = true;
      const Ring& ring = rings_.at(commit->ring.index);
      is_plain &= ring.is_bulk && !ring.boxes.valid() && !ring.together.valid();
    });
    for (OpId id : source_.region(roles->bodies[role]).ops) {
      const ir::op::For* loop = source_.op(id).get<ir::op::For>();
      loops += loop && loop->loop == ir::LoopKind::Dealt;
    }
    if (!fills) warps += roles->warps[role];
    else if (filling || !is_plain || !only_fills(roles->bodies[role])) return {};
    else filling = role;
  }
  if (!filling || loops != int64_t(roles->bodies.size())) return {};
  return Deal{.full = scratch(Scalar::U64, kSlots, "full"), .empty = scratch(Scalar::U64, kSlots, "empty"),
              .next = scratch(Scalar::Index, kSlots, "next"), .readers = warps, .filling = roles->bodies[*filling]};
}

void Lowering::begin_phases(const Deal& deal) {
  for (int64_t slot = 0; slot < kSlots; ++slot) {
    builder_.add(ir::op::PhaseInit{deal.full, builder_.index(slot), 1});
    builder_.add(ir::op::PhaseInit{deal.empty, builder_.index(slot), deal.readers});
  }
}

bool Lowering::is_dealt(const ir::op::For& loop) const { return deal_ && loop.loop == ir::LoopKind::Dealt; }

// At the end of round `round`: the number of the next block. Who took it sooner, while the block at hand has long to go, would keep it
// from others that are done.
ValueId Lowering::next_block(ValueId round) {
  const Deal& deal = *deal_;
  ValueId slots = builder_.index(kSlots), one = builder_.index(1);
  ValueId slot = builder_.binary(BinaryFn::Rem, round, slots);
  ValueId parity = builder_.binary(BinaryFn::And, builder_.binary(BinaryFn::Div, round, slots), one);
  if (takes_blocks_) {
    ValueId taken = builder_.value(ir::op::TakeBlock{}, ir::scalar_type(Scalar::Index));
    builder_.add(ir::op::PhaseWait{deal.empty, slot, builder_.binary(BinaryFn::Xor, parity, one)});
    builder_.add(ir::op::MemStore{deal.next, slot, taken, is_first_lane(), 0});
    builder_.add(ir::op::WarpBarrier{"a lane says for all of its warp that the number is there"});
    builder_.add(ir::op::PhaseArrive{deal.full, slot, is_first_lane(), {}});
    return taken;
  }
  builder_.add(ir::op::PhaseWait{deal.full, slot, parity});
  ValueId next = builder_.value(ir::op::ReadBlock{deal.next, slot}, ir::scalar_type(Scalar::Index));
  builder_.add(ir::op::WarpBarrier{"a lane says for all of its warp that the number was read"});
  builder_.add(ir::op::PhaseArrive{deal.empty, slot, is_first_lane(), {}});
  return next;
}

// As a loop that ends where a number lies behind the last block. `body` has the round behind its other arguments, and yields the next
// number and the next round before the rest; the results are those of the rest.
std::vector<ValueId> Lowering::add_dealt_loop(const ir::op::For& loop, const std::vector<Type>& types, ValueId round) {
  std::vector<ValueId>& args = target_.region(loop.body).args;
  std::rotate(args.begin() + 1, std::ranges::find(args, round), args.end());
  RegionId outer = builder_.region(), condition = target_.new_region();
  std::vector<ValueId> inits = {loop.low, builder_.index(0)}, passed;
  inits.insert(inits.end(), loop.inits.begin(), loop.inits.end());
  std::vector<Type> all = {ir::scalar_type(Scalar::Index), ir::scalar_type(Scalar::Index)};
  all.insert(all.end(), types.begin(), types.end());
  for (const Type& type : all) passed.push_back(target_.new_arg(condition, type));
  builder_.set_region(condition);
  passed.insert(passed.begin(), builder_.compare(ir::CompareFn::Lt, passed[0], loop.high));
  builder_.yield(passed);
  builder_.set_region(outer);
  std::vector<ValueId> results = target_.op(builder_.add(ir::op::While{inits, condition, loop.body}, all)).results;
  return {results.begin() + 2, results.end()};
}

}  // namespace tilec::lower
