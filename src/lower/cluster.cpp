// Blocks of a cluster, which reach each other's shared memory: what each copies of a tile that all want, and where they wait for each
// other. Whether they run at once only the call knows: a kernel holds both ways.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

int64_t Lowering::blocks_of_cluster() const { return std::accumulate(cluster_.begin(), cluster_.end(), int64_t(1), std::multiplies<>()); }

ValueId Lowering::runs_as_cluster() {
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  ValueId blocks = builder_.value(ir::op::ClusterBlocks{}, ir::scalar_type(Scalar::Index));
  ValueId holds = builder_.compare(ir::CompareFn::Eq, blocks, builder_.index(blocks_of_cluster()));
  builder_.set_region(here);
  return holds;
}

// `densely`: counted among themselves, from 0 on.
ValueId Lowering::block_along(const ir::Ints& axes, bool along_others, bool densely) {
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  ValueId number = builder_.index(0);
  int64_t step = 1;
  for (size_t axis = 0; axis < cluster_.size(); ++axis) {
    bool counts = (std::ranges::find(axes, int64_t(axis)) != axes.end()) != along_others;
    if (counts && cluster_[axis] > 1) {
      ValueId inside = builder_.binary(BinaryFn::Rem, block_[axis], builder_.index(cluster_[axis]));
      number = builder_.add(number, builder_.mul(inside, builder_.index(step)));
    }
    if (counts || !densely) step *= cluster_[axis];
  }
  builder_.set_region(here);
  return number;
}

void Lowering::by_cluster(ValueId together, const std::function<void()>& cluster, const std::function<void()>& alone) {
  if (together.valid()) by_engine(together, cluster, alone);
  else alone();
}

std::vector<int64_t> Lowering::blocks_that_share(const ir::Ints& axes) const {
  std::vector<int64_t> blocks;
  for (int64_t block = 0; block < blocks_of_cluster(); ++block) {
    bool is_one = true;
    int64_t rest = block;
    for (size_t axis = 0; axis < cluster_.size(); rest /= cluster_[axis], ++axis)
      is_one &= std::ranges::find(axes, int64_t(axis)) != axes.end() || rest % cluster_[axis] == 0;
    if (is_one) blocks.push_back(block);
  }
  return blocks;
}

// The part of this block, to all blocks that want it, at the same place of each.
void Lowering::copy_boxes_together(const ir::op::CopyAsync& copy, const Slot& slot, const ir::Ints& part, size_t axis) {
  int64_t others = 0;
  for (int64_t block : blocks_that_share(copy.shared_axes)) others |= int64_t(1) << block;
  ValueId peers = builder_.binary(BinaryFn::Shl, builder_.index(others), block_along(copy.shared_axes, true, false));
  ValueId begin = builder_.mul(block_along(copy.shared_axes, false, true), builder_.index(part[axis]));
  std::vector<ValueId> from = scalars(copy.src_offsets), to = scalars(copy.dst_offsets);
  for (auto [offsets, axes] : {std::pair(&from, &copy.src_axes), std::pair(&to, &copy.dst_axes)}) {
    ValueId& offset = (*offsets)[size_t((*axes)[axis])];
    offset = builder_.add(offset, begin);
  }
  copy_region(copy, slot, part, part, std::move(from), std::move(to), peers);
}

// In an array of `shape`, row-major, whose rows from `first_row` on the layout spreads.
ValueId Lowering::place_in_rows(const layout::RegLayout& layout, const layout::Shape& shape, const Point& point, ValueId first_row) {
  std::vector<Coordinate> c;
  for (int axis = 0; axis < shape.rank; ++axis) c.push_back({coordinate(builder_, point, axis), lane_part(layout, axis)});
  c[0].uniform = builder_.add(c[0].uniform, first_row);
  return shared_address(layout::row_major(shape), c);
}

// The same rows of all blocks that add to them, in the order of the blocks.
Home Lowering::sums_of_peers(ValueId memory, const layout::Shape& shape, const layout::RegLayout& part, int vector, ValueId first_row, const ir::Ints& axes) {
  Scalar element = target_.type(memory).element;
  ValueId base = block_along(axes, true, false);
  Home sums{.layout = {}, .registers = std::vector<ValueId>(size_t(part.registers())), .memory = {}};
  for (int64_t r = 0; r < part.registers(); r += vector) {
    Point point = point_at(part, r);
    ValueId index = broadcast(place_in_rows(part, shape, point, first_row)), mask = tile_mask(part, point);
    for (int64_t block : blocks_that_share(axes)) {
      ir::op::MemLoad load{memory, index, mask, lane_stride(index), false, builder_.add(base, builder_.index(block))};
      ValueId theirs = builder_.value(load, vector == 1 ? ir::scalar_type(element, true) : ir::vector_type(element, vector));
      for (int i = 0; i < vector; ++i) {
        ValueId& sum = sums.registers[size_t(r + i)];
        ValueId one = vector == 1 ? theirs : builder_.value(ir::op::VectorElement{theirs, i}, ir::scalar_type(element, true));
        sum = sum.valid() ? builder_.add(sum, one) : one;
      }
    }
  }
  return sums;
}

// Each block writes its tile to its shared memory, reads some rows of all, and adds their sum to the tensor: so many fewer additions
// are done there, and these few in one order.
void Lowering::add_together(const ir::op::Store& store, const Region& region) {
  const Type& tile = source_.type(store.tile);
  const layout::RegLayout& whole = reg_layout(tile.layout);
  ir::Ints shape = tile.shape;
  shape[0] /= int64_t(blocks_that_share(store.summed_axes).size());
  int vector = int(std::gcd<int64_t>(shape.back(), machine_.vector_bytes / byte_width(tile.element)));
  layout::RegLayout part = layout::blocked(layout::Shape(std::vector<int>(shape.begin(), shape.end())), machine_.lanes, int(warps_), vector);
  ValueId memory = scratch(tile.element, tile.element_count(), "sums");
  ValueId first = builder_.mul(block_along(store.summed_axes, false, true), builder_.index(shape[0]));
  barrier("tiles of a cluster are added up");
  for (int64_t r = 0; r < whole.registers(); ++r) {
    Point point = point_at(whole, r);
    ValueId index = place_in_rows(whole, whole.shape, point, builder_.index(0)), mask = all(tile_mask(whole, point), owner_mask(whole));
    builder_.add(ir::op::MemStore{memory, index, read(home(store.tile), point), mask, lane_stride(index)});
  }
  builder_.add(ir::op::ClusterBarrier{"tiles of a cluster are added up"});
  Home sums = sums_of_peers(memory, whole.shape, part, vector, first, store.summed_axes);
  builder_.add(ir::op::ClusterBarrier{"others have read this block's part"});
  Region rows = region;
  ValueId& offset = rows.offsets[size_t(rows.axes[0])];
  offset = builder_.add(offset, first);
  store_tile(rows, shape, part, sums, true);
}

void Lowering::end_clusters(RegionId source) {
  for (OpId id : source_.region(source).ops) {
    if (!source_.op(id).is<ir::op::RingAlloc>()) continue;
    const Ring& ring = rings_.at(source_.op(id).result().index);
    by_cluster(ring.together, [&] { builder_.add(ir::op::ClusterBarrier{"no block leaves while others may reach for its memory", true}); }, [] {});
  }
}

}  // namespace tilec::lower
