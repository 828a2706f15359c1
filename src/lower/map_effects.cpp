#include "lower/map_effects.h"

#include "ir/overlap.h"

namespace tilec::lower {

using namespace ir;

namespace {

bool has(const Kernel& kernel, RegionId body, const std::function<bool(const Op&)>& is_such) {
  bool found = false;
  each_op(kernel, body, [&](OpId id) { found |= is_such(kernel.op(id)); });
  return found;
}

}  // namespace

bool has_effects(const Kernel& kernel, RegionId body) {
  return has(kernel, body, [](const Op& op) { return op.is<op::ElementStore>() || op.is<op::Atomic>() || op.is<op::ElementLoad>() || is_guarded(op); });
}

bool has_atomics(const Kernel& kernel, RegionId body) {
  return has(kernel, body, [](const Op& op) { return op.is<op::Atomic>(); });
}

bool has_stores(const Kernel& kernel, RegionId body) {
  return has(kernel, body, [](const Op& op) { return op.is<op::ElementStore>(); });
}

bool reads_back(const Kernel& kernel, RegionId body) {
  std::vector<ValueId> written;
  each_op(kernel, body, [&](OpId id) {
    const Op& op = kernel.op(id);
    if (auto* store = op.get<op::ElementStore>()) written.push_back(store->buffer);
    if (auto* atomic = op.get<op::Atomic>()) written.push_back(atomic->buffer);
  });
  return has(kernel, body, [&](const Op& op) {
    auto* load = op.get<op::ElementLoad>();
    return load && std::ranges::any_of(written, [&](ValueId buffer) { return may_overlap(kernel, buffer, load->buffer); });
  });
}

}  // namespace tilec::lower
