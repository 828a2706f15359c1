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

// The part of this block, to all blocks that want it, at the same place of each.
void Lowering::copy_boxes_together(const ir::op::CopyAsync& copy, const Slot& slot, const ir::Ints& part, size_t axis) {
  auto shares = [&](size_t a) { return std::ranges::find(copy.shared_axes, int64_t(a)) != copy.shared_axes.end(); };
  int64_t others = 0;
  for (int64_t block = 0; block < blocks_of_cluster(); ++block) {
    bool is_one = true;
    int64_t rest = block;
    for (size_t a = 0; a < cluster_.size(); rest /= cluster_[a], ++a) is_one &= shares(a) || rest % cluster_[a] == 0;
    if (is_one) others |= int64_t(1) << block;
  }
  ValueId peers = builder_.binary(BinaryFn::Shl, builder_.index(others), block_along(copy.shared_axes, true, false));
  ValueId begin = builder_.mul(block_along(copy.shared_axes, false, true), builder_.index(part[axis]));
  std::vector<ValueId> from = scalars(copy.src_offsets), to = scalars(copy.dst_offsets);
  for (auto [offsets, axes] : {std::pair(&from, &copy.src_axes), std::pair(&to, &copy.dst_axes)}) {
    ValueId& offset = (*offsets)[size_t((*axes)[axis])];
    offset = builder_.add(offset, begin);
  }
  copy_region(copy, slot, part, part, std::move(from), std::move(to), peers);
}

void Lowering::end_clusters(RegionId source) {
  for (OpId id : source_.region(source).ops) {
    if (!source_.op(id).is<ir::op::RingAlloc>()) continue;
    const Ring& ring = rings_.at(source_.op(id).result().index);
    by_cluster(ring.together, [&] { builder_.add(ir::op::ClusterBarrier{"no block leaves while others may reach for its memory"}); }, [] {});
  }
}

}  // namespace tilec::lower
