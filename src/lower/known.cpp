// What is known of numbers that have been lowered, from the operations that made them.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

// How an index moves from lane to lane, read off the operations that made it.
int64_t Lowering::derive_lane_stride(ValueId index) const {
  const ir::Op* op = target_.definition(index);
  if (!op) return ir::kUnknownStride;
  if (op->is<ir::op::LaneIndex>() || op->is<ir::op::ThreadIndex>()) return 1;
  if (auto* convert = op->get<ir::op::Convert>()) return is_varying(convert->x) ? lane_stride(convert->x) : 0;
  const ir::op::Binary* binary = op->get<ir::op::Binary>();
  if (!binary) return ir::kUnknownStride;
  int64_t a = lane_stride(binary->a), b = lane_stride(binary->b);
  if (a == ir::kUnknownStride || b == ir::kUnknownStride) return ir::kUnknownStride;
  switch (binary->fn) {
    case BinaryFn::Add: return a <= INT64_MAX - b ? a + b : ir::kUnknownStride;
    case BinaryFn::Sub: return a >= b ? a - b : ir::kUnknownStride;
    case BinaryFn::Mul: {
      if (a == 0 && b == 0) return 0;
      auto factor = target_.constant(b == 0 ? binary->b : binary->a);
      int64_t product;
      bool is_known = factor && factor->i >= 0 && (a == 0 || b == 0) && !__builtin_mul_overflow(a + b, factor->i, &product);
      return is_known ? product : ir::kUnknownStride;
    }
    default: return ir::kUnknownStride;
  }
}

int64_t Lowering::known(Property property, ValueId v, int64_t number) const {
  std::tuple key{property, v.index, number};
  if (auto found = known_.find(key); found != known_.end()) return found->second;
  int64_t derived = 0;
  switch (property) {
    case Property::Nonnegative: derived = derive_nonnegative(v); break;
    case Property::Below: derived = derive_below(v, number); break;
    case Property::Multiple: derived = derive_multiple(v, number); break;
    case Property::LaneStride: derived = derive_lane_stride(v); break;
  }
  known_.emplace(key, derived);
  return derived;
}

int64_t Lowering::lane_stride(ValueId index) const { return is_varying(index) ? known(Property::LaneStride, index) : 0; }

bool Lowering::is_nonnegative(ValueId v) const { return known(Property::Nonnegative, v) != 0; }

bool Lowering::is_below(ValueId v, int64_t limit) const { return known(Property::Below, v, limit) != 0; }

bool Lowering::is_multiple(ValueId v, int64_t unit) const { return known(Property::Multiple, v, unit) != 0; }

bool Lowering::derive_nonnegative(ValueId v) const {
  if (auto c = target_.constant(v)) return c->i >= 0 && c->i <= INT32_MAX;
  const ir::Op* op = target_.definition(v);
  if (!op) {
    // An extent (the host checks them), a launch index, or the index of a loop that starts at or above zero. A stride may be negative.
    RegionId region = target_.value(v).region;
    auto is_it = [&](ValueId extent) { return !source_.definition(extent) && scalar(extent) == v; };
    auto names = [&](const ir::Param& p) { return std::any_of(p.extents.begin(), p.extents.end(), is_it); };
    if (region == target_.body) return std::any_of(source_.params.begin(), source_.params.end(), names);
    return !signed_args_.contains(v.index);
  }
  if (op->is<ir::op::LaneIndex>() || op->is<ir::op::ThreadIndex>() || op->is<ir::op::WarpIndex>() || op->is<ir::op::Extent>()) return true;
  if (auto* convert = op->get<ir::op::Convert>()) return target_.type(convert->x).element == Scalar::Index && is_nonnegative(convert->x);
  if (auto* s = op->get<ir::op::Select>()) return is_nonnegative(s->a) && is_nonnegative(s->b);
  const ir::op::Binary* b = op->get<ir::op::Binary>();
  if (!b) return false;
  switch (b->fn) {
    case BinaryFn::Add: case BinaryFn::Mul: case BinaryFn::Div: case BinaryFn::Min: case BinaryFn::Shr: case BinaryFn::Xor:
      return is_nonnegative(b->a) && is_nonnegative(b->b);
    case BinaryFn::Max: return is_nonnegative(b->a) && is_nonnegative(b->b);
    case BinaryFn::And: return is_nonnegative(b->a) || is_nonnegative(b->b);
    case BinaryFn::Rem: return is_nonnegative(b->b);
    default: return false;
  }
}

// Known to be less than `limit`.
bool Lowering::derive_below(ValueId v, int64_t limit) const {
  if (auto c = target_.constant(v)) return c->i < limit;
  const ir::Op* op = target_.definition(v);
  if (op && op->is<ir::op::LaneIndex>()) return machine_.lanes <= limit;
  const ir::op::Binary* b = op ? op->get<ir::op::Binary>() : nullptr;
  return b && b->fn == BinaryFn::And && (is_below(b->a, limit) || is_below(b->b, limit)) && is_nonnegative(b->a) && is_nonnegative(b->b);
}

// A known multiple of `unit`, a power of two.
bool Lowering::derive_multiple(ValueId v, int64_t unit) const {
  if (unit == 1) return true;
  if (auto c = target_.constant(v)) return c->i % unit == 0;
  const ir::op::Binary* b = target_.defined_by<ir::op::Binary>(v);
  if (!b) return unit == 1;
  if (b->fn == BinaryFn::Add || b->fn == BinaryFn::Sub) return is_multiple(b->a, unit) && is_multiple(b->b, unit);
  if (b->fn != BinaryFn::Mul) return unit == 1;
  for (ValueId factor : {b->a, b->b}) {
    auto c = target_.constant(factor);
    if (c && c->i != 0) {
      int64_t twos = c->i & -c->i;
      if (twos >= unit) return true;
      return is_multiple(factor == b->a ? b->b : b->a, unit / twos);
    }
  }
  return is_multiple(b->a, unit) || is_multiple(b->b, unit);
}

}  // namespace tilec::lower
