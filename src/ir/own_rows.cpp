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

const op::Store* written_by(const Kernel& kernel, OpId id, ValueId buffer) {
  const op::Store* store = kernel.op(id).get<op::Store>();
  bool writes = store && store->buffer == buffer && !store->adds;
  return writes && is_whole(kernel, kernel.type(buffer), store->offsets, store->axes, kernel.type(store->tile).shape) ? store : nullptr;
}

bool sends(const Kernel& kernel, OpId id, ValueId buffer) {
  const op::Copy* copy = kernel.op(id).get<op::Copy>();
  return copy && copy->src == buffer && copy->copy_class == CopyClass::Bulk && is_whole(kernel, kernel.type(buffer), copy->src_offsets, copy->src_axes, copy->shape);
}

// Who touches a buffer: of each region those that stand in it, in order.
struct Touched {
  std::vector<std::vector<OpId>> regions;
  bool is_repeated = true;  // loops stand around all of them
};

void find_touches(const Kernel& kernel, RegionId region, bool is_repeated, ValueId buffer, Touched& found) {
  std::vector<OpId> here;
  for (OpId id : kernel.region(region).ops) {
    const Op& op = kernel.op(id);
    bool touches = false;
    each_operand(op.data, [&](ValueId v) { touches |= v == buffer; });
    if (touches) here.push_back(id), found.is_repeated &= is_repeated;
    each_region(op.data, [&](RegionId inner) { find_touches(kernel, inner, is_repeated || op.is<op::For>(), buffer, found); });
  }
  if (!here.empty()) found.regions.push_back(std::move(here));
}

// The rows of a warp that `store` writes, if `copy` sends them; else 0.
int64_t rows_sent(const Kernel& kernel, ValueId buffer, OpId store_id, OpId copy) {
  const op::Store* store = written_by(kernel, store_id, buffer);
  if (!store || !sends(kernel, copy, buffer) || !kernel.type(store->tile).layout.valid()) return 0;
  return rows_of_a_warp(kernel.layouts.reg(kernel.type(store->tile).layout));
}

// Where it stands; none: not below `region`.
RegionId region_of(const Kernel& kernel, RegionId region, const op::Store& store) {
  RegionId found;
  for (OpId id : kernel.region(region).ops) {
    if (kernel.op(id).get<op::Store>() == &store) return region;
    each_region(kernel.op(id).data, [&](RegionId inner) {
      if (!found.valid()) found = region_of(kernel, inner, store);
    });
    if (found.valid()) return found;
  }
  return found;
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
  Touched touched;
  find_touches(kernel, kernel.body, false, buffer, touched);
  if (touched.regions.empty() || !touched.is_repeated) return 0;
  int64_t rows = 0;
  for (const std::vector<OpId>& ops : touched.regions) {
    if (ops.size() % 2 != 0) return 0;
    for (size_t i = 0; i < ops.size(); i += 2) {
      const int64_t own = rows_sent(kernel, buffer, ops[i], ops[i + 1]);
      if (own == 0 || (rows != 0 && own != rows)) return 0;
      rows = own;
    }
  }
  return rows;
}

int64_t sent_since(const Kernel& kernel, const op::Store& store) {
  int64_t sent = 0;
  for (OpId id : kernel.region(region_of(kernel, kernel.body, store)).ops) {
    const op::Copy* copy = kernel.op(id).get<op::Copy>();
    if (kernel.op(id).get<op::Store>() == &store) break;
    if (!copy || kernel.type(copy->src) != kernel.type(store.buffer) || !rows_of_own(kernel, copy->src)) continue;
    sent = copy->src == store.buffer ? 0 : sent + 1;
  }
  return sent;
}

}  // namespace tilec::ir
