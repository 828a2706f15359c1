#include "passes/flights.h"

#include "ir/overlap.h"
#include "passes/products.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

Type in_flight(Type tile) {
  tile.kind = TypeKind::Flight;
  return tile;
}

op::GemmAsync started(const op::Gemm& gemm) {
  return {gemm.a, gemm.b, gemm.acc, gemm.transpose_a, gemm.transpose_b, gemm.atom, gemm.label};
}

Launched::Launched(const Kernel& kernel, const Machine& machine, RegionId body) : kernel_(kernel), machine_(machine), body_(body) {
  each_op(kernel_, body, [&](OpId id) {
    if (kernel_.op(id).is<op::Roles>()) roles_ = id;
    const op::Commit* commit = kernel_.op(id).get<op::Commit>();
    if (!commit) return;
    for (ValueId token : commit->tokens)
      if (const op::CopyAsync* copy = kernel_.defined_by<op::CopyAsync>(token)) ring_of_[root_buffer(kernel_, copy->dst)] = commit->ring;
  });
}

const MatrixAtom* Launched::group_atom(OpId id) const {
  const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>();
  const MatrixAtom* atom = gemm ? find_atom(machine_, gemm->atom) : nullptr;
  return atom && atom->kind == AtomKind::Group ? atom : nullptr;
}

ValueId Launched::ring_of(ValueId buffer) const {
  auto found = ring_of_.find(root_buffer(kernel_, buffer));
  return found == ring_of_.end() ? ValueId{} : found->second;
}

bool Launched::is_written_in(RegionId region, ValueId buffer) const {
  bool found = false;
  each_op(kernel_, region, [&](OpId id) {
    for (const MemoryTouch& touch : touches_of(kernel_, id)) found |= touch.writes && touch.buffer == root_buffer(kernel_, buffer);
  });
  return found;
}

int64_t Launched::warps_of_role(RegionId region) const {
  if (!roles_.valid()) return 0;
  const op::Roles& roles = kernel_.op(roles_).as<op::Roles>();
  for (size_t role = 0; role < roles.bodies.size(); ++role) {
    bool holds = roles.bodies[role] == region;
    each_op(kernel_, roles.bodies[role], [&](OpId id) { each_region(kernel_.op(id).data, [&](RegionId r) { holds |= r == region; }); });
    if (holds) return roles.warps[role];
  }
  return 0;
}

Pipeline* pipeline_of(Kernel& kernel, ValueId ring) {
  const std::string& name = kernel.defined_by<op::RingAlloc>(ring)->name;
  auto found = std::ranges::find(kernel.schedule.pipelines, name, &Pipeline::name);
  return found == kernel.schedule.pipelines.end() ? nullptr : &*found;
}

std::vector<OpId> fills_of(const Kernel& kernel, RegionId region, ValueId ring) {
  std::vector<OpId> found;
  for (OpId id : kernel.region(region).ops) {
    bool fills = false;
    auto look = [&](OpId inner) {
      const op::Acquire* acquire = kernel.op(inner).get<op::Acquire>();
      fills |= acquire && acquire->ring == ring;
    };
    look(id);
    each_region(kernel.op(id).data, [&](RegionId r) { each_op(kernel, r, look); });
    if (fills) found.push_back(id);
  }
  return found;
}

}  // namespace tilec::passes
