#include "prove/growth.h"

#include <set>

namespace tilec::prove {

using namespace ir;

namespace {

constexpr int64_t kSmall = int64_t(1) << 12, kFirst = int64_t(1) << 60;
constexpr size_t kMostValues = 200;

bool is_loop(const Op& op) { return op.is<op::For>() || op.is<op::While>(); }
bool is_within(const Number& number, int64_t reach) { return number.i >= -reach && number.i <= reach; }

// Walks back over what makes a number. A value that it meets again is taken for slow: every way round passes sums only, and
// their number is what the law of turns bounds.
struct Walk {
  Reader& reader;
  const Kernel& kernel;
  OpId outermost;  // the loop around all that is not known yet; what stands outside of it can be read
  std::set<ValueId> seen = {};

  bool is_small(ValueId v) const {
    const Op* op = kernel.definition(v);
    if (!op) return false;
    if (auto* c = op->get<op::Constant>()) return is_within(c->number, kSmall);
    if (auto* c = op->get<op::Convert>()) {
      Scalar from = kernel.type(c->x).element;
      return from == Scalar::Bool || (is_integer(from) && bit_width(from) <= 8);
    }
    if (auto* b = op->get<op::Binary>(); b && b->fn == BinaryFn::Rem) return kernel.constant(b->b) && is_within(*kernel.constant(b->b), kSmall);
    return op->is<op::ThreadIndex>() || op->is<op::LaneIndex>() || op->is<op::WarpIndex>();
  }

  bool is_slow(ValueId v) {
    if (!seen.insert(v).second) return true;
    if (seen.size() > kMostValues) return false;
    if (!is_inside(v)) return is_bounded(v);
    const Op* op = kernel.definition(v);
    return op ? is_made_slowly(v, *op) : is_passed_slowly(v);
  }

  bool is_inside(ValueId v) const {
    if (kernel.value(v).op == outermost) return true;
    for (RegionId r = reader.region_of(v); r.valid(); r = reader.place_of(r).region)
      if (reader.place_of(r).op == outermost) return true;
    return false;
  }

  bool is_bounded(ValueId v) {
    Interval range = reader.terms().range(reader.value(v));
    return range.low >= -kFirst && range.high <= kFirst;
  }

  bool is_made_slowly(ValueId v, const Op& op) {
    if (auto* c = op.get<op::Constant>()) return is_within(c->number, kFirst);
    if (auto* b = op.get<op::Binary>()) return is_sum_slow(*b);
    if (auto* s = op.get<op::Select>()) return is_slow(s->a) && is_slow(s->b);
    if (auto* c = op.get<op::Convert>())
      return is_integer(kernel.type(c->x).element) && c->mode == ConvertMode::Nearest && bit_width(kernel.type(c->x).element) <= 32;
    if (auto* branch = op.get<op::If>()) return is_result_slow(v, op, {branch->then_body, branch->else_body}, 0);
    if (auto* loop = op.get<op::For>()) return is_slow(loop->inits[index_in(op.results, v)]) && is_result_slow(v, op, {loop->body}, 0);
    if (auto* loop = op.get<op::While>()) return is_result_slow(v, op, {loop->condition}, 1);  // behind the bool
    return is_small(v) || op.is<op::Extent>();
  }

  bool is_sum_slow(const op::Binary& b) {
    switch (b.fn) {
      case BinaryFn::Add: return (is_small(b.b) && is_slow(b.a)) || (is_small(b.a) && is_slow(b.b));
      case BinaryFn::Sub: return is_small(b.b) && is_slow(b.a);
      case BinaryFn::Div: case BinaryFn::Shr: return is_slow(b.a);
      case BinaryFn::Rem: return is_slow(b.b);
      case BinaryFn::Min: case BinaryFn::Max: return is_slow(b.a) && is_slow(b.b);
      default: return false;
    }
  }

  // An argument of a region: an index between two ends, or what a loop carries.
  bool is_passed_slowly(ValueId v) {
    RegionId region = kernel.value(v).region;
    OpId parent = reader.place_of(region).op;
    if (!parent.valid()) return false;
    const Op& op = kernel.op(parent);
    size_t index = index_in(kernel.region(region).args, v);
    if (auto* loop = op.get<op::For>()) {
      if (index == 0) return is_slow(loop->low) && is_slow(loop->high);
      return is_slow(loop->inits[index - 1]) && is_slow(yields(loop->body)[index - 1]);
    }
    if (auto* loop = op.get<op::While>()) {
      ValueId next = region == loop->body ? yields(loop->condition)[index + 1] : yields(loop->body)[index];
      return is_slow(loop->inits[index]) && is_slow(next);
    }
    return op.is<op::Simt>() || op.is<op::Map>() || op.is<op::Launch>();
  }

  bool is_result_slow(ValueId v, const Op& op, std::initializer_list<RegionId> regions, size_t first) {
    size_t index = index_in(op.results, v) + first;
    return std::all_of(regions.begin(), regions.end(), [&](RegionId r) { return r.valid() && is_slow(yields(r)[index]); });
  }

  const std::vector<ValueId>& yields(RegionId region) const { return kernel.terminator(region).as<op::Yield>().values; }
  static size_t index_in(const std::vector<ValueId>& all, ValueId v) { return size_t(std::find(all.begin(), all.end(), v) - all.begin()); }
};

}  // namespace

bool is_slow(Reader& reader, ValueId v) {
  const Kernel& kernel = reader.kernel();
  if (kernel.type(v).element != Scalar::Index) return false;
  // An inner loop may carry on what one around it began.
  OpId outermost = kernel.value(v).op;
  for (RegionId r = reader.region_of(v); r.valid(); r = reader.place_of(r).region)
    if (OpId holder = reader.place_of(r).op; holder.valid() && is_loop(kernel.op(holder))) outermost = holder;
  return outermost.valid() && Walk{reader, kernel, outermost}.is_slow(v);
}

}  // namespace tilec::prove
