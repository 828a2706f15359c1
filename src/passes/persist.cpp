#include "passes/persist.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/forth_and_back.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Memory of the block, which is the same for all that it does.
bool is_memory(const Kernel& kernel, OpId id) { return kernel.op(id).is<op::Alloc>() && kernel.type(kernel.op(id).result()).space == Space::Shared; }

void go_on(Kernel& kernel, const Machine& machine, OpId id) {
  const op::Launch launch = kernel.op(id).as<op::Launch>();
  std::vector<OpId> memory, rest;
  for (OpId inner : kernel.region(launch.body).ops) (is_memory(kernel, inner) ? memory : rest).push_back(inner);
  RegionId round = kernel.new_region();
  ValueId number = kernel.new_arg(round, scalar_type(Scalar::Index), "number");
  Builder b(kernel, round);
  b.set_span(kernel.op(id).span);
  std::vector<ValueId> indices;
  for (size_t axis = 0; axis < launch.extents.size(); ++axis)
    indices.push_back(b.value(op::BlockIndex{number, int64_t(axis)}, scalar_type(Scalar::Index), kernel.value(kernel.region(launch.body).args[axis]).hint));
  std::vector<OpId>& ops = kernel.region(round).ops;
  ops.insert(ops.end(), rest.begin(), rest.end());
  for (size_t axis = 0; axis < indices.size(); ++axis) replace_uses(kernel, round, kernel.region(launch.body).args[axis], indices[axis]);
  kernel.region(launch.body).ops.clear();
  b.set_region(launch.body);
  for (OpId alloc : memory) {
    for (ValueId& extent : kernel.op(alloc).as<op::Alloc>().extents) {
      auto known = kernel.constant(extent);
      INVARIANT(known, "tiles have extents that are known");
      extent = b.index(known->i);
    }
    kernel.region(launch.body).ops.push_back(alloc);
  }
  ValueId all = b.index(1);
  for (ValueId extent : launch.extents) all = b.mul(all, extent);
  ValueId first = b.value(op::BlockNumber{}, scalar_type(Scalar::Index)), step = b.value(op::GridBlocks{}, scalar_type(Scalar::Index));
  OpId rounds = b.add(op::For{.low = first, .high = all, .step = step, .loop = launch.dealt ? LoopKind::Dealt : LoopKind::Sequential, .body = round});
  b.yield({});
  // The order of numbers that are dealt out is not known. A role that copies has registers for it.
  bool copies_apart = machine.has(Cap::BulkCopy) && !kernel.schedule.roles.empty();
  if (!launch.dealt && copies_apart) go_forth_and_back(kernel, machine, id, rounds);
}

}  // namespace

void persist(Kernel& kernel, const Machine& machine, Diagnostics&) {
  std::vector<OpId> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Launch* launch = kernel.op(id).get<op::Launch>();
    if (launch && launch->persistent) launches.push_back(id);
  });
  for (OpId id : launches) go_on(kernel, machine, id);
}

}  // namespace tilec::passes
