#include "passes/stage_once.h"

#include <algorithm>

#include "passes/boxes.h"
#include "passes/carried_count.h"
#include "passes/fills.h"
#include "passes/rewrite.h"
#include "passes/shared_room.h"
#include "passes/versions.h"

namespace tilec::passes {

using namespace ir;

namespace {

// One turn for each time that the region runs: the acquire and the copy take the copy's place, and the ring goes back behind the
// last reader.
//
// Where blocks go on, and shared memory has room for another version, the next block's tile comes while this one's is still read.
int64_t depth_of(const Kernel& kernel, const Machine& machine, RegionId launch, ValueId buffer) {
  return room_beside(kernel, machine, launch) >= shared_bytes(kernel, buffer) ? 2 : 1;
}

// As the schedule has it; null: it does not say.
const Pipeline* pinned_for(const Kernel& kernel, const std::vector<Pipeline>& pinned, ValueId buffer) {
  auto found = std::ranges::find_if(pinned, [&](const Pipeline& p) { return std::ranges::find(p.tiles, kernel.value(buffer).hint) != p.tiles.end(); });
  return found == pinned.end() ? nullptr : &*found;
}

// `made`: takes the pipeline that came of it.
void stage(Kernel& kernel, const Machine& machine, RegionId launch, RegionId region, const Fill& fill, const Pipeline* pinned, std::vector<Pipeline>& made) {
  const op::Copy copy = kernel.op(fill.op).as<op::Copy>();
  std::optional<CarriedCount> rounds = CarriedCount::between(kernel, launch, region);
  OpId last = last_user(kernel, region, fill.buffer, fill.op);
  if (!rounds || !last.valid()) return;
  bool is_nested = region != launch;
  const std::string& hint = kernel.value(fill.buffer).hint;
  Pipeline pipeline{.name = pinned ? pinned->name : hint, .tiles = pinned ? pinned->tiles : std::vector<Text>{hint}, .depth = 1};
  if (is_nested) pipeline.depth = pinned && pinned->depth ? pinned->depth : depth_of(kernel, machine, launch, fill.buffer);
  const int64_t depth = pipeline.depth;
  ValueId ring, versions, turn, view, next;
  auto version = [&](Builder& b) { return depth == 1 ? b.index(0) : b.binary(BinaryFn::Rem, turn, b.index(depth)); };
  insert_before(kernel, launch, is_nested ? rounds->first() : fill.op, [&](Builder& b) {
    versions = add_versions(b, fill.buffer, depth);
    ring = add_ring(b, pipeline.name, depth);
  });
  if (is_nested) turn = rounds->open(kernel);
  insert_before(kernel, region, fill.op, [&](Builder& b) {
    if (!is_nested) turn = b.index(0);
    b.add(op::Acquire{ring, turn});
    b.add(op::Commit{ring, turn, {copy_ahead(b, copy, versions, version(b), CopyClass::Bulk)}});
  });
  insert_before(kernel, region, first_user(kernel, region, fill.buffer, fill.op), [&](Builder& b) {
    b.add(op::Wait{ring, turn});
    view = view_version(b, fill.buffer, versions, version(b));
  });
  insert_after(kernel, region, last, [&](Builder& b) {
    b.add(op::Release{ring, turn});
    if (is_nested) next = b.add(turn, b.index(1));
  });
  if (is_nested) rounds->close(kernel, next);
  std::erase(kernel.region(region).ops, fill.op);
  replace_uses(kernel, region, fill.buffer, view);
  drop_alloc(kernel, launch, fill.buffer);
  made.push_back(std::move(pipeline));
}

}  // namespace

bool is_filled_by_role(const Kernel& kernel, const op::Copy& copy) {
  const Schedule& schedule = kernel.schedule;
  const std::string& label = copy.label.empty() ? kernel.value(copy.dst).hint : copy.label;
  return std::ranges::any_of(schedule.placements, [&](const Placement& p) {
    bool is_rest = std::ranges::any_of(schedule.placements, [&](const Placement& q) { return q.role == p.role && q.label == kRest; });
    return !p.role.empty() && !is_rest && p.label == label;
  });
}

void stage_once(Kernel& kernel, const Machine& machine, RegionId launch, const std::vector<Pipeline>& pinned, std::vector<Pipeline>& found) {
  if (!machine.has(Cap::BulkCopy) || !machine.has(Cap::PhaseBarriers)) return;
  std::vector<RegionId> regions{launch};
  std::vector<Pipeline> made;
  each_op(kernel, launch, [&](OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (loop && loop->loop != LoopKind::Pipelined) regions.push_back(loop->body);
  });
  for (RegionId region : regions) {
    ValueId index = region == launch ? ValueId{} : kernel.region(region).args[0];
    for (const Fill& fill : Fills(kernel, launch, region, index).find()) {
      const op::Copy& copy = kernel.op(fill.op).as<op::Copy>();
      if (is_filled_by_role(kernel, copy) && why_no_box(kernel, copy, machine).empty())
        stage(kernel, machine, launch, region, fill, pinned_for(kernel, pinned, fill.buffer), made);
    }
  }
  for (Pipeline& pipeline : made) {
    auto own = std::ranges::find_if(kernel.schedule.pipelines, [&](const Pipeline& p) { return p.name == pipeline.name && p.tiles == pipeline.tiles; });
    if (own == kernel.schedule.pipelines.end()) found.push_back(std::move(pipeline));
    else own->depth = pipeline.depth;
  }
}

}  // namespace tilec::passes
