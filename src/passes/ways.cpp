#include "passes/ways.h"

#include <algorithm>

#include "ir/own_rows.h"
#include "passes/boxes.h"
#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/shared_room.h"

namespace tilec::passes {

using namespace ir;

namespace {

// As the engine writes it.
std::optional<Type> type_of_way(Kernel& kernel, const op::Store& store, const Type& tile) {
  Type type = buffer_type(Space::Shared, kernel.type(store.buffer).element, tile.shape);
  auto layout = engine_layout(shape_of(tile), bit_width(type.element), 0);
  if (!layout) return std::nullopt;
  type.layout = kernel.layouts.intern(*layout);
  return type;
}

}  // namespace

ValueId way_for(Kernel& kernel, const Machine& machine, RegionId launch, OpId at, const op::Store& store, const Type& tile) {
  bool is_plain = kernel.param_of(store.buffer) && !store.adds && store.summed_axes.empty() && std::ranges::is_sorted(store.axes) && tile.shape.size() == 2;
  if (!is_plain || !machine.has(Cap::BulkCopy) || !tile.layout.valid() || !rows_of_a_warp(kernel.layouts.reg(tile.layout))) return {};
  std::optional<Type> type = type_of_way(kernel, store, tile);
  if (!type || type->element == Scalar::TF32) return {};
  if (room_beside(kernel, machine, launch) < type->element_count() * byte_width(type->element)) return {};
  const std::string name = kernel.param_of(store.buffer)->name;
  ValueId way;
  insert_before(kernel, launch, at, [&](Builder& b) { way = b.value(op::Alloc{{}, name}, *type, name); });
  if (why_no_box(kernel, store.buffer, store.axes, way, machine).empty()) return way;
  std::erase(kernel.region(launch).ops, kernel.value(way).op);
  return {};
}

void send(Builder& b, const Kernel& kernel, const op::Store& store, ValueId way) {
  const Ints shape = kernel.type(way).shape;
  const std::vector<ValueId> begin(2, b.index(0));
  const BoundsList inside(2, Bounds::Inside);
  b.add(op::Store{.tile = store.tile, .buffer = way, .offsets = begin, .axes = {0, 1}, .bounds = inside});
  b.add(op::Copy{.src = way, .src_offsets = begin, .src_axes = {0, 1}, .src_bounds = inside, .dst = store.buffer, .dst_offsets = store.offsets, .dst_axes = store.axes,
                 .dst_bounds = store.bounds, .shape = shape, .copy_class = CopyClass::Bulk, .label = store.label});
}

}  // namespace tilec::passes
