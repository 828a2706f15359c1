#include "sema/host_range.h"

#include <algorithm>

#include "prove/reader.h"

namespace tilec::sema {

using namespace ir;
using prove::Interval;

namespace {

constexpr int kDeepest = 16, kDeepestFar = 9;

Interval range_of(const Kernel& kernel, ValueId v, int depth);

// Of an `int`, exact.
Interval range_of(const Kernel& kernel, const op::Binary& binary, int depth) {
  Interval a = range_of(kernel, binary.a, depth), b = range_of(kernel, binary.b, depth);
  switch (binary.fn) {
    case BinaryFn::Add: return a + b;
    case BinaryFn::Sub: return a + b * Interval{-1, -1};
    case BinaryFn::Mul: return a * b;
    case BinaryFn::Shl: return prove::shifted_left(a, b);
    case BinaryFn::Div: return b.is_point() && b.low > 0 ? prove::floor_divide(a, b.low) : Interval{};
    case BinaryFn::Rem: return b.is_point() && b.low > 0 ? Interval{0, b.low - 1} : Interval{};
    case BinaryFn::Min: case BinaryFn::Minimum: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case BinaryFn::Max: case BinaryFn::Maximum: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default: return {};
  }
}

bool is_extent(const Kernel& kernel, ValueId v) {
  return std::ranges::any_of(kernel.params, [v](const Param& p) { return std::ranges::find(p.extents, v) != p.extents.end(); });
}

// A dim that is a stride alone may be any `int`; what no parameter so far names is taken for an extent of a later one.
bool is_near_dim(const Kernel& kernel, ValueId v) {
  bool is_dim = std::ranges::any_of(kernel.dims, [v](const Dim& dim) { return dim.value == v; });
  bool is_stride = std::ranges::any_of(kernel.params, [v](const Param& p) { return std::ranges::find(p.strides, v) != p.strides.end(); });
  return is_dim && (!is_stride || is_extent(kernel, v));
}

bool is_far(const Kernel& kernel, const std::set<ValueId>& near, ValueId v, int depth) {
  if (depth == 0) return true;
  const Op* op = kernel.definition(v);
  if (!op) return !near.contains(v) && !is_near_dim(kernel, v);
  if (auto* convert = op->get<op::Convert>()) {
    Scalar from = kernel.type(convert->x).element;
    return from == Scalar::Index ? is_far(kernel, near, convert->x, depth - 1) : !is_integer(from) || bit_width(from) == 64;
  }
  if (auto* branch = op->get<op::If>()) {
    size_t index = size_t(std::ranges::find(op->results, v) - op->results.begin());
    for (RegionId side : {branch->then_body, branch->else_body})
      if (is_far(kernel, near, kernel.terminator(side).as<op::Yield>().values[index], depth - 1)) return true;
    return false;
  }
  if (op->is<op::Constant>() || op->is<op::Extent>() || op->is<op::LaneIndex>() || op->is<op::WarpIndex>() || op->is<op::ThreadIndex>()) return false;
  if (!op->is<op::Binary>() && !op->is<op::Unary>() && !op->is<op::Select>()) return kernel.type(v).element == Scalar::Index;
  bool found = false;
  each_operand(op->data, [&](ValueId operand) { found = found || is_far(kernel, near, operand, depth - 1); });
  return found;
}

Interval range_of(const Kernel& kernel, ValueId v, int depth) {
  Scalar type = kernel.type(v).element;
  uint64_t most = integer_max(type);
  Interval all{integer_min(type), most > uint64_t(prove::kPlusInfinity) ? prove::kPlusInfinity : int64_t(most)};
  const Op* op = kernel.definition(v);
  if (!op) return is_extent(kernel, v) ? Interval{0, prove::kLargestExtent} : all;
  if (depth == 0) return all;
  if (auto* c = op->get<op::Constant>()) return type == Scalar::U64 && c->number.i < 0 ? all : Interval{c->number.i, c->number.i};
  if (auto* c = op->get<op::Convert>()) return is_integer(kernel.type(c->x).element) && c->mode == ConvertMode::Nearest ? prove::intersection(all, range_of(kernel, c->x, depth - 1)) : all;
  if (auto* s = op->get<op::Select>()) return prove::hull(range_of(kernel, s->a, depth - 1), range_of(kernel, s->b, depth - 1));
  if (op->is<op::Extent>()) return {0, prove::kLargestExtent};
  if (auto* b = op->get<op::Binary>(); b && type == Scalar::Index) return range_of(kernel, *b, depth - 1);
  return all;
}

}  // namespace

bool is_far(const Kernel& kernel, const std::set<ValueId>& near, ValueId v) { return is_far(kernel, near, v, kDeepestFar); }

bool is_never_negative(const Kernel& kernel, ValueId v) { return range_of(kernel, v, kDeepest).low >= 0; }

bool may_fail_on_host(const Kernel& kernel, const Op& op) {
  auto range = [&](ValueId v) { return range_of(kernel, v, kDeepest); };
  if (auto* u = op.get<op::Unary>())
    return kernel.type(u->x).element == Scalar::Index && (u->fn == UnaryFn::Neg || u->fn == UnaryFn::Abs) && range(u->x).low == prove::kMinusInfinity;
  auto* b = op.get<op::Binary>();
  Scalar type = b ? kernel.type(b->a).element : Scalar::Bool;
  if (!is_integer(type)) return false;
  switch (b->fn) {
    case BinaryFn::Div: case BinaryFn::Rem: {
      Interval divisor = range(b->b);
      return divisor.holds(0) || (b->fn == BinaryFn::Div && type == Scalar::Index && divisor.holds(-1) && range(b->a).low == prove::kMinusInfinity);
    }
    case BinaryFn::Add: case BinaryFn::Sub: case BinaryFn::Mul: case BinaryFn::Shl:
      return type == Scalar::Index && !range_of(kernel, *b, kDeepest).is_bounded();
    default: return false;
  }
}

}  // namespace tilec::sema
