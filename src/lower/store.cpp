// Tiles stored, or added, to memory: by the lanes that hold them, or by the engine that copies boxes.
#include <algorithm>

#include "ir/late_store.h"
#include "ir/own_rows.h"
#include "layout/engine_rows.h"
#include "layout/notation.h"
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

constexpr int64_t kCopyUnroll = 4;

}  // namespace

// Of a lane, by one instruction.
int Lowering::most_bytes(Scalar element, bool adds) const {
  if (!adds) return machine_.vector_bytes;
  bool is_vector = element == Scalar::F32 || (machine_.adds.narrow && (element == Scalar::F16 || element == Scalar::BF16));
  return is_vector ? machine_.adds.bytes : 0;
}

// A number, or a vector of neighbours.
void Lowering::add_element(ValueId buffer, ValueId index, ValueId value, ValueId mask) {
  builder_.add(ir::op::MemAtomic{ir::AtomicFn::Add, ir::MemoryOrder::Relaxed, scalar_buffer(buffer), broadcast(index), {broadcast(value)}, mask});
}

void Lowering::lower_store(const ir::Op& op, const ir::op::Store& store) {
  const Type& type = source_.type(store.tile);
  const layout::RegLayout& layout = reg_layout(type.layout);
  const Home& from = home(store.tile);
  Region region{store.buffer, scalars(store.offsets), store.axes, store.bounds};
  report_indices(region, op.span);
  if (int64_t rows = ir::rows_of_own(source_, store.buffer)) await_own_rows(store, rows);
  if (!store.adds && store_registers(region, layout, from)) return;
  auto alone = [&] { store_tile(region, type.shape, layout, from, store.adds); };
  if (store.label == ir::kLateStore) {
    Scalar stored = source_.type(region.buffer).element;
    Wide at_once = wide(region, layout, machine_.vector_bytes);
    auto dealt = wider(region, layout, at_once, machine_.vector_bytes);
    if (dealt) return store_wide(region, dealt->layout, at_once.count, exchanged(*dealt, from.registers, stored), false);
    return store_wide(region, layout, at_once.count, [&](int64_t r) { return from.registers[size_t(r)]; }, false);
  }
  bool is_summed = !store.summed_axes.empty() && from.in_registers();
  by_cluster(is_summed ? runs_as_cluster() : ValueId{}, [&] { add_together(store, region); }, alone);
}

void Lowering::store_tile(const Region& region, const ir::Ints& shape, const layout::RegLayout& layout, const Home& from, bool adds) {
  std::vector<Guard> all_guards = guards(from);
  all_guards.push_back({region, shape});
  Scalar stored = source_.type(region.buffer).element;
  int most = most_bytes(stored, adds);
  Wide at_once = from.in_registers() ? wide(region, layout, most) : Wide{};
  std::optional<layout::Widening> dealt;
  if (from.in_registers()) dealt = wider(region, layout, at_once, most);
  auto as_held = [&](int64_t r) { return from.registers[size_t(r)]; };
  auto at_once_or_dealt = [&] {
    if (dealt) store_wide(region, dealt->layout, at_once.count, exchanged(*dealt, from.registers, stored), adds);
    else store_wide(region, layout, at_once.count, as_held, adds);
  };
  // Where vectors cannot begin, lanes side by side store what lies side by side.
  std::optional<layout::Widening> side_by_side;
  if (at_once.count > 1 && machine_.has(Cap::Shuffles) && !has_rows_of_multiples(region, at_once.count)) side_by_side = layout::spread(layout, layout.shape.rank - 1);
  auto by_element = [&] {
    if (side_by_side) return store_wide(region, side_by_side->layout, 1, exchanged(*side_by_side, from.registers, stored), adds);
    int64_t unroll = from.in_registers() ? INT64_MAX : from.deferred && guarded_ ? 1 : kCopyUnroll;
    nest(builder_, digits(layout), unroll, {}, [&](const Point& point, const Carried&) -> Carried {
      std::vector<Coordinate> coordinates = region_coordinates(region, layout, point);
      ValueId mask = region_mask(region, layout, coordinates, point, guarded_);
      mask = all(mask, owner_mask(layout, adds ? Touch::Atomic : Touch::Store));
      ValueId index = address(region.buffer, coordinates);
      if (adds) add_element(region.buffer, index, builder_.convert(read(from, point), stored), mask);
      else store_element(region.buffer, index, read(from, point), mask);
      return {};
    }, unrolled_axes(from));
  };
  // Vectors are masked one by one: a second way, without masks, for regions that lie inside would only be more code.
  if (at_once.count > 1 && all_guards.size() == 1) {
    bool outer = std::exchange(guarded_, true);
    either(all(at_once.condition, ends_on_multiples(region, at_once.count)), [&] { return at_once_or_dealt(), Carried{}; }, [&] { return by_element(), Carried{}; });
    guarded_ = outer;
    return;
  }
  inside_or_guarded(all_guards, [&] {
    if (at_once.count > 1 && !guarded_) at_once_or_dealt();
    else by_element();
    return Carried{};
  }, at_once.condition);
}

// A replica is written once: by the lanes and warps whose `_` bits are zero. None where every place holds its own.
ValueId Lowering::owner_mask(const layout::RegLayout& layout, Touch touch) {
  int64_t lanes = 0, warps = 0;
  for (size_t i = 0; i < layout.lane.size(); ++i)
    if (layout.lane[i] == 0) lanes |= int64_t(1) << i;
  for (size_t i = 0; i < layout.warp.size(); ++i)
    if (layout.warp[i] == 0) warps |= int64_t(1) << i;
  ValueId mask;
  // Lanes that all hold the same store one number at one address: the store itself is uniform. An atomic is not.
  bool all_lanes_same = touch == Touch::Store && lanes + 1 == int64_t(1) << layout.lane.size();
  auto is_zero = [&](ValueId index, int64_t bits) {
    return builder_.compare(ir::CompareFn::Eq, builder_.binary(ir::BinaryFn::And, index, builder_.index(bits)), builder_.index(0));
  };
  if (lanes && !(all_lanes_same && machine_.simd_bytes > 0))
    mask = is_zero(builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true)), lanes);
  if (warps) mask = all(mask, is_zero(warp_index(), warps));
  int64_t divisor = int64_t(1) << layout.warp.size();
  for (const layout::Grid& grid : layout.grids) {
    if (grid.place != layout::GridPlace::Warp) continue;
    ValueId step = builder_.binary(ir::BinaryFn::Rem, builder_.binary(ir::BinaryFn::Div, warp_index(), builder_.index(divisor)), builder_.index(grid.count));
    if (grid.axis == layout::kReplica) mask = all(mask, builder_.compare(ir::CompareFn::Eq, step, builder_.index(0)));
    divisor *= grid.count;
  }
  return mask;
}

// Does the engine write no more than the tensor? It writes whole units.
ValueId Lowering::rows_end_on_units(ValueId buffer) {
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  const Type& type = source_.type(buffer);
  int64_t unit = machine_.boxes.unit / byte_width(type.element);
  ValueId rest = builder_.binary(ir::BinaryFn::And, extent(buffer, type.rank() - 1), builder_.index(unit - 1));
  ValueId holds = builder_.compare(ir::CompareFn::Eq, rest, builder_.index(0));
  builder_.set_region(here);
  return holds;
}

void Lowering::store_by_engine(const ir::Op& op, const ir::op::Copy& copy) {
  report_indices({copy.dst, scalars(copy.dst_offsets), copy.dst_axes, copy.dst_bounds}, op.span);
  ValueId holds;
  // A late one lies inside a tensor that suits the engine.
  if (machine_.boxes.unit && copy.label != ir::kLateStore) holds = all(boxes_hold(std::span(&copy.dst, 1)), rows_end_on_units(copy.dst));
  if (int64_t rows = ir::rows_of_own(source_, copy.src)) return by_engine(holds, [&] { send_own_rows(copy, rows); }, [&] { copy_own_rows(op, copy, rows); });
  by_engine(holds, [&] {
    once([&] {
      builder_.add(ir::op::EngineFence{});
      store_boxes(copy, copy.shape, scalars(copy.src_offsets), scalars(copy.dst_offsets));
      builder_.add(ir::op::AwaitStores{});
    });
  }, [&] { copy_by_threads(op, copy); });
}

// What a warp has sent from its rows has been read when it writes to them again; what it has sent from others' meanwhile need not be.
void Lowering::await_own_rows(const ir::op::Store& store, int64_t rows) {
  const Type& type = source_.type(store.buffer);
  int64_t boxes = 0;
  each_box({rows, type.shape[1]}, box_shape({rows, type.shape[1]}, type), [&](const ir::Ints&, const ir::Ints&) { ++boxes; });
  builder_.add(ir::op::AwaitStores{ir::sent_since(source_, store) * boxes});
  builder_.add(ir::op::WarpBarrier{"a lane knows for all of its warp that what it sent has been read"});
}

// Do several copies write the tensor?
bool Lowering::is_piece(const ir::op::Copy& copy) const {
  int count = 0;
  each_op(source_, source_.body, [&](OpId id) {
    const ir::op::Copy* other = source_.op(id).get<ir::op::Copy>();
    count += other && other->dst == copy.dst;
  });
  return count > 1;
}

std::pair<Region, Region> Lowering::own_rows(const ir::op::Copy& copy, int64_t rows) {
  Region from{copy.src, scalars(copy.src_offsets), copy.src_axes, copy.src_bounds}, to{copy.dst, scalars(copy.dst_offsets), copy.dst_axes, copy.dst_bounds};
  ValueId first = builder_.mul(warp_index(), builder_.index(rows));
  for (Region* region : {&from, &to}) {
    ValueId& offset = region->offsets[size_t(region->axes[0])];
    offset = builder_.add(offset, first);
  }
  return {from, to};
}

void Lowering::send_own_rows(const ir::op::Copy& copy, int64_t rows) {
  builder_.add(ir::op::EngineFence{});
  builder_.add(ir::op::WarpBarrier{"a lane sends what all of its warp have written"});
  auto [from, to] = own_rows(copy, rows);
  store_boxes(copy, {rows, copy.shape[1]}, from.offsets, to.offsets);
}

// Of one tile all lanes of the block copy their share, which took less registers of attention's loop than its warps by themselves
// (docs/performance.md). Pieces follow each other, and warps do not meet for each: each copies its
// rows, its lanes side by side along them.
void Lowering::copy_own_rows(const ir::Op& op, const ir::op::Copy& copy, int64_t rows) {
  if (!is_piece(copy)) {
    barrier("lanes read what other warps have written to `" + source_.value(copy.src).hint + "`");
    copy_by_threads(op, copy);
    return barrier("`" + source_.value(copy.src).hint + "` may be written again");
  }
  builder_.add(ir::op::WarpBarrier{"lanes read what others of their warp have written"});
  auto [from, to] = own_rows(copy, rows);
  const int64_t warps = std::exchange(warps_, 1);
  const bool outer = std::exchange(guarded_, true);
  copy_elements(from, to, layout::Shape({int(rows), int(copy.shape[1])}), copy.pad, copy.adds);
  guarded_ = outer, warps_ = warps;
  builder_.add(ir::op::WarpBarrier{"these rows may be written again"});
}

// Of tiles that warps send rows of; where a program ends nobody may be reading them any more.
void Lowering::await_all_own_rows(RegionId body) {
  bool found = false;
  each_op(source_, body, [&](OpId id) {
    const ir::op::Copy* copy = source_.op(id).get<ir::op::Copy>();
    found |= copy && ir::rows_of_own(source_, copy->src);
  });
  if (found) builder_.add(ir::op::AwaitStores{});
}

// A region of the array, and where it goes.
void Lowering::store_boxes(const ir::op::Copy& copy, const ir::Ints& region, const std::vector<ValueId>& first, const std::vector<ValueId>& target) {
  const Type& source = source_.type(copy.src);
  const layout::MemLayout& layout = source_.layouts.mem(source.layout);
  each_box(region, box_shape(region, source), [&](const ir::Ints& origin, const ir::Ints& shape) {
    std::vector<ValueId> from = stepped(first, copy.src_axes, origin), to = stepped(target, copy.dst_axes, origin);
    builder_.add(ir::op::StoreBox{scalar_buffer(copy.src), from, copy.src_axes, source.shape, layout::print(layout), scalar_buffer(copy.dst), to,
                                  copy.dst_axes, copy.dst_bounds, shape, copy.adds});
  });
}

}  // namespace tilec::lower
