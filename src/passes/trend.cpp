#include "passes/trend.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int kMostTerms = 64;

Trend opposite(Trend t) { return t == Trend::Rises ? Trend::Falls : t == Trend::Falls ? Trend::Rises : t; }
Trend both(Trend a, Trend b) { return a == Trend::Stays || a == b ? b : b == Trend::Stays ? a : Trend::Unknown; }

struct Walk {
  const Kernel& kernel;
  ValueId index;
  int terms = 0;

  Trend of(ValueId v) {
    if (v == index) return Trend::Rises;
    if (++terms > kMostTerms) return Trend::Unknown;
    const Op* op = kernel.definition(v);
    if (!op) return is_of_the_body(v) ? Trend::Stays : Trend::Unknown;
    if (const auto* b = op->get<op::Binary>()) return of(*b);
    if (const auto* s = op->get<op::Select>()) return of(s->condition) == Trend::Stays ? both(of(s->a), of(s->b)) : Trend::Unknown;
    bool has_known_operands = op->is<op::Constant>() || op->is<op::Extent>() || op->is<op::Stride>() || op->is<op::Compare>() || op->is<op::Convert>();
    if (!has_known_operands) return Trend::Unknown;
    // Of these, only what does not move is known.
    Trend all = Trend::Stays;
    each_operand(op->data, [&](ValueId x) {
      if (!kernel.type(x).is_buffer()) all = both(all, of(x));
    });
    return all == Trend::Stays ? all : Trend::Unknown;
  }

  Trend of(const op::Binary& b) {
    Trend left = of(b.a), right = of(b.b);
    auto factor = kernel.constant(b.b);
    switch (b.fn) {
      case BinaryFn::Add: case BinaryFn::Min: case BinaryFn::Max: return both(left, right);
      case BinaryFn::Sub: return both(left, opposite(right));
      case BinaryFn::Div: case BinaryFn::Mul:
        if (left == Trend::Stays && right == Trend::Stays) return left;
        return factor && factor->i > 0 ? left : Trend::Unknown;
      default: return left == Trend::Stays && right == Trend::Stays ? left : Trend::Unknown;
    }
  }

  // Dims, scalars, and the other indices of the block.
  bool is_of_the_body(ValueId v) const {
    RegionId region = kernel.value(v).region;
    return region == kernel.body || region == kernel.value(index).region;
  }
};

}  // namespace

Trend trend_of(const Kernel& kernel, ValueId number, ValueId index) { return Walk{kernel, index}.of(number); }

}  // namespace tilec::passes
