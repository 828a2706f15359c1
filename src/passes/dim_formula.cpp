#include "passes/dim_formula.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int kMostTerms = 64;
constexpr double kFew = 8;

// What is divided in x / n + (x % n + n - 1) / n, which is x / n, rounded up, where x + n - 1 may leave 64 bits.
std::optional<std::pair<ValueId, int64_t>> rounded_up(const Kernel& kernel, const op::Binary& b) {
  auto *whole = kernel.defined_by<op::Binary>(b.a), *last = kernel.defined_by<op::Binary>(b.b);
  if (b.fn != BinaryFn::Add || !whole || !last || whole->fn != BinaryFn::Div || last->fn != BinaryFn::Div) return std::nullopt;
  auto *sum = kernel.defined_by<op::Binary>(last->a), *rest = sum ? kernel.defined_by<op::Binary>(sum->a) : nullptr;
  auto divisor = kernel.constant(whole->b);
  bool is_known = rest && rest->fn == BinaryFn::Rem && rest->a == whole->a && divisor && divisor->i > 0;
  return is_known ? std::optional(std::pair(whole->a, divisor->i)) : std::nullopt;
}

}  // namespace

Formula DimFormula::walk(ValueId v) {
  if (auto known = kernel_.constant(v)) return double(known->i);
  for (size_t i = 0; i < kernel_.dims.size(); ++i)
    if (kernel_.dims[i].value == v) return Formula::dim(i);
  for (size_t i = 0; i < kernel_.params.size(); ++i)
    if (kernel_.params[i].value == v && is_integer(kernel_.type(v).element) && !kernel_.type(v).is_buffer()) return Formula::param(i);
  const Op* op = kernel_.definition(v);
  if (!op) return argument(v);
  if (++terms_ > kMostTerms) return kFew;
  if (const auto* b = op->get<op::Binary>()) return binary(*b);
  if (const auto* c = op->get<op::Convert>()) return walk(c->x);
  if (const auto* s = op->get<op::Select>()) return max(walk(s->a), walk(s->b));
  if (const auto* e = op->get<op::Extent>())
    if (const Param* param = kernel_.param_of(e->buffer)) return walk(param->extents[size_t(e->axis)]);
  return kFew;
}

bool DimFormula::is_read(ValueId v) const {
  const Op* op = kernel_.definition(v);
  if (!op) return false;
  if (const auto* c = op->get<op::Convert>()) return is_read(c->x);
  const auto* b = op->get<op::Binary>();
  if (b && b->fn == BinaryFn::Max) return (is_read(b->a) && kernel_.constant(b->b)) || (is_read(b->b) && kernel_.constant(b->a));
  return op->is<op::ElementLoad>();
}

Formula DimFormula::argument(ValueId v) {
  const std::vector<ValueId>& indices = kernel_.region(launch_.body).args;
  for (size_t axis = 0; axis < indices.size(); ++axis)
    if (indices[axis] == v) return (walk(launch_.extents[axis]) - 1.0) / 2.0;
  return kFew;
}

Formula DimFormula::binary(const op::Binary& b) {
  if (auto up = rounded_up(kernel_, b)) return ceil(walk(up->first) / double(up->second));
  auto divisor = kernel_.constant(b.b);
  if (b.fn == BinaryFn::Div && divisor && divisor->i > 0) {
    // (x + n - 1) / n is x / n, rounded up.
    const op::Binary* sum = kernel_.defined_by<op::Binary>(b.a);
    auto added = sum && sum->fn == BinaryFn::Add ? kernel_.constant(sum->b) : std::nullopt;
    if (added && added->i == divisor->i - 1) return ceil(walk(sum->a) / double(divisor->i));
    return floor(walk(b.a) / double(divisor->i));
  }
  auto* whole = kernel_.defined_by<op::Binary>(b.a);
  if (b.fn == BinaryFn::Add && whole && whole->fn == BinaryFn::Div && kernel_.defined_by<op::Select>(b.b)) return kFew;  // rounded up
  switch (b.fn) {
    case BinaryFn::Add: return walk(b.a) + walk(b.b);
    case BinaryFn::Sub: return walk(b.a) - walk(b.b);
    case BinaryFn::Mul: return walk(b.a) * walk(b.b);
    case BinaryFn::Min: return is_read(b.a) ? walk(b.b) : is_read(b.b) ? walk(b.a) : min(walk(b.a), walk(b.b));
    case BinaryFn::Max: return max(walk(b.a), walk(b.b));
    default: return kFew;
  }
}

}  // namespace tilec::passes
