// Sums of tiles that blocks of a cluster have: each leaves its tile in its shared memory, and reads some rows of all.
//
//   there   its phase ends when all warps of all these blocks have left their part of their tiles: each waits for it at its own
//   taken   its phase ends when they have read what they want of this block's tile: it may leave then, and its memory with it
//
// Phases, not barriers of the cluster: warps of other roles have nothing to do with it. Where blocks run by themselves, the tile goes through
// the same memory, and the block's own warps are all that arrive. Tiles are added in the order of their blocks, which is the same for all.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

// Rows of 128 bytes whose eight units are permuted by the row, so that neither side meets in the banks: lanes of accumulators hold
// two units each of four neighbouring rows, lanes along a row hold all units of it.
layout::MemLayout memory_of_sums(const layout::Shape& shape, Scalar element) {
  constexpr int kRowBytes = 128, kUnitBytes = 16, kBits = 3;
  auto memory = shape.rank == 2 ? layout::swizzled(shape, 1, 0, bit_width(element), kRowBytes) : std::nullopt;
  if (!memory) return layout::row_major(shape);
  int first = std::countr_zero(unsigned(kUnitBytes / byte_width(element)));
  for (int bit = 0; bit < kBits; ++bit)
    memory->addr[size_t(first + bit)] = layout::coordinate_bit(2, 1, first + bit) ^ layout::coordinate_bit(2, 0, (bit + kBits - 1) % kBits);
  return *memory;
}

// `parts`: as many times the rows of `layout` are those of the memory; `most`: elements of a vector.
RowPlaces row_places(const layout::MemLayout& memory, const layout::RegLayout& layout, int parts, int most) {
  RowPlaces places{memory};
  auto rows = int(layout.shape[0]);
  auto address = [&](int64_t r, int lane, int warp, int part) {
    layout::Coordinate c = layout.coordinate(r, lane, warp);
    c[0] += part * rows;
    return memory.address(c);
  };
  std::vector<int64_t> flips;
  for (int64_t r = 0; r < layout.registers(); ++r) flips.push_back(address(r, 0, 0, 0) ^ address(0, 0, 0, 0));
  int vector = std::max(1, most);
  while (layout.registers() % vector) vector /= 2;
  for (int part = 0; part < parts; ++part)
    for (int warp = 0; warp < layout.warps(); ++warp)
      for (int lane = 0; lane < layout.lanes(); ++lane)
        for (int64_t r = 0; r < layout.registers(); ++r) {
          int64_t at = address(r, lane, warp, part);
          if (!layout.is_inside(layout.coordinate(r, lane, warp)) || at != (address(0, lane, warp, part) ^ flips[size_t(r)])) return places;
          while (at - address(r - r % vector, lane, warp, part) != r % vector || address(r - r % vector, lane, warp, part) % vector) vector /= 2;
        }
  places.flips = std::move(flips), places.vector = vector;
  return places;
}

}  // namespace

std::vector<const ClusterSums*> Lowering::new_sums() {
  std::vector<const ClusterSums*> fresh;
  each_op(source_, source_launch_, [&](OpId id) {
    const ir::Op& op = source_.op(id);
    if (!op.is<ir::op::ClusterSum>() || sums_.contains(op.result().index)) return;
    const Type& tile = source_.type(op.as<ir::op::ClusterSum>().tile);
    int64_t threads = threads_with([&](const ir::Op& other) { return other.is<ir::op::ClusterSum>() && other.result() == op.result(); });
    ClusterSums& sums = sums_[op.result().index] = {scratch(tile.element, tile.element_count(), "sums"), scratch(Scalar::U64, 1, "there"), scratch(Scalar::U64, 1, "taken")};
    sums.together = runs_as_cluster(), sums.warps = threads / machine_.lanes;
    fresh.push_back(&sums);
  });
  return fresh;
}

void Lowering::begin_sums() {
  const std::vector<OpId>& ops = source_.region(source_launch_).ops;
  auto is_ring = [&](OpId id) { return source_.op(id).is<ir::op::RingAlloc>() || source_.op(id).is<ir::op::OrderAlloc>(); };
  if (std::ranges::any_of(ops, is_ring)) return;
  std::vector<const ClusterSums*> fresh = new_sums();
  if (fresh.empty()) return;
  once([&] {
    for (const ClusterSums* sums : fresh) begin_phases(*sums);
  });
  barrier("the phases of sums are set by one thread");
  meet_for_sums(true);
}

void Lowering::begin_phases(const ClusterSums& sums) {
  auto begin = [&](int64_t blocks) {
    for (ValueId phases : {sums.there, sums.taken}) builder_.add(ir::op::PhaseInit{phases, builder_.index(0), sums.warps * blocks});
  };
  by_cluster(sums.together, [&] { begin(split_); }, [&] { begin(1); });
}

void Lowering::meet_for_sums(bool only_phases) {
  by_cluster(runs_as_cluster(), [&] { builder_.add(ir::op::ClusterBarrier{"other blocks arrive at the phases of sums", only_phases}); }, [] {});
}

// One lane of each warp for each block, or one for this block alone.
void Lowering::tell_blocks(const ClusterSums& sums, ValueId phases, const ir::Ints& axes) {
  std::vector<int64_t> blocks = blocks_that_share(axes);
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true)), zero = builder_.index(0);
  ValueId is_one = builder_.compare(ir::CompareFn::Lt, lane, builder_.index(int64_t(blocks.size())));
  ValueId block = builder_.add(block_along(axes, true, false), builder_.mul(lane, builder_.index(blocks[1])));
  builder_.add(ir::op::WarpBarrier{"a lane tells a block of all of its warp"});
  builder_.add(ir::op::PhaseArrive{phases, zero, builder_.logical_and(is_one, sums.together), broadcast(block), true});
  builder_.add(ir::op::PhaseArrive{phases, zero, builder_.logical_and(is_first_lane(), builder_.logical_not(sums.together)), {}, true});
}

ValueId Lowering::row_address(const RowPlaces& places, const layout::RegLayout& layout, int64_t register_index, ValueId first_row) {
  Point point = point_at(layout, places.flips.empty() ? register_index : 0);
  std::vector<Coordinate> c;
  for (int axis = 0; axis < layout.shape.rank; ++axis) c.push_back({coordinate(builder_, point, axis), lane_part(layout, axis)});
  c[0].uniform = builder_.add(c[0].uniform, first_row);
  ValueId base = shared_address(places.memory, c);
  int64_t flips = places.flips.empty() ? 0 : places.flips[size_t(register_index)];
  return broadcast(flips ? builder_.binary(BinaryFn::Xor, base, builder_.index(flips)) : base);
}

void Lowering::leave_tile(const ClusterSums& sums, const Home& from, const layout::RegLayout& layout, const layout::MemLayout& memory) {
  RowPlaces places = row_places(memory, layout, 1, machine_.vector_bytes / byte_width(target_.type(sums.memory).element));
  ValueId owners = owner_mask(layout);
  for (int64_t r = 0; r < layout.registers(); r += places.vector) {
    std::vector<ValueId> elements;
    for (int i = 0; i < places.vector; ++i) elements.push_back(broadcast(read(from, point_at(layout, r + i))));
    ValueId value = places.vector == 1 ? elements[0] : builder_.value(ir::op::VectorMake{elements}, ir::vector_type(target_.type(elements[0]).element, places.vector));
    ValueId index = row_address(places, layout, r, builder_.index(0));
    builder_.add(ir::op::MemStore{sums.memory, index, value, all(tile_mask(layout, point_at(layout, r)), owners), lane_stride(index)});
  }
}

// The registers of the result: rows of this block's own tile, or sums of those of `blocks`, without a branch between.
Carried Lowering::rows_of(const RowPlaces& places, const ClusterSums& sums, const layout::RegLayout& layout, ValueId first, std::span<const ValueId> blocks) {
  Scalar element = target_.type(sums.memory).element;
  Carried rows(size_t(layout.registers()));
  for (int64_t r = 0; r < layout.registers(); r += places.vector) {
    ValueId index = row_address(places, layout, r, first), mask = tile_mask(layout, point_at(layout, r));
    for (ValueId block : blocks) {
      ir::op::MemLoad load{sums.memory, index, mask, lane_stride(index), false, block};
      ValueId loaded = builder_.value(load, places.vector == 1 ? ir::scalar_type(element, true) : ir::vector_type(element, places.vector));
      for (int i = 0; i < places.vector; ++i) {
        ValueId& row = rows[size_t(r + i)];
        ValueId one = places.vector == 1 ? loaded : builder_.value(ir::op::VectorElement{loaded, i}, ir::scalar_type(element, true));
        row = row.valid() ? builder_.add(row, one) : one;
      }
    }
  }
  return rows;
}

Home Lowering::add_up(const ClusterSums& sums, const ir::Op& op, const ir::op::ClusterSum& sum, const layout::MemLayout& memory) {
  const Type& type = source_.type(op.result());
  const layout::RegLayout& layout = reg_layout(type.layout);
  const std::vector<int64_t> numbers = blocks_that_share({sum.axis});
  RowPlaces places = row_places(memory, layout, int(numbers.size()), machine_.vector_bytes / byte_width(type.element));
  ValueId first = scalar(sum.first), base = block_along({sum.axis}, true, false);
  Carried rows = either(sums.together, [&] {
    std::vector<ValueId> blocks;
    for (int64_t number : numbers) blocks.push_back(builder_.add(base, builder_.index(number)));
    return rows_of(places, sums, layout, first, blocks);
  }, [&] { return rows_of(places, sums, layout, first, std::array{ValueId{}}); });
  Home to = new_home(type);
  for (int64_t r = 0; r < layout.registers(); ++r) write(to, point_at(layout, r), rows[size_t(r)]);
  return to;
}

void Lowering::lower_cluster_sum(const ir::Op& op, const ir::op::ClusterSum& sum) {
  const ClusterSums& sums = sums_.at(op.result().index);
  const layout::RegLayout& whole = reg_layout(source_.type(sum.tile).layout);
  const layout::MemLayout memory = memory_of_sums(whole.shape, source_.type(sum.tile).element);
  leave_tile(sums, home(sum.tile), whole, memory);
  tell_blocks(sums, sums.there, {sum.axis});
  builder_.add(ir::op::PhaseWait{sums.there, builder_.index(0), builder_.index(0), true});
  Home to = add_up(sums, op, sum, memory);
  tell_blocks(sums, sums.taken, {sum.axis});
  bind_home(op.result(), std::move(to));
}

void Lowering::end_sums(RegionId source) {
  for (OpId id : source_.region(source).ops)
    if (source_.op(id).is<ir::op::ClusterSum>())
      builder_.add(ir::op::PhaseWait{sums_.at(source_.op(id).result().index).taken, builder_.index(0), builder_.index(0), true});
}

}  // namespace tilec::lower
