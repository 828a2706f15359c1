#include "passes/block_axes.h"

#include "passes/effects.h"

namespace tilec::passes {

using namespace ir;

BlockAxes::BlockAxes(const Kernel& kernel, const op::Launch& launch) : kernel_(kernel), axes_(kernel.values.size()), control_(kernel.regions.size()) {
  const std::vector<ValueId>& indices = kernel.region(launch.body).args;
  for (size_t axis = 0; axis < indices.size(); ++axis) axes_[indices[axis].index] = 1ull << axis;
  while (visit(launch.body, 0)) {}
}

uint64_t BlockAxes::of(const std::vector<ValueId>& values) const {
  uint64_t axes = 0;
  for (ValueId v : values) axes |= of(v);
  return axes;
}

bool BlockAxes::add(ValueId v, uint64_t axes) {
  uint64_t before = axes_[v.index];
  axes_[v.index] |= axes;
  return axes_[v.index] != before;
}

bool BlockAxes::visit(RegionId region, uint64_t control) {
  bool changed = (control_[region.index] | control) != control_[region.index];
  control_[region.index] |= control;
  for (OpId id : kernel_.region(region).ops) changed |= visit(kernel_.op(id), control_[region.index]);
  return changed;
}

namespace {

// What is yielded behind the first `tests` values.
ValueId yielded(const Kernel& kernel, RegionId region, size_t i, size_t tests = 0) { return kernel.terminator(region).as<op::Yield>().values[i + tests]; }

}  // namespace

bool BlockAxes::visit(const Op& op, uint64_t control) {
  if (auto* loop = op.get<op::For>()) {
    uint64_t decides = control | of(loop->low) | of(loop->high) | of(loop->step);
    const std::vector<ValueId>& args = kernel_.region(loop->body).args;
    // The index counts alike for all; how far is the matter of what decides.
    bool changed = visit(loop->body, decides) | add(args[0], of(loop->low) | of(loop->step));
    for (size_t i = 0; i < loop->inits.size(); ++i) {
      uint64_t carried = decides | of(loop->inits[i]) | of(yielded(kernel_, loop->body, i));
      changed |= add(args[i + 1], carried) | add(op.results[i], carried);
    }
    return changed;
  }
  if (auto* loop = op.get<op::While>()) {
    uint64_t decides = control | of(yielded(kernel_, loop->condition, 0));
    bool changed = visit(loop->condition, decides) | visit(loop->body, decides);
    for (size_t i = 0; i < loop->inits.size(); ++i) {
      uint64_t carried = decides | of(loop->inits[i]) | of(yielded(kernel_, loop->condition, i, 1)) | of(yielded(kernel_, loop->body, i));
      for (ValueId v : {kernel_.region(loop->condition).args[i], kernel_.region(loop->body).args[i], op.results[i]}) changed |= add(v, carried);
    }
    return changed;
  }
  if (auto* branch = op.get<op::If>()) {
    uint64_t decides = control | of(branch->condition);
    bool changed = false;
    each_region(op.data, [&](RegionId region) { changed |= visit(region, decides); });
    for (size_t i = 0; i < op.results.size(); ++i)
      changed |= add(op.results[i], decides | of(yielded(kernel_, branch->then_body, i)) | of(yielded(kernel_, branch->else_body, i)));
    return changed;
  }
  bool changed = false;
  each_region(op.data, [&](RegionId region) { changed |= visit(region, control); });
  // What memory holds may be anything that a block has written.
  uint64_t axes = is_pure(op) ? 0 : ~0ull;
  if (auto* index = op.get<op::BlockIndex>()) axes |= 1ull << index->axis;
  each_operand(op.data, [&](ValueId v) { axes |= of(v); });
  for (ValueId result : op.results) changed |= add(result, axes);
  return changed;
}

}  // namespace tilec::passes
