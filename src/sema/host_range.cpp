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

constexpr int kAny = 64;

int magnitude(const Kernel& kernel, const Magnitudes& near, ValueId v, int depth);

int magnitude(const Kernel& kernel, const Magnitudes& near, const op::Binary& binary, int depth) {
  const int a = magnitude(kernel, near, binary.a, depth), b = magnitude(kernel, near, binary.b, depth);
  switch (binary.fn) {
    case BinaryFn::Add: case BinaryFn::Sub: return std::max(a, b) + 1;
    case BinaryFn::Mul: return a + b;
    case BinaryFn::Div: {
      auto by = kernel.constant(binary.b);
      return by && by->i > 0 ? std::max(a + 1 - int(std::bit_width(uint64_t(by->i))), 1) : a;
    }
    case BinaryFn::Shr: return a;
    case BinaryFn::Rem: return b;
    case BinaryFn::Shl: {
      auto by = kernel.constant(binary.b);
      return by && by->i >= 0 && by->i < kAny ? a + int(by->i) : kAny;
    }
    default: return std::max(a, b);
  }
}

int magnitude(const Kernel& kernel, const Magnitudes& near, ValueId v, int depth) {
  if (depth == 0) return kAny;
  auto of = [&](ValueId operand) { return magnitude(kernel, near, operand, depth - 1); };
  const Op* op = kernel.definition(v);
  if (!op) {
    auto at = near.find(v);
    return at != near.end() ? at->second : is_near_dim(kernel, v) ? kNearBits : kAny;
  }
  if (auto* convert = op->get<op::Convert>()) {
    Scalar from = kernel.type(convert->x).element;
    return from == Scalar::Index ? of(convert->x) : is_integer(from) ? std::min(bit_width(from), kAny) : kAny;
  }
  if (auto* branch = op->get<op::If>()) {
    size_t index = size_t(std::ranges::find(op->results, v) - op->results.begin());
    return std::max(of(kernel.terminator(branch->then_body).as<op::Yield>().values[index]), of(kernel.terminator(branch->else_body).as<op::Yield>().values[index]));
  }
  if (auto* c = op->get<op::Constant>()) return c->number.i == INT64_MIN ? kAny : int(std::bit_width(uint64_t(std::abs(c->number.i))));
  if (auto* choice = op->get<op::Select>()) return std::max(of(choice->a), of(choice->b));
  if (auto* unary = op->get<op::Unary>()) return of(unary->x);
  if (auto* binary = op->get<op::Binary>()) return std::min(magnitude(kernel, near, *binary, depth - 1), kAny);
  const bool is_index = op->is<op::Extent>() || op->is<op::LaneIndex>() || op->is<op::WarpIndex>() || op->is<op::ThreadIndex>();
  return is_index || kernel.type(v).element != Scalar::Index ? kNearBits : kAny;
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

int magnitude(const Kernel& kernel, const Magnitudes& near, ValueId v) { return magnitude(kernel, near, v, kDeepestFar); }
int magnitude(const Kernel& kernel, const Magnitudes& near, const op::Binary& binary) { return magnitude(kernel, near, binary, kDeepestFar - 1); }

prove::Interval range_of(const Kernel& kernel, ValueId v) { return range_of(kernel, v, kDeepest); }
bool is_never_negative(const Kernel& kernel, ValueId v) { return range_of(kernel, v).low >= 0; }

bool may_fail_on_host(const Kernel& kernel, const Op& op) {
  auto range = [&](ValueId v) { return range_of(kernel, v); };
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
