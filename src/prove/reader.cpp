#include "prove/reader.h"

#include <bit>

#include "prove/growth.h"

namespace tilec::prove {

using namespace ir;

namespace {

constexpr int64_t kMostThreads = 1024;
// Beyond these a number or a condition may be any: chains of operations that are read from their end, one step on the stack
// each, and conditions that repeat those that they are made of.
constexpr int kMostSteps = 256, kMostLeaves = 256;

// One step along a chain.
class Deeper {
 public:
  explicit Deeper(int& steps) : steps_(steps) { ++steps_; }
  ~Deeper() { --steps_; }
  Deeper(const Deeper&) = delete;
  bool is_too_deep() const { return steps_ > kMostSteps; }

 private:
  int& steps_;
};

bool may_leave(BinaryFn fn) {
  return fn == BinaryFn::Add || fn == BinaryFn::Sub || fn == BinaryFn::Mul || fn == BinaryFn::Shl || fn == BinaryFn::Div;
}

bool is_integer_scalar(const Type& type) { return type.is_scalar() && is_integer(type.element); }

int64_t end_of(uint64_t x) { return x > uint64_t(INT64_MAX) ? kPlusInfinity : int64_t(x); }

// What `&`, `|` and `^` make of numbers that are not negative has no bit that neither of them may have.
Interval range_of_bits(BinaryFn fn, Interval a, Interval b) {
  if (a.low < 0 || b.low < 0) return {};
  if (fn == BinaryFn::And) return {0, std::min(a.high, b.high)};
  int64_t high = std::max(a.high, b.high);
  return {0, high == kPlusInfinity ? high : int64_t(std::bit_ceil(uint64_t(high) + 1) - 1)};
}

// Extents are checked before anything else is computed; what is a stride alone may be any `int`.
bool is_extent(const Kernel& kernel, ValueId v) {
  auto names = [v](const std::vector<ValueId>& values) { return std::find(values.begin(), values.end(), v) != values.end(); };
  bool is_dim = std::any_of(kernel.dims.begin(), kernel.dims.end(), [v](const Dim& d) { return d.value == v; });
  return is_dim && (std::any_of(kernel.params.begin(), kernel.params.end(), [&](const Param& p) { return names(p.extents); }) ||
                    std::none_of(kernel.params.begin(), kernel.params.end(), [&](const Param& p) { return names(p.strides); }));
}

std::string name_of(const Kernel& kernel, ValueId v) {
  const std::string& hint = kernel.value(v).hint;
  return hint.empty() ? "%" + std::to_string(v.index) : hint;
}

}  // namespace

Reader::Reader(const Kernel& kernel, const Reading& reading) : kernel_(kernel), reading_(reading), lanes_(reading.lanes) {
  parents_.resize(kernel.regions.size());
  op_regions_.resize(kernel.ops.size());
  index_regions(kernel.body);
  for (const Dim& dim : kernel.dims) value(dim.value);  // examples try them first
}

void Reader::index_regions(RegionId region) {
  for (OpId id : kernel_.region(region).ops) {
    op_regions_[id.index] = region;
    each_region(kernel_.op(id).data, [&](RegionId inner) {
      parents_[inner.index] = {id, region};
      index_regions(inner);
    });
  }
}

bool Reader::is_inside(ValueId v, RegionId boundary) const {
  RegionId region = region_of(v);
  while (region.valid() && region != boundary) region = parents_[region.index].region;
  return region.valid();
}

// What executions of the region may differ in. Numbers made of what stands outside are the same for all.
bool Reader::may_differ(ValueId v, RegionId boundary) {
  if (!is_inside(v, boundary)) return false;
  const Op* op = kernel_.definition(v);
  if (!op) return true;
  auto key = std::pair(v, boundary);
  if (auto known = may_differ_.find(key); known != may_differ_.end()) return known->second;
  bool is_pure = op->is<op::Constant>() || op->is<op::Unary>() || op->is<op::Binary>() || op->is<op::Compare>() ||
                 op->is<op::Select>() || op->is<op::Convert>() || op->is<op::Fma>() || op->is<op::Present>();
  bool found = !is_pure;
  if (is_pure) each_operand(op->data, [&](ValueId operand) { found = found || may_differ(operand, boundary); });
  return may_differ_[key] = found;
}

Interval Reader::type_range(ValueId v) const {
  const Type& type = kernel_.type(v);
  if (!is_integer_scalar(type)) return {};
  return {integer_min(type.element), end_of(integer_max(type.element))};
}

// Is an `int` of this range what the program computes?
bool Reader::is_exact(Interval range) const { return reading_.integers == Integers::Exact || range.is_bounded(); }

Linear Reader::variable(ValueId v, Interval range, bool is_free) {
  AtomId atom = terms_.variable(name_of(kernel_, v), range, is_free);
  sources_[atom] = v;
  return atom;
}

bool Reader::is_inside(AtomId atom, RegionId boundary) const {
  auto source = sources_.find(atom);
  return source != sources_.end() && is_inside(source->second, boundary);
}

void Reader::bind(ValueId v, Twin twin, const Linear& number) {
  if (kernel_.type(v).element == Scalar::Bool) conditions_[{v, twin.number}] = truth(number != Linear(0));
  else values_[{v, twin.number}] = number;
}

Linear Reader::value(ValueId v, Twin twin) {
  if (twin.number && !may_differ(v, twin.boundary)) twin = {};
  auto key = std::pair(v, twin.number);
  if (auto found = values_.find(key); found != values_.end()) return found->second;
  Deeper deeper(steps_);
  Linear result = deeper.is_too_deep() ? unknown(v) : read(v, twin);
  if (result.is_lost) result = unknown(v);
  return values_.emplace(key, std::move(result)).first->second;
}

Linear Reader::read(ValueId v, Twin twin) {
  if (!is_integer_scalar(kernel_.type(v))) return unknown(v);
  const Op* op = kernel_.definition(v);
  return op ? read_operation(v, *op, twin) : read_argument(v, twin);
}

Interval Reader::thread_range(RegionId region) const {
  for (; region.valid(); region = parents_[region.index].region) {
    OpId id = parents_[region.index].op;
    if (!id.valid()) break;
    auto* simt = kernel_.op(id).get<op::Simt>();
    auto* launch = kernel_.op(id).get<op::Launch>();
    int64_t threads = simt ? simt->threads : launch ? launch->threads : 0;
    if (threads) return {0, threads - 1};
  }
  return {0, kMostThreads - 1};
}

ValueId Reader::thread_around(RegionId region) const {
  for (; region.valid(); region = parents_[region.index].region) {
    OpId id = parents_[region.index].op;
    if (id.valid() && kernel_.op(id).is<op::Simt>()) return kernel_.region(region).args[0];
  }
  return {};
}

namespace {

constexpr int kMostJoined = 8;  // conditions joined by `and`, on one way

// What the condition, or each of two conditions, says that `index` is below.
std::optional<ValueId> end_of_count(const Kernel& kernel, ValueId condition, ValueId index, int steps = kMostJoined) {
  if (auto* compare = kernel.defined_by<op::Compare>(condition))
    return compare->fn == CompareFn::Lt && compare->a == index ? std::optional(compare->b) : std::nullopt;
  auto* both = kernel.defined_by<op::Binary>(condition);
  if (!both || both->fn != BinaryFn::And || steps == 0) return std::nullopt;
  auto end = end_of_count(kernel, both->a, index, steps - 1);
  return end ? end : end_of_count(kernel, both->b, index, steps - 1);
}

}  // namespace

std::optional<ValueId> end_of_count(const Kernel& kernel, const op::While& loop, size_t carried) {
  return end_of_count(kernel, kernel.terminator(loop.condition).as<op::Yield>().values[0], kernel.region(loop.condition).args[carried]);
}

Linear Reader::read_argument(ValueId v, Twin twin) {
  RegionId region = kernel_.value(v).region;
  const auto& args = kernel_.region(region).args;
  size_t index = std::find(args.begin(), args.end(), v) - args.begin();
  OpId parent = parents_[region.index].op;
  if (!parent.valid()) return variable(v, is_extent(kernel_, v) ? Interval{0, kLargestExtent} : type_range(v), true);
  const Op& op = kernel_.op(parent);
  if (auto* launch = op.get<op::Launch>()) {
    Interval extent = terms_.range(value(launch->extents[index], twin));
    return variable(v, {0, std::max<int64_t>((extent + Interval{-1, -1}).high, 0)}, true);
  }
  if (auto* loop = op.get<op::For>(); loop && index == 0) {
    Interval low = terms_.range(value(loop->low, twin)), high = terms_.range(value(loop->high, twin));
    return variable(v, {low.low, std::max((high + Interval{-1, -1}).high, low.low)}, true);
  }
  if (auto* loop = op.get<op::While>(); loop && loop->step.valid() && index == 0 && region == loop->body) {
    Interval low = terms_.range(value(loop->inits[0], twin));
    std::optional<ValueId> end = end_of_count(kernel_, *loop);
    Interval high = end ? terms_.range(value(*end, twin)) : Interval{};
    return variable(v, {low.low, std::max((high + Interval{-1, -1}).high, low.low)}, false);
  }
  if (auto* map = op.get<op::Map>(); map && index < map->shape.size()) return variable(v, {0, map->shape[index] - 1}, true);
  if (op.is<op::Simt>()) return variable(v, thread_range(region), true);
  return op.is<op::For>() || op.is<op::While>() ? carried(v) : unknown(v);
}

// An argument or a result of a loop.
Linear Reader::carried(ValueId v) { return variable(v, is_slow(*this, v) ? kReachOfSlow : type_range(v), false); }

Linear Reader::read_operation(ValueId v, const Op& op, Twin twin) {
  if (auto* c = op.get<op::Constant>()) {
    bool is_beyond = kernel_.type(v).element == Scalar::U64 && c->number.i < 0;  // from 2^63 on
    return is_beyond ? variable(v, {kPlusInfinity - 1, kPlusInfinity}, false) : Linear(c->number.i);
  }
  if (auto* b = op.get<op::Binary>()) {
    Linear result = read_binary(v, *b, twin);
    Interval range = terms_.range(result), type = type_range(v);
    bool is_int = kernel_.type(v).element == Scalar::Index, is_out = range.low < type.low || range.high > type.high;
    bool wraps = may_leave(b->fn) && (is_int ? !is_exact(range) : is_out || !range.is_bounded());
    return wraps || result.is_lost ? unknown(v) : result;
  }
  if (auto* u = op.get<op::Unary>()) {
    Linear x = value(u->x, twin);
    if (kernel_.type(v).element != Scalar::Index || !is_exact(terms_.range(x))) return unknown(v);
    if (u->fn == UnaryFn::Neg) return -x;
    if (u->fn == UnaryFn::Abs) return terms_.greatest(x, -x);
    return unknown(v);
  }
  if (auto* s = op.get<op::Select>()) return terms_.choice(condition(s->condition, twin), value(s->a, twin), value(s->b, twin));
  if (auto* c = op.get<op::Convert>()) return read_convert(v, *c, twin);
  if (auto* e = op.get<op::Extent>()) return extents(e->buffer, twin)[e->axis];
  if (auto* s = op.get<op::Stride>()) {
    const Param* param = kernel_.param_of(s->buffer);
    return param && !param->strides.empty() ? value(param->strides[s->axis], twin) : unknown(v);
  }
  if (auto* branch = op.get<op::If>()) {
    size_t index = std::find(op.results.begin(), op.results.end(), v) - op.results.begin();
    const auto &a = kernel_.terminator(branch->then_body).as<op::Yield>().values, &b = kernel_.terminator(branch->else_body).as<op::Yield>().values;
    return terms_.choice(condition(branch->condition, twin), value(a[index], twin), value(b[index], twin));
  }
  if (op.is<op::For>() || op.is<op::While>()) return carried(v);
  if (op.is<op::ThreadIndex>()) return variable(v, thread_range(op_regions_[kernel_.value(v).op.index]), true);
  if (op.is<op::LaneIndex>() || op.is<op::WarpIndex>()) {
    ValueId thread = thread_around(op_regions_[kernel_.value(v).op.index]);
    if (!thread.valid()) return unknown(v);
    return op.is<op::LaneIndex>() ? lanes_.lane(terms_, value(thread, twin)) : lanes_.warp(terms_, value(thread, twin));
  }
  return unknown(v);
}

namespace {

// Does one of two numbers lie between 0 and a power of two that the other is a multiple of?
bool have_no_common_bits(const Terms& terms, const Linear& a, const Linear& b) {
  auto lies_below = [&](const Linear& low, const Linear& high) {
    uint64_t bits = uint64_t(high.constant);
    for (const Linear::Part& part : high.parts) bits |= uint64_t(part.factor);
    const int64_t step = int64_t(bits & -bits);
    const Interval range = terms.range(low);
    return step > 1 && range.low >= 0 && range.high < step;
  };
  return !a.is_lost && !b.is_lost && (lies_below(a, b) || lies_below(b, a));
}

}  // namespace

// Of a value: what its sum tells, and what a mask, a remainder or a multiple of such says by itself.
Interval Reader::range(ValueId v, Twin twin, int most_steps) {
  const Interval known = terms_.range(value(v, twin));
  const op::Binary* op = kernel_.defined_by<op::Binary>(v);
  auto by = op ? kernel_.constant(op->b) : std::nullopt;
  if (!by || by->i <= 0 || most_steps == 0) return known;
  if (op->fn == BinaryFn::And || op->fn == BinaryFn::Rem) return intersection(known, {0, by->i - (op->fn == BinaryFn::Rem)});
  if (op->fn != BinaryFn::Shl && op->fn != BinaryFn::Mul) return known;
  const Interval a = range(op->a, twin, most_steps - 1), b{by->i, by->i};
  return intersection(known, op->fn == BinaryFn::Shl ? shifted_left(a, b) : a * b);
}

Linear Reader::read_binary(ValueId v, const op::Binary& op, Twin twin) {
  Linear a = value(op.a, twin), b = value(op.b, twin);
  bool is_small = b.is_constant() && b.constant >= 0 && b.constant < 62;
  Linear nothing;
  nothing.is_lost = true;
  switch (op.fn) {
    case BinaryFn::Add: return a + b;
    case BinaryFn::Sub: return a - b;
    case BinaryFn::Mul: return terms_.product(a, b);
    case BinaryFn::Div: return b == Linear(0) ? nothing : terms_.quotient(a, b);
    case BinaryFn::Rem: return b == Linear(0) ? nothing : terms_.remainder(a, b);
    case BinaryFn::Min: case BinaryFn::Minimum: return terms_.least(a, b);
    case BinaryFn::Max: case BinaryFn::Maximum: return terms_.greatest(a, b);
    case BinaryFn::Shl: return is_small ? a * (int64_t(1) << b.constant) : variable(v, shifted_left(terms_.range(a), terms_.range(b)), false);
    case BinaryFn::Shr:
      return is_small ? terms_.quotient(a, int64_t(1) << b.constant) : variable(v, shifted_right(terms_.range(a), terms_.range(b)), false);
    case BinaryFn::And: case BinaryFn::Or: case BinaryFn::Xor: {
      if (a.is_constant()) std::swap(a, b);
      if (have_no_common_bits(terms_, a, b)) return op.fn == BinaryFn::And ? Linear(0) : a + b;
      if (!b.is_constant()) return variable(v, range_of_bits(op.fn, range(op.a, twin), range(op.b, twin)), false);
      Linear both = terms_.masked(a, b.constant);
      return op.fn == BinaryFn::And ? both : a + b - (op.fn == BinaryFn::Or ? both : both * 2);
    }
    case BinaryFn::Pow: break;
  }
  return nothing;
}

Linear Reader::read_convert(ValueId v, const op::Convert& op, Twin twin) {
  if (!is_integer_scalar(kernel_.type(op.x))) return unknown(v);
  Linear x = value(op.x, twin);
  Interval from = terms_.range(x), to = type_range(v);
  bool is_beyond = kernel_.type(op.x).element == Scalar::U64 && from.high == kPlusInfinity;  // may be more than any `int`
  if (is_beyond) return unknown(v);
  if (from.low >= to.low && from.high <= to.high) return x;
  if (op.mode != ConvertMode::Nearest) return unknown(v);
  if (to.low != kMinusInfinity) x = terms_.greatest(x, to.low);
  return to.high != kPlusInfinity ? terms_.least(x, to.high) : x;
}

std::vector<Linear> Reader::extents(ValueId buffer, Twin twin) {
  const Type& type = kernel_.type(buffer);
  const Param* param = kernel_.param_of(buffer);
  auto* alloc = kernel_.defined_by<op::Alloc>(buffer);
  std::vector<Linear> result;
  for (int i = 0; i < type.rank(); ++i) {
    if (type.shape[i] != kDynamic) result.push_back(type.shape[i]);
    else if (param) result.push_back(value(param->extents[i], twin));
    else if (alloc && size_t(i) < alloc->extents.size()) result.push_back(value(alloc->extents[i], twin));
    else result.push_back(terms_.variable("extent", {0, kLargestExtent}, false));
  }
  return result;
}

Formula Reader::condition(ValueId v, Twin twin) {
  if (twin.number && !may_differ(v, twin.boundary)) twin = {};
  auto key = std::pair(v, twin.number);
  if (auto found = conditions_.find(key); found != conditions_.end()) return found->second;
  Deeper deeper(steps_);
  Formula result = deeper.is_too_deep() ? any_truth(v) : read_condition(v, twin);
  if (leaves(result) > kMostLeaves) result = any_truth(v);
  return conditions_.emplace(key, std::move(result)).first->second;
}

Formula Reader::read_compare(ValueId v, const op::Compare& op, Twin twin) {
  const Type& type = kernel_.type(op.a);
  if (is_integer_scalar(type)) {
    Linear a = value(op.a, twin), b = value(op.b, twin);
    switch (op.fn) {
      case CompareFn::Eq: return equal(a, b);
      case CompareFn::Ne: return negation(equal(a, b));
      case CompareFn::Lt: return less(a, b);
      case CompareFn::Le: return at_least(b, a);
      case CompareFn::Gt: return less(b, a);
      case CompareFn::Ge: return at_least(a, b);
    }
  }
  if (type.is_scalar() && type.element == Scalar::Bool && (op.fn == CompareFn::Eq || op.fn == CompareFn::Ne)) {
    Formula a = condition(op.a, twin), b = condition(op.b, twin);
    return terms_.choice(a, op.fn == CompareFn::Eq ? b : negation(b), op.fn == CompareFn::Eq ? negation(b) : b);
  }
  return any_truth(v);
}

Formula Reader::truth_of(ValueId v, bool is_free) {
  AtomId atom = terms_.truth_value(name_of(kernel_, v), is_free);
  return sources_[atom] = v, flag(atom);
}

Formula Reader::read_condition(ValueId v, Twin twin) {
  const Op* op = kernel_.definition(v);
  bool is_parameter = !op && kernel_.value(v).region == kernel_.body;
  // Each test of a parameter asks the same.
  if (auto* present = op ? op->get<op::Present>() : nullptr) {
    auto [at, is_new] = conditions_.try_emplace({present->buffer, 0});
    return is_new ? at->second = truth_of(present->buffer, true) : at->second;
  }
  if (!op || kernel_.type(v).element != Scalar::Bool) return truth_of(v, is_parameter);
  if (auto* c = op->get<op::Constant>()) return truth(c->number.i != 0);
  if (auto* c = op->get<op::Compare>()) return read_compare(v, *c, twin);
  if (auto* u = op->get<op::Unary>(); u && u->fn == UnaryFn::Not) return negation(condition(u->x, twin));
  if (auto* s = op->get<op::Select>())
    return terms_.choice(condition(s->condition, twin), condition(s->a, twin), condition(s->b, twin));
  if (auto* b = op->get<op::Binary>()) {
    Formula x = condition(b->a, twin), y = condition(b->b, twin);
    if (b->fn == BinaryFn::And) return all_of({x, y});
    if (b->fn == BinaryFn::Or) return any_of({x, y});
    if (b->fn == BinaryFn::Xor) return terms_.choice(x, negation(y), y);
  }
  if (auto* branch = op->get<op::If>()) {
    size_t index = std::find(op->results.begin(), op->results.end(), v) - op->results.begin();
    const auto &a = kernel_.terminator(branch->then_body).as<op::Yield>().values, &b = kernel_.terminator(branch->else_body).as<op::Yield>().values;
    return terms_.choice(condition(branch->condition, twin), condition(a[index], twin), condition(b[index], twin));
  }
  return any_truth(v);
}

}  // namespace tilec::prove
