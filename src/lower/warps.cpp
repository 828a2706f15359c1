// The warps that run the code being lowered: all of the block, or those of one role.
#include "lower/lowering.h"

namespace tilec::lower {

ValueId Lowering::warp_index() {
  ValueId warp = builder_.value(ir::op::WarpIndex{}, ir::scalar_type(Scalar::Index));
  return first_warp_ ? builder_.sub(warp, builder_.index(first_warp_)) : warp;
}

ValueId Lowering::thread_index() {
  ValueId thread = builder_.value(ir::op::ThreadIndex{}, ir::scalar_type(Scalar::Index, true));
  return first_warp_ ? builder_.sub(thread, builder_.index(first_warp_ * machine_.lanes)) : thread;
}

ValueId Lowering::is_first_lane() {
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  return builder_.compare(ir::CompareFn::Eq, lane, builder_.index(0));
}

void Lowering::barrier(std::string why) {
  // Lanes of one warp are in step where they cannot part, and only there.
  if (warps_ == 1 && !machine_.has(Cap::DivergentBranches)) return;
  if (barrier_id_) builder_.add(ir::op::NamedBarrier{barrier_id_, warps_, std::move(why)});
  else builder_.add(ir::op::BlockBarrier{std::move(why)});
}

ValueId Lowering::vote(ir::VoteKind how, ValueId x, std::string why) {
  return builder_.value(ir::op::BarrierVote{how, x, barrier_id_, warps_, std::move(why)}, ir::scalar_type(Scalar::Bool));
}

// Code of the block itself, which each of several warps runs.
bool Lowering::is_for_block() const { return warps_ > 1 && !in_lanes_ && !threads_ && prelude_.valid(); }

bool Lowering::is_written(ValueId buffer) const {
  auto root = [&](ValueId v) {
    while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(v)) v = view->buffer;
    return v;
  };
  bool found = false;
  each_op(source_, source_.body, [&](OpId id) {
    const ir::Op& op = source_.op(id);
    auto note = [&](ValueId v) { found |= root(v) == root(buffer); };
    if (auto* o = op.get<ir::op::Store>()) note(o->buffer);
    if (auto* o = op.get<ir::op::Copy>()) note(o->dst);
    if (auto* o = op.get<ir::op::ElementStore>()) note(o->buffer);
    if (auto* o = op.get<ir::op::Atomic>()) note(o->buffer);
  });
  return found;
}

void Lowering::once(const std::function<void()>& emit) {
  if (warps_ == 1) return emit();
  ValueId is_first = builder_.compare(ir::CompareFn::Eq, warp_index(), builder_.index(0));
  RegionId outer = builder_.region(), taken = target_.new_region(), other = target_.new_region();
  builder_.set_region(taken);
  emit();
  builder_.yield({});
  builder_.set_region(other);
  builder_.yield({});
  builder_.set_region(outer);
  builder_.add(ir::op::If{is_first, taken, other});
}

ValueId Lowering::scratch(Scalar element, int64_t count, std::string name) {
  return builder_.value(ir::op::Alloc{{}, std::move(name)}, ir::buffer_type(Space::Shared, element, {count}));
}

}  // namespace tilec::lower
