#include "passes/place_groups.h"

#include "passes/place_maps.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Uniter {
  const Kernel& kernel;
  Groups& groups;
  std::vector<uint32_t>& parent;

  const std::vector<ValueId>& yielded(RegionId r) { return kernel.terminator(r).as<op::Yield>().values; }

  void unite_tile(ValueId a, ValueId b) {
    if (!kernel.type(a).is_tile() || !kernel.type(b).is_tile()) return;
    uint32_t x = groups.root(a), y = groups.root(b);
    parent[std::max(x, y)] = std::min(x, y);
  }

  void run(std::span<const OpId> ops) {
    for (OpId id : ops) {
      const Op& op = kernel.op(id);
      if (auto* loop = op.get<op::For>()) {
        for (size_t i = 0; i < loop->inits.size(); ++i) {
          unite_tile(loop->inits[i], op.results[i]);
          unite_tile(kernel.region(loop->body).args[i + 1], op.results[i]);
          unite_tile(yielded(loop->body)[i], op.results[i]);
        }
      } else if (auto* loop = op.get<op::While>()) {
        for (size_t i = 0; i < loop->inits.size(); ++i) {
          unite_tile(loop->inits[i], op.results[i]);
          unite_tile(kernel.region(loop->condition).args[i], op.results[i]);
          unite_tile(yielded(loop->condition)[i + 1], op.results[i]);
          unite_tile(kernel.region(loop->body).args[i], op.results[i]);
          unite_tile(yielded(loop->body)[i], op.results[i]);
        }
      } else if (auto* branch = op.get<op::If>()) {
        for (size_t i = 0; i < op.results.size(); ++i) {
          unite_tile(yielded(branch->then_body)[i], op.results[i]);
          unite_tile(yielded(branch->else_body)[i], op.results[i]);
        }
      } else if (auto* map = op.get<op::Map>()) {
        for (ValueId r : op.results) unite_tile(r, op.results[0]);
        for (size_t i = 0; i < map->inputs.size(); ++i)
          if (is_whole(*map, i) && !op.results.empty()) unite_tile(map->inputs[i], op.results[0]);
      } else if (auto* gemm = op.get<op::Gemm>()) {
        unite_tile(gemm->acc, op.result());
      } else if (auto* scan = op.get<op::Scan>()) {
        unite_tile(scan->x, op.result());
      } else if (auto* insert = op.get<op::Insert>()) {
        unite_tile(insert->tile, op.result());
      }
    }
  }
};

}  // namespace

void Groups::unite_all(const Kernel& kernel, std::span<const OpId> ops) { Uniter{kernel, *this, parent_}.run(ops); }

}  // namespace tilec::passes
