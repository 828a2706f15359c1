#include "passes/send_tiles.h"

#include <algorithm>

#include "ir/own_rows.h"
#include "passes/boxes.h"
#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/round_end.h"
#include "passes/shared_room.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

// The loop over blocks, and a store that stands in it.
struct SentFrom {
  RegionId launch;
  OpId rounds, store;
};

bool touches_alone(const Kernel& kernel, RegionId launch, OpId store) {
  ValueId tensor = root_buffer(kernel, kernel.op(store).as<op::Store>().buffer);
  bool alone = true;
  each_op(kernel, launch, [&](OpId other) {
    if (other == store || kernel.op(other).is<op::Map>() || kernel.op(other).is<op::Simt>()) return;
    for (const MemoryTouch& touch : touches_of(kernel, other)) alone &= !may_overlap(kernel, touch.buffer, tensor);
  });
  return alone;
}

// Under one product a turn a rounded tile waits in registers for the next round's (delay_stores.h); several leave it none.
bool may_wait(const Kernel& kernel, RegionId round, const op::Store& store) {
  int products = 0;
  each_op(kernel, round, [&](OpId id) { products += kernel.op(id).is<op::Gemm>(); });
  return products <= 1 && is_rounded(kernel.type(store.tile));
}

// As the engine writes it.
std::optional<Type> type_of_way(Kernel& kernel, const op::Store& store) {
  const Type& tile = kernel.type(store.tile);
  Type type = buffer_type(Space::Shared, kernel.type(store.buffer).element, tile.shape);
  auto layout = engine_layout(shape_of(tile), bit_width(type.element), 0);
  if (!layout) return std::nullopt;
  type.layout = kernel.layouts.intern(*layout);
  return type;
}

void send(Kernel& kernel, const Machine& machine, const SentFrom& from) {
  const op::Store store = kernel.op(from.store).as<op::Store>();
  const Type& tile = kernel.type(store.tile);
  bool is_plain = kernel.param_of(store.buffer) && !store.adds && store.summed_axes.empty() && std::ranges::is_sorted(store.axes) && tile.shape.size() == 2;
  if (!is_plain || may_wait(kernel, kernel.op(from.rounds).as<op::For>().body, store)) return;
  if (!tile.layout.valid() || !rows_of_a_warp(kernel.layouts.reg(tile.layout))) return;
  std::optional<Type> type = type_of_way(kernel, store);
  if (!type || type->element == Scalar::TF32 || !touches_alone(kernel, from.launch, from.store)) return;
  if (room_beside(kernel, machine, from.launch) < type->element_count() * byte_width(type->element)) return;
  const std::string name = kernel.param_of(store.buffer)->name;
  ValueId way;
  insert_before(kernel, from.launch, from.rounds, [&](Builder& b) { way = b.value(op::Alloc{{}, name}, *type, name); });
  if (!why_no_box(kernel, store.buffer, store.axes, way, machine).empty()) {
    std::erase(kernel.region(from.launch).ops, kernel.value(way).op);
    return;
  }
  RegionId round = kernel.op(from.rounds).as<op::For>().body;
  insert_before(kernel, round, from.store, [&](Builder& b) {
    const std::vector<ValueId> begin(2, b.index(0));
    b.add(op::Store{.tile = store.tile, .buffer = way, .offsets = begin, .axes = {0, 1}, .bounds = BoundsList(2, Bounds::Inside)});
    b.add(op::Copy{.src = way, .src_offsets = begin, .src_axes = {0, 1}, .src_bounds = BoundsList(2, Bounds::Inside), .dst = store.buffer, .dst_offsets = store.offsets,
                   .dst_axes = store.axes, .dst_bounds = store.bounds, .shape = type->shape, .copy_class = CopyClass::Bulk, .label = store.label});
  });
  std::erase(kernel.region(round).ops, from.store);
}

}  // namespace

void send_tiles(Kernel& kernel, const Machine& machine, RegionId launch) {
  if (!machine.has(Cap::BulkCopy) || kernel.schedule.roles.empty()) return;
  for (OpId id : std::vector<OpId>(kernel.region(launch).ops)) {
    const op::For* rounds = kernel.op(id).get<op::For>();
    if (!rounds || rounds->loop == LoopKind::Pipelined) continue;
    for (OpId inner : std::vector<OpId>(kernel.region(rounds->body).ops))
      if (kernel.op(inner).is<op::Store>()) send(kernel, machine, {launch, id, inner});
  }
}

}  // namespace tilec::passes
