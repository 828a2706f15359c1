#include "ir/own_rows.h"

#include <algorithm>

namespace tilec::ir {

namespace {

constexpr int64_t kEngineRows = 8;  // after which a swizzle begins anew

bool is_whole(const Kernel& kernel, const Type& type, const std::vector<ValueId>& offsets, const Axes& axes, const Ints& shape) {
  bool begins = std::ranges::all_of(offsets, [&](ValueId v) {
    auto offset = kernel.constant(v);
    return offset && offset->i == 0;
  });
  return begins && axes == Axes{0, 1} && shape == type.shape;
}

}  // namespace

int64_t rows_of_a_warp(const layout::RegLayout& layout) {
  if (layout.shape.rank != 2 || layout.is_padded() || layout.is_replicated() || layout.ctas() != 1) return 0;
  const int64_t warps = layout.warps(), rows = layout.shape[0] / warps;
  if (layout.shape[0] % warps != 0 || rows % kEngineRows != 0) return 0;
  for (int64_t warp = 0; warp < warps; ++warp) {
    layout::Coordinate at = layout.coordinate(0, 0, int(warp));
    if (at[0] != warp * rows || at[1] != 0) return 0;
  }
  // Warps add to where lanes and registers are: what holds for the first one does for all.
  for (int64_t r = 0; r < layout.registers(); ++r)
    for (int lane = 0; lane < layout.lanes(); ++lane)
      if (layout.coordinate(r, lane, 0)[0] >= rows) return 0;
  return rows;
}

int64_t rows_of_own(const Kernel& kernel, ValueId buffer) {
  const Type& type = kernel.type(buffer);
  if (!type.is_buffer() || type.space != Space::Shared || type.shape.size() != 2) return 0;
  OpId stored, copied;
  int touches = 0;
  RegionId at;
  auto look = [&](RegionId region) {
    for (OpId id : kernel.region(region).ops) {
      const Op& op = kernel.op(id);
      bool is_touched = false;
      each_operand(op.data, [&](ValueId v) { is_touched |= v == buffer; });
      if (!is_touched) continue;
      ++touches;
      const op::Store* store = op.get<op::Store>();
      const op::Copy* copy = op.get<op::Copy>();
      bool writes = store && store->buffer == buffer && !store->adds && is_whole(kernel, type, store->offsets, store->axes, kernel.type(store->tile).shape);
      bool sends = copy && copy->src == buffer && copy->copy_class == CopyClass::Bulk && is_whole(kernel, type, copy->src_offsets, copy->src_axes, copy->shape);
      if (writes) stored = id, at = region;
      if (sends && stored.valid() && region == at) copied = id;
    }
  };
  std::vector<RegionId> loops;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    each_region(kernel.op(id).data, [&](RegionId region) {
      if (loop) loops.push_back(region);
      look(region);
    });
  });
  look(kernel.body);
  bool is_sent = stored.valid() && copied.valid() && touches == 2 && std::ranges::find(loops, at) != loops.end();
  const Type* tile = is_sent ? &kernel.type(kernel.op(stored).as<op::Store>().tile) : nullptr;
  return tile && tile->layout.valid() ? rows_of_a_warp(kernel.layouts.reg(tile->layout)) : 0;
}

}  // namespace tilec::ir
