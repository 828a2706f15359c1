// Rings, and the copies that fill their slots: barriers with phases in shared memory, two for every slot.
//
//   full[slot]   its phase ends when the first warp has said how many bytes are coming and all of them are there
//   empty[slot]  its phase ends when every thread that reads the slot has given it back
//
// Turn t is the phase t / depth of slot t mod depth. The producer waits for the phase before it of `empty`, which a slot's
// first turn finds ended, as the phase before a barrier's first counts as over.
#include "layout/notation.h"
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

void Lowering::lower_ring_alloc(const ir::Op& op) {
  int64_t depth = source_.type(op.result()).shape[0], threads = consuming_threads(op.result());
  Ring ring{scratch(Scalar::U64, depth, "full"), scratch(Scalar::U64, depth, "empty"), depth};
  const std::string& name = op.as<ir::op::RingAlloc>().name;
  barrier("the phases of ring `" + name + "` may be in use by the loop around");
  once([&] {
    for (int64_t slot = 0; slot < depth; ++slot) {
      builder_.add(ir::op::PhaseInit{ring.full, builder_.index(slot), 1});
      builder_.add(ir::op::PhaseInit{ring.empty, builder_.index(slot), threads});
    }
  });
  barrier("the phases of ring `" + name + "` are set by one thread");
  rings_[op.result().index] = ring;
}

Lowering::Slot Lowering::slot_of(ValueId ring, ValueId turn) {
  const Ring& lowered = rings_.at(ring.index);
  ValueId depth = builder_.index(lowered.depth), number = scalar(turn);
  ValueId phase = builder_.binary(BinaryFn::Div, number, depth);
  return {lowered, builder_.binary(BinaryFn::Rem, number, depth), builder_.binary(BinaryFn::And, phase, builder_.index(1))};
}

void Lowering::lower_acquire(const ir::op::Acquire& acquire) {
  once([&] {
    Slot slot = slot_of(acquire.ring, acquire.turn);
    ValueId before = builder_.binary(BinaryFn::Xor, slot.parity, builder_.index(1));
    builder_.add(ir::op::PhaseWait{slot.ring.empty, slot.index, before});
  });
}

// The engine counts what it moves, and what it fills with zeros, at the barrier of the slot.
void Lowering::lower_copy_async(const ir::Op& op, const ir::op::CopyAsync& copy) {
  const ir::op::Commit& commit = commit_of(op.result());
  std::vector<ValueId> from = scalars(copy.src_offsets), to = scalars(copy.dst_offsets);
  const Type& target = source_.type(copy.dst);
  std::string layout = layout::print(source_.layouts.mem(target.layout));
  once([&] {
    Slot slot = slot_of(commit.ring, commit.turn);
    builder_.add(ir::op::CopyBox{scalar_buffer(copy.src), from, copy.src_axes, copy.src_bounds, scalar_buffer(copy.dst), to,
                                 copy.dst_axes, target.shape, layout, copy.shape, slot.ring.full, slot.index});
  });
}

const ir::op::Commit& Lowering::commit_of(ValueId token) const {
  for (OpId use : uses_[token.index])
    if (auto* commit = source_.op(use).get<ir::op::Commit>()) return *commit;
  UNREACHABLE("a copy in flight fills a slot of a ring");
}

void Lowering::lower_commit(const ir::op::Commit& commit) {
  int64_t bytes = 0;
  for (ValueId token : commit.tokens) {
    const ir::op::CopyAsync& copy = *source_.defined_by<ir::op::CopyAsync>(token);
    int64_t count = byte_width(source_.type(copy.dst).element);
    for (int64_t extent : copy.shape) count *= extent;
    bytes += count;
  }
  once([&] {
    Slot slot = slot_of(commit.ring, commit.turn);
    ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
    ValueId is_first = builder_.compare(ir::CompareFn::Eq, lane, builder_.index(0));
    builder_.add(ir::op::PhaseExpect{slot.ring.full, slot.index, builder_.index(bytes), is_first});
  });
}

void Lowering::lower_wait(const ir::op::Wait& wait) {
  Slot slot = slot_of(wait.ring, wait.turn);
  builder_.add(ir::op::PhaseWait{slot.ring.full, slot.index, slot.parity});
}

void Lowering::lower_release(const ir::op::Release& release) {
  Slot slot = slot_of(release.ring, release.turn);
  builder_.add(ir::op::PhaseArrive{slot.ring.empty, slot.index, {}});
}

}  // namespace tilec::lower
