#include "passes/corners.h"

#include <algorithm>

#include "passes/effects.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kMostFactor = int64_t(1) << 31;  // of an index: two of them multiply within 64 bits

bool is_small(int64_t x) { return -kMostFactor <= x && x <= kMostFactor; }
bool is_zero(int64_t x) { return x == 0; }

}  // namespace

Corners::Corners(const Kernel& kernel, const op::Map& map) : kernel_(kernel), shape_(map.shape) {
  const std::vector<ValueId>& args = kernel.region(map.body).args;
  indices_.assign(args.begin(), args.begin() + int64_t(shape_.size()));
  inside_.insert(args.begin(), args.end());
  each_op(kernel, map.body, [&](OpId id) { inside_.insert(kernel.op(id).results.begin(), kernel.op(id).results.end()); });
  for (OpId id : kernel.region(map.body).ops) always_.insert(kernel.op(id).results.begin(), kernel.op(id).results.end());
}

// How a number moves with each index; none where it does not do so evenly, or is made of elements.
std::optional<Corners::Factors> Corners::factors(ValueId v) const {
  Factors none(shape_.size(), 0);
  if (is_outside(v) || kernel_.constant(v)) return none;
  if (auto index = std::ranges::find(indices_, v); index != indices_.end()) {
    none[size_t(index - indices_.begin())] = 1;
    return none;
  }
  const op::Binary* binary = kernel_.defined_by<op::Binary>(v);
  if (!binary || !always_.contains(v) || kernel_.type(v).element != Scalar::Index || !may_be_hoisted(kernel_, *kernel_.definition(v)) || is_guarded(*kernel_.definition(v)))
    return std::nullopt;
  return factors(*binary);
}

std::optional<Corners::Factors> Corners::factors(const op::Binary& o) const {
  auto a = factors(o.a), b = factors(o.b);
  if (!a || !b) return std::nullopt;
  bool is_sum = o.fn == BinaryFn::Add || o.fn == BinaryFn::Sub, is_fixed = std::ranges::all_of(*a, is_zero) && std::ranges::all_of(*b, is_zero);
  int64_t of_a = 1, of_b = o.fn == BinaryFn::Sub ? -1 : 1;
  if (o.fn == BinaryFn::Mul && !is_fixed) {
    auto ca = kernel_.constant(o.a), cb = kernel_.constant(o.b);
    if ((!ca && !cb) || !is_small((ca ? ca : cb)->i)) return std::nullopt;
    of_a = cb ? cb->i : 0, of_b = cb ? 0 : ca->i;
  } else if (!is_sum && !is_fixed) {
    return std::nullopt;
  }
  for (size_t axis = 0; axis < a->size(); ++axis) {
    (*a)[axis] = (*a)[axis] * of_a + (*b)[axis] * of_b;
    if (!is_small((*a)[axis])) return std::nullopt;
  }
  return a;
}

bool Corners::depends_on_place(ValueId v) const {
  if (is_outside(v)) return false;
  if (std::ranges::find(indices_, v) != indices_.end()) return true;
  bool found = false;
  if (const Op* op = kernel_.definition(v)) each_operand(op->data, [&](ValueId operand) { found = found || depends_on_place(operand); });
  return found;
}

ValueId Corners::holds(Builder& b, ValueId v, bool says) const {
  if (auto constant = kernel_.constant(v)) return b.boolean((constant->i != 0) == says);
  if (is_outside(v)) return says ? v : b.logical_not(v);
  if (const auto* o = kernel_.defined_by<op::Compare>(v)) return compare(b, *o, says);
  if (const auto* o = kernel_.defined_by<op::Binary>(v)) return both(b, *o, says);
  const auto* o = kernel_.defined_by<op::Unary>(v);
  return o && o->fn == UnaryFn::Not ? holds(b, o->x, !says) : ValueId{};
}

// Of `and` that is true, and of `or` that is false, both operands have to be known, else either does.
ValueId Corners::both(Builder& b, const op::Binary& o, bool says) const {
  if (o.fn != BinaryFn::And && o.fn != BinaryFn::Or) return {};
  ValueId first = holds(b, o.a, says), second = holds(b, o.b, says);
  bool needs_both = (o.fn == BinaryFn::And) == says;
  if (first.valid() && second.valid()) return b.binary(needs_both ? BinaryFn::And : BinaryFn::Or, first, second);
  return needs_both ? ValueId{} : first.valid() ? first : second;
}

ValueId Corners::compare(Builder& b, const op::Compare& o, bool says) const {
  bool is_below = o.fn == CompareFn::Lt || o.fn == CompareFn::Le, is_above = o.fn == CompareFn::Gt || o.fn == CompareFn::Ge;
  if ((!is_below && !is_above) || kernel_.type(o.a).element != Scalar::Index) return {};
  auto low = factors(o.a), high = factors(o.b);
  if (!low || !high) return {};
  bool worst_is_most = is_below == says;  // of the difference of its sides
  std::vector<int64_t> corner;
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    int64_t factor = (*low)[axis] - (*high)[axis];
    corner.push_back((factor > 0) == worst_is_most ? shape_[axis] - 1 : 0);
  }
  ValueId there = b.compare(o.fn, at(b, o.a, corner), at(b, o.b, corner));
  return says ? there : b.logical_not(there);
}

// A number of the body at one index.
ValueId Corners::at(Builder& b, ValueId v, const std::vector<int64_t>& corner) const {
  if (auto constant = kernel_.constant(v)) return b.index(constant->i);
  if (is_outside(v)) return v;
  if (auto index = std::ranges::find(indices_, v); index != indices_.end()) return b.index(corner[size_t(index - indices_.begin())]);
  const op::Binary o = *kernel_.defined_by<op::Binary>(v);
  ValueId x = at(b, o.a, corner), y = at(b, o.b, corner);
  return b.binary(o.fn, x, y);
}

}  // namespace tilec::passes
