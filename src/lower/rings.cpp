// Rings, and the copies that fill their slots: barriers with phases in shared memory, two for every slot.
//
//   full[slot]   its phase ends when the first warp has said how many bytes are coming and all of them are there; or, where
//                lanes copy, when each lane has arrived for each of the slot's copies, behind its part of it
//   empty[slot]  its phase ends when every warp that reads the slot has given it back; or, where lanes copy, every thread
//
// Turn t is the phase t / depth of slot t mod depth. The producer waits for the phase before it of `empty`, which a slot's
// first turn finds ended, as the phase before a barrier's first counts as over.
#include "layout/engine_rows.h"
#include "layout/notation.h"
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

constexpr int64_t kLeastAsync = 4;  // bytes that a lane can move beside its other work

}  // namespace

// All turns are filled alike.
std::vector<ir::op::CopyAsync> Lowering::copies_of(ValueId ring) const {
  std::vector<ir::op::CopyAsync> copies;
  each_op(source_, source_.body, [&](OpId id) {
    const ir::op::Commit* commit = source_.op(id).get<ir::op::Commit>();
    if (!commit || commit->ring != ring || !copies.empty()) return;
    for (ValueId token : commit->tokens) copies.push_back(*source_.defined_by<ir::op::CopyAsync>(token));
  });
  return copies;
}

// An engine's products are over before a slot is given back; what lanes read may still be on its way to them.
bool Lowering::is_read_by_lanes(ValueId buffer) const {
  return std::ranges::any_of(uses_[buffer.index], [&](OpId use) {
    const ir::Op& op = source_.op(use);
    if (op.is<ir::op::Subview>()) return is_read_by_lanes(op.result());
    return !op.is<ir::op::CopyAsync>() && !op.is<ir::op::GemmAsync>();
  });
}

void Lowering::by_filler(const Ring& ring, const std::function<void()>& engine, const std::function<void()>& lanes) {
  if (ring.is_bulk) by_engine(ring.boxes, engine, lanes);
  else lanes();
}

Ring Lowering::new_ring(const ir::Op& op) {
  int64_t depth = source_.type(op.result()).shape[0];
  std::vector<ir::op::CopyAsync> copies = copies_of(op.result());
  INVARIANT(!copies.empty(), "a ring is filled by copies");
  Ring ring{.full = scratch(Scalar::U64, depth, "full"), .empty = scratch(Scalar::U64, depth, "empty"), .depth = depth,
            .lanes = filling_threads(op.result()) * int64_t(copies.size()), .threads = consuming_threads(op.result()),
            .is_bulk = copies.front().copy_class == ir::CopyClass::Bulk};
  if (!ring.is_bulk) return ring;
  ring.is_read_by_lanes = std::ranges::any_of(copies, [&](const ir::op::CopyAsync& copy) { return is_read_by_lanes(copy.dst); });
  std::vector<ValueId> tensors;
  for (const ir::op::CopyAsync& copy : copies) tensors.push_back(copy.src);
  ring.boxes = boxes_hold(tensors);
  bool is_shared = std::ranges::any_of(copies, [](const ir::op::CopyAsync& copy) { return !copy.shared_axes.empty(); });
  if (is_shared) ring.together = all(runs_as_cluster(), ring.boxes);
  return ring;
}

// How many arrive at a barrier in a turn depends on who fills the ring.
void Lowering::begin_phases(const Ring& ring) {
  auto begin = [&](ValueId phases, int64_t arrivals) {
    return [this, &ring, phases, arrivals] {
      for (int64_t slot = 0; slot < ring.depth; ++slot) builder_.add(ir::op::PhaseInit{phases, builder_.index(slot), arrivals});
    };
  };
  int64_t warps = ring.threads / machine_.lanes;
  by_filler(ring, begin(ring.full, 1), begin(ring.full, ring.lanes));
  by_cluster(ring.together, begin(ring.empty, warps * blocks_in_step()),
             [&] { by_filler(ring, begin(ring.empty, warps), begin(ring.empty, ring.threads)); });
}

// Rings that stand one behind the other, and the turns of groups among them, begin together. Where nothing has touched shared memory yet, there is nobody to wait for.
void Lowering::begin_rings(std::span<const OpId> allocs) {
  std::vector<const Ring*> rings;
  std::vector<const Order*> orders;
  std::string names;
  for (OpId id : allocs) {
    const ir::Op& op = source_.op(id);
    builder_.set_span(op.span);
    if (op.is<ir::op::OrderAlloc>()) {
      orders.push_back(&(orders_[op.result().index] = new_order(op)));
      continue;
    }
    rings.push_back(&(rings_[op.result().index] = new_ring(op)));
    names += (names.empty() ? "`" : ", `") + op.as<ir::op::RingAlloc>().name + "`";
  }
  bool has_touched = !is_fresh(), is_first = builder_.region() == launch_ && !deal_;
  if (is_first) deal_ = new_deal(source_launch_);
  std::vector<const ClusterSums*> sums = builder_.region() == launch_ ? new_sums() : std::vector<const ClusterSums*>{};
  if (has_touched) barrier("the phases of ring " + names + " may be in use by the loop around");
  once([&] {
    for (const Ring* ring : rings) begin_phases(*ring);
    for (const Order* order : orders) begin_phases(*order);
    if (is_first && deal_) begin_phases(*deal_);
    for (const ClusterSums* sum : sums) begin_phases(*sum);
  });
  barrier("the phases of ring " + names + " are set by one thread");
  for (const Ring* ring : sums.empty() ? rings : std::vector<const Ring*>{})
    by_cluster(ring->together, [&] { builder_.add(ir::op::ClusterBarrier{"other blocks arrive at the phases of ring " + names, !has_touched}); }, [] {});
  if (!sums.empty()) meet_for_sums(!has_touched);
}

// Has the launch not touched shared memory where the code that is being lowered stands?
bool Lowering::is_fresh() const {
  if (builder_.region() != launch_) return false;
  bool touches = false;
  each_op(target_, launch_, [&](OpId id) {
    each_operand(target_.op(id).data, [&](ValueId v) { touches |= target_.type(v).is_buffer() && target_.type(v).space == Space::Shared; });
  });
  return !touches;
}

Slot Lowering::slot_of(ValueId ring, ValueId turn) {
  const Ring& lowered = rings_.at(ring.index);
  ValueId depth = builder_.index(lowered.depth), number = scalar(turn);
  ValueId phase = builder_.binary(BinaryFn::Div, number, depth);
  return {lowered, builder_.binary(BinaryFn::Rem, number, depth), builder_.binary(BinaryFn::And, phase, builder_.index(1))};
}

void Lowering::lower_acquire(const ir::op::Acquire& acquire) {
  auto wait = [&] {
    Slot slot = slot_of(acquire.ring, acquire.turn);
    ValueId before = builder_.binary(BinaryFn::Xor, slot.parity, builder_.index(1));
    builder_.add(ir::op::PhaseWait{slot.ring.empty, slot.index, before});
  };
  by_filler(rings_.at(acquire.ring.index), [&] { once(wait); }, wait);
}

void Lowering::lower_copy_async(const ir::Op& op, const ir::op::CopyAsync& copy) {
  const ir::op::Commit& commit = commit_of(op.result());
  report_indices({copy.src, scalars(copy.src_offsets), copy.src_axes, copy.src_bounds}, source_.read_note(op.span).read);
  by_filler(rings_.at(commit.ring.index), [&] { copy_boxes(copy, commit); }, [&] { copy_by_lanes(copy, commit); });
}

// The engine counts what it moves, and what it fills with zeros, at the barrier of the slot. Blocks of a cluster that copy the same
// take a part each.
void Lowering::copy_boxes(const ir::op::CopyAsync& copy, const ir::op::Commit& commit) {
  const Type& tile = source_.type(copy.dst);
  ir::Ints part = copy.shape;
  std::optional<size_t> axis;
  if (!copy.shared_axes.empty()) {
    auto parts = int64_t(blocks_that_share(copy.shared_axes).size());
    axis = layout::split_axis(copy.shape, *layout::engine_rows(source_.layouts.mem(tile.layout), bit_width(tile.element)), bit_width(tile.element), parts);
    INVARIANT(axis.has_value(), "what blocks share falls into parts");
    part[*axis] /= parts;
  }
  once([&] {
    Slot slot = slot_of(commit.ring, commit.turn);
    auto alone = [&] { copy_region(copy, slot, copy.shape, part, scalars(copy.src_offsets), scalars(copy.dst_offsets), {}); };
    if (axis) by_cluster(slot.ring.together, [&] { copy_boxes_together(copy, slot, part, *axis); }, alone);
    else alone();
  });
}

// In boxes that are no larger than `part`.
void Lowering::copy_region(const ir::op::CopyAsync& copy, const Slot& slot, const ir::Ints& region, const ir::Ints& part, std::vector<ValueId> from,
                           std::vector<ValueId> to, ValueId peers) {
  const Type& tile = source_.type(copy.dst);
  const layout::MemLayout& layout = source_.layouts.mem(tile.layout);
  each_box(region, box_shape(part, tile), [&](const ir::Ints& origin, const ir::Ints& shape) {
    builder_.add(ir::op::CopyBox{scalar_buffer(copy.src), stepped(from, copy.src_axes, origin), copy.src_axes, copy.src_bounds, scalar_buffer(copy.dst),
                                 stepped(to, copy.dst_axes, origin), copy.dst_axes, tile.shape, layout::print(layout), shape, slot.ring.full, slot.index, peers});
  });
}

// Each lane moves its part, as much at once as the call allows, and arrives for it.
void Lowering::copy_by_lanes(const ir::op::CopyAsync& copy, const ir::op::Commit& commit) {
  std::vector<int> extents(copy.shape.begin(), copy.shape.end());
  Region from{copy.src, scalars(copy.src_offsets), copy.src_axes, copy.src_bounds};
  Region to{copy.dst, scalars(copy.dst_offsets), copy.dst_axes, copy.dst_bounds};
  const Guard source{from, copy.shape};
  const layout::Shape shape(extents);
  WideCopy at_once = wide_copy(from, to, shape);
  if (at_once.count == 1 || !at_once.is_straight()) at_once = {.condition = {}, .lanes = layout::lane_copy(shape, copy.src_axes, copy.dst_axes, machine_.lanes, int(warps_), 1)};
  bool may_run = at_once.count * byte_width(source_.type(copy.dst).element) >= kLeastAsync && tile_address(rising(to), at_once.lanes.near);
  Slot slot = slot_of(commit.ring, commit.turn);
  inside_or_guarded(std::span(&source, 1), [&]() -> Carried {
    if (may_run && !guarded_) {
      begin_wide(from, to, at_once);
      builder_.add(ir::op::PhaseFollow{slot.ring.full, slot.index});
      return {};
    }
    copy_elements(from, to, shape, copy.pad);
    builder_.add(ir::op::PhaseArrive{slot.ring.full, slot.index, {}});
    return {};
  }, may_run ? at_once.condition : ValueId{});
}

const ir::op::Commit& Lowering::commit_of(ValueId token) const {
  for (OpId use : uses_[token.index])
    if (auto* commit = source_.op(use).get<ir::op::Commit>()) return *commit;
  UNREACHABLE("a copy in flight fills a slot of a ring");
}

void Lowering::lower_commit(const ir::op::Commit& commit) {
  const Ring& ring = rings_.at(commit.ring.index);
  if (!ring.is_bulk) return;
  int64_t bytes = 0;
  for (ValueId token : commit.tokens) {
    const ir::op::CopyAsync& copy = *source_.defined_by<ir::op::CopyAsync>(token);
    int64_t count = byte_width(source_.type(copy.dst).element);
    for (int64_t extent : copy.shape) count *= extent;
    bytes += count;
  }
  auto expect = [&] {
    Slot slot = slot_of(commit.ring, commit.turn);
    builder_.add(ir::op::PhaseExpect{slot.ring.full, slot.index, builder_.index(bytes), is_first_lane()});
  };
  by_filler(ring, [&] { once(expect); }, [] {});
}

bool Lowering::has_flights() const {
  bool found = false;
  each_op(source_, source_.body, [&](OpId id) { found |= source_.op(id).is<ir::op::GemmAsync>(); });
  return found;
}

void Lowering::lower_wait(const ir::op::Wait& wait) {
  Slot slot = slot_of(wait.ring, wait.turn);
  builder_.add(ir::op::PhaseWait{slot.ring.full, slot.index, slot.parity});
  // What lanes have copied is no engine's; products in flight read it.
  if (has_flights()) by_filler(slot.ring, [] {}, [&] { builder_.add(ir::op::EngineFence{}); });
}

// A warp that has read a slot of an engine's gives it back by one lane; lanes that fill a ring wait for each reader by itself.
void Lowering::lower_release(const ir::op::Release& release) {
  Slot slot = slot_of(release.ring, release.turn);
  ValueId condition = releases_if_.valid() ? broadcast(releases_if_) : ValueId{};
  auto arrive = [&](ValueId lanes, ValueId block) { builder_.add(ir::op::PhaseArrive{slot.ring.empty, slot.index, all(condition, lanes), block}); };
  if (!slot.ring.is_bulk) return arrive({}, {});
  // Without it an arrival overtakes reads, and the engine writes over what they have not taken yet.
  if (slot.ring.is_read_by_lanes) builder_.add(ir::op::EngineFence{});
  builder_.add(ir::op::WarpBarrier{"a lane gives the slot back for all of its warp"});
  ValueId alone = is_first_lane();
  if (slot.ring.boxes.valid()) alone = builder_.logical_or(alone, builder_.logical_not(slot.ring.boxes));
  if (!slot.ring.together.valid()) return arrive(alone, {});
  // Of each warp one lane for each block that may fill the slot. Two instructions, one of which no lane takes, part no warp.
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  ValueId is_one = builder_.compare(ir::CompareFn::Lt, lane, builder_.index(blocks_in_step()));
  ValueId block = blocks_in_step() == blocks_of_cluster() ? lane : builder_.add(lane, block_along({int64_t(cluster_.size()) - 1}, false, false));
  arrive(builder_.logical_and(is_one, slot.ring.together), block);
  arrive(builder_.logical_and(alone, builder_.logical_not(slot.ring.together)), {});
}

// A branch around arrivals alone would part the warp at every turn: they are masked.
bool Lowering::lower_releases(const ir::op::If& branch) {
  auto is_empty = [&](RegionId region) { return !region.valid() || (source_.region(region).ops.size() == 1 && source_.terminator(region).as<ir::op::Yield>().values.empty()); };
  auto is_masked = [&](OpId id) {
    const ir::Op& op = source_.op(id);
    if (const ir::op::Release* release = op.get<ir::op::Release>()) return rings_.at(release->ring.index).is_bulk;
    const ir::op::Binary* binary = op.get<ir::op::Binary>();
    bool is_sum = binary && !binary->guarded && (binary->fn == BinaryFn::Add || binary->fn == BinaryFn::Sub);
    return is_sum || op.is<ir::op::Yield>() || op.is<ir::op::Constant>();
  };
  const std::vector<OpId>& ops = source_.region(branch.then_body).ops;
  if (!is_empty(branch.else_body) || is_varying(scalar(branch.condition)) || !std::ranges::all_of(ops, is_masked)) return false;
  ValueId outer = std::exchange(releases_if_, all(releases_if_, scalar(branch.condition)));
  lower_region(branch.then_body);
  releases_if_ = outer;
  return true;
}

}  // namespace tilec::lower
