#include "check/ring_trace.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "ir/scalar_eval.h"

namespace tilec::check {

using namespace ir;

namespace {

constexpr int64_t kMostSteps = 200'000;
constexpr int64_t kBlocksAtOnce = 2;  // of launches that go on from block to block
constexpr int64_t kExtents[] = {1, 65, 128, 200, 333, 520, 1, 64};  // of dims: fewer turns than slots, and more

uint64_t mixed(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class Tracer {
 public:
  Tracer(const Kernel& kernel, uint64_t choice) : kernel_(kernel), choice_(choice) {}

  std::vector<BlockTrace> run() {
    for (ValueId arg : kernel_.region(kernel_.body).args) set(arg, some(arg.index, 8));
    for (const Dim& dim : kernel_.dims)
      if (!dim.fixed) set(dim.value, Number::integer(kExtents[mixed(choice_ * 31 + dim.value.index) % std::size(kExtents)]));
    region(kernel_.body);
    return steps_ < kMostSteps ? std::move(traces_) : std::vector<BlockTrace>{};
  }

 private:
  void set(ValueId v, Number n) { numbers_[v.index] = n; }
  Number get(ValueId v) {
    auto [found, is_new] = numbers_.try_emplace(v.index, Number{});
    if (is_new) found->second = some(v.index, 8);
    return found->second;
  }
  int64_t integer(ValueId v) { return get(v).i; }
  // What nobody knows: the same for all who ask for the same.
  Number some(uint64_t what, uint64_t limit) const {
    uint64_t n = mixed(choice_ ^ mixed(what)) % limit;
    return {false, int64_t(n), double(n)};
  }

  void region(RegionId id) {
    for (OpId op : kernel_.region(id).ops)
      if (++steps_ < kMostSteps) step(kernel_.op(op), op);
  }

  void step(const Op& op, OpId id) {
    if (auto* o = op.get<op::Launch>()) return launch(*o, id);
    if (auto* o = op.get<op::Roles>()) return roles(*o);
    if (auto* o = op.get<op::For>()) return loop(op, *o);
    if (auto* o = op.get<op::While>()) return repeat(op, *o);
    if (auto* o = op.get<op::If>()) return branch(op, *o);
    if (op.is<op::RingAlloc>()) return note({RingStep::Make, op.result()});
    if (auto* o = op.get<op::Acquire>()) return note({RingStep::Acquire, o->ring, integer(o->turn)});
    if (auto* o = op.get<op::Commit>()) return note({RingStep::Commit, o->ring, integer(o->turn)});
    if (auto* o = op.get<op::Wait>()) return note({RingStep::Wait, o->ring, integer(o->turn)});
    if (auto* o = op.get<op::Release>()) return note({RingStep::Release, o->ring, integer(o->turn)});
    if (!op.results.empty() && table(op.kind()) == OpTable::Scalar) set(op.results[0], scalar(op));
  }

  Number scalar(const Op& op) {
    const Type& type = kernel_.type(op.results[0]);
    std::optional<Number> n;
    if (auto* o = op.get<op::Constant>()) n = o->number;
    if (auto* o = op.get<op::Unary>()) n = evaluate(o->fn, kernel_.type(o->x).element, get(o->x));
    if (auto* o = op.get<op::Binary>()) n = evaluate(o->fn, type.element, get(o->a), get(o->b));
    if (auto* o = op.get<op::Compare>()) n = Number::integer(evaluate(o->fn, kernel_.type(o->a).element, get(o->a), get(o->b)));
    if (auto* o = op.get<op::Select>()) n = get(integer(o->condition) ? o->a : o->b);
    if (auto* o = op.get<op::Convert>()) n = evaluate_convert(kernel_.type(o->x).element, type.element, o->mode, get(o->x));
    // Of some choices it runs in a cluster.
    if (op.is<op::ClusterBlocks>()) n = Number::integer(choice_ % 3 ? cluster_ : 1);
    // The blocks before the one that is followed stand behind each other.
    if (op.is<op::GridBlocks>()) n = Number::integer(kBlocksAtOnce);
    if (op.is<op::BlockNumber>()) n = Number::integer(int64_t(choice_ % uint64_t(kBlocksAtOnce)));
    if (auto* o = op.get<op::BlockIndex>()) n = some(mixed(uint64_t(integer(o->number))) ^ uint64_t(o->axis), 8);
    if (auto* o = op.get<op::ElementLoad>()) {
      uint64_t where = o->buffer.index;
      for (ValueId index : o->indices) where = mixed(where ^ uint64_t(integer(index)));
      n = some(where, type.element == Scalar::Bool ? 2 : 8);
    }
    return n.value_or(Number{is_float(type.element), 0, 0});
  }

  void note(RingEvent event) {
    INVARIANT(!traces_.empty() && !traces_.back().programs.empty(), "rings live in launches");
    traces_.back().programs.back().events.push_back(event);
  }

  void launch(const op::Launch& launch, OpId id) {
    const std::vector<ValueId>& args = kernel_.region(launch.body).args;
    cluster_ = 1;
    for (int64_t size : launch.cluster) cluster_ *= size;
    for (size_t axis = 0; axis < launch.extents.size(); ++axis) {
      int64_t extent = integer(launch.extents[axis]);
      if (extent <= 0) return;
      set(args[axis], some(args[axis].index, uint64_t(extent)));
    }
    traces_.push_back({id, {{"", launch.warps, {}}}});
    region(launch.body);
    if (traces_.back().programs.size() > 1) traces_.back().programs.erase(traces_.back().programs.begin());
  }

  void roles(const op::Roles& roles) {
    for (size_t i = 0; i < roles.bodies.size(); ++i) {
      traces_.back().programs.push_back({roles.names[i], roles.warps[i], {}});
      region(roles.bodies[i]);
    }
  }

  std::vector<Number> yielded(RegionId r, size_t from = 0) {
    std::vector<Number> values;
    const std::vector<ValueId>& ids = kernel_.terminator(r).as<op::Yield>().values;
    for (size_t i = from; i < ids.size(); ++i) values.push_back(get(ids[i]));
    return values;
  }
  void set_all(std::span<const ValueId> to, const std::vector<Number>& values) {
    for (size_t i = 0; i < to.size(); ++i) set(to[i], values[i]);
  }

  void loop(const Op& op, const op::For& loop) {
    const std::vector<ValueId>& args = kernel_.region(loop.body).args;
    std::vector<Number> carried;
    for (ValueId v : loop.inits) carried.push_back(get(v));
    int64_t high = integer(loop.high), step = std::max<int64_t>(integer(loop.step), 1);
    for (int64_t i = integer(loop.low); i < high && steps_ < kMostSteps; i += step) {
      set(args[0], Number::integer(i));
      set_all(std::span(args).subspan(1), carried);
      region(loop.body);
      carried = yielded(loop.body);
    }
    set_all(op.results, carried);
  }

  void repeat(const Op& op, const op::While& loop) {
    std::vector<Number> carried;
    for (ValueId v : loop.inits) carried.push_back(get(v));
    while (steps_ < kMostSteps) {
      set_all(kernel_.region(loop.condition).args, carried);
      region(loop.condition);
      bool goes_on = integer(kernel_.terminator(loop.condition).as<op::Yield>().values[0]);
      carried = yielded(loop.condition, 1);
      if (!goes_on) break;
      set_all(kernel_.region(loop.body).args, carried);
      region(loop.body);
      carried = yielded(loop.body);
    }
    set_all(op.results, carried);
  }

  void branch(const Op& op, const op::If& branch) {
    RegionId taken = integer(branch.condition) ? branch.then_body : branch.else_body;
    region(taken);
    if (!op.results.empty()) set_all(op.results, yielded(taken));
  }

  const Kernel& kernel_;
  uint64_t choice_;
  std::unordered_map<uint32_t, Number> numbers_;
  std::vector<BlockTrace> traces_;
  int64_t steps_ = 0;
  int64_t cluster_ = 1;  // blocks, of the launch
};

}  // namespace

std::vector<BlockTrace> trace_rings(const Kernel& staged, uint64_t choice) { return Tracer(staged, choice).run(); }

}  // namespace tilec::check
