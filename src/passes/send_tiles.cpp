#include "passes/send_tiles.h"

#include <algorithm>

#include "ir/overlap.h"
#include "passes/rewrite.h"
#include "passes/round_end.h"
#include "passes/touches.h"
#include "passes/ways.h"

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

void send_from(Kernel& kernel, const Machine& machine, const SentFrom& from) {
  const op::Store store = kernel.op(from.store).as<op::Store>();
  RegionId round = kernel.op(from.rounds).as<op::For>().body;
  if (may_wait(kernel, round, store) || !touches_alone(kernel, from.launch, from.store)) return;
  ValueId way = way_for(kernel, machine, from.launch, from.rounds, store, kernel.type(store.tile));
  if (!way.valid()) return;
  insert_before(kernel, round, from.store, [&](Builder& b) { send(b, kernel, store, way); });
  std::erase(kernel.region(round).ops, from.store);
}

}  // namespace

void send_tiles(Kernel& kernel, const Machine& machine, RegionId launch) {
  if (!machine.has(Cap::BulkCopy) || kernel.schedule.roles.empty()) return;
  for (OpId id : std::vector<OpId>(kernel.region(launch).ops)) {
    const op::For* rounds = kernel.op(id).get<op::For>();
    if (!rounds || rounds->loop == LoopKind::Pipelined) continue;
    for (OpId inner : std::vector<OpId>(kernel.region(rounds->body).ops))
      if (kernel.op(inner).is<op::Store>()) send_from(kernel, machine, {launch, id, inner});
  }
}

}  // namespace tilec::passes
