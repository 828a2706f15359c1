#include "passes/fills.h"

#include <set>

#include "ir/sources.h"
#include "passes/effects.h"
#include "passes/touches.h"
#include "passes/uses.h"

namespace tilec::passes {

using namespace ir;

std::vector<Fill> Fills::find() const {
  std::vector<Fill> found;
  for (OpId id : kernel_.region(region_).ops)
    if (const op::Copy* copy = kernel_.op(id).get<op::Copy>(); copy && may_run_ahead(id, *copy)) found.push_back({id, copy->dst});
  return found;
}

bool Fills::is_inside(ValueId v) const {
  const Value& value = kernel_.value(v);
  if (value.region.valid()) return value.region == region_ && region_ != launch_;
  return std::ranges::find(kernel_.region(region_).ops, value.op) != kernel_.region(region_).ops.end();
}

bool Fills::may_run_ahead(OpId id, const op::Copy& copy) const {
  bool is_filled_with_zeros = copy.pad.is_float ? copy.pad.f == 0 : copy.pad.i == 0;
  if (!is_filled_with_zeros || kernel_.type(copy.src).element != kernel_.type(copy.dst).element) return false;
  if (!kernel_.param_of(copy.src) || !kernel_.defined_by<op::Alloc>(copy.dst)) return false;
  return fills_all(copy) && is_known_ahead(copy.src_offsets) && !is_written(copy.src) && is_handed_over(id, copy.dst);
}

// A shared tile as a whole, its axes in order.
bool Fills::fills_all(const op::Copy& copy) const {
  const Type& type = kernel_.type(copy.dst);
  if (type.space != Space::Shared || copy.shape != type.shape) return false;
  for (size_t d = 0; d < copy.dst_offsets.size(); ++d) {
    auto offset = kernel_.constant(copy.dst_offsets[d]);
    if (!offset || offset->i != 0 || copy.dst_axes[d] != int64_t(d)) return false;
  }
  return true;
}

bool Fills::is_written(ValueId source) const {
  bool found = false;
  each_op(kernel_, launch_, [&](OpId id) {
    for (const MemoryTouch& touch : touches_of(kernel_, id)) found |= touch.writes && may_overlap(kernel_, touch.buffer, source);
  });
  return found;
}

// Do the values depend on the index alone, by arithmetic?
bool Fills::is_known_ahead(const std::vector<ValueId>& values) const {
  bool is_known = true;
  std::set<ValueId> seen;
  auto is_arithmetic = [&](ValueId v) { return kernel_.definition(v) && is_pure(*kernel_.definition(v)); };
  for (ValueId v : values)
    each_source(kernel_, v, seen, [&](ValueId x) { is_known = is_known && (x == index_ || !is_inside(x) || is_arithmetic(x)); });
  return is_known;
}

// Nobody but the copy writes it, and it is read behind the copy, in the same round of the region, and nowhere else.
bool Fills::is_handed_over(OpId copy, ValueId buffer) const {
  std::set<OpId> behind;
  bool is_behind = false, ok = true;
  for (OpId id : kernel_.region(region_).ops) {
    if (is_behind) {
      behind.insert(id);
      each_region(kernel_.op(id).data, [&](RegionId r) { each_op(kernel_, r, [&](OpId inner) { behind.insert(inner); }); });
    }
    is_behind |= id == copy;
  }
  each_op(kernel_, launch_, [&](OpId id) {
    if (id == copy) return;
    each_operand(kernel_.op(id).data, [&](ValueId used) { ok &= used != buffer || behind.contains(id); });
    for (const MemoryTouch& touch : touches_of(kernel_, id)) ok &= !touch.writes || touch.buffer != buffer;
  });
  return ok;
}

OpId first_user(const Kernel& kernel, RegionId region, ValueId buffer, OpId but) {
  for (OpId id : kernel.region(region).ops)
    if (id != but && uses(kernel, id, buffer)) return id;
  return {};
}

OpId last_user(const Kernel& kernel, RegionId region, ValueId buffer, OpId but) {
  OpId last;
  for (OpId id : kernel.region(region).ops)
    if (id != but && uses(kernel, id, buffer)) last = id;
  return last;
}

}  // namespace tilec::passes
