#include "passes/distances.h"

#include <algorithm>
#include <map>

#include "passes/cleanup.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr size_t kLeast = 8;               // answers, each of two comparisons, that are worth distances
constexpr int64_t kFarthest = 1ll << 30;   // constants, so that all that is near fits 32 bits

// base + offset <=> bound
struct Question {
  ValueId base, bound;
  int64_t offset = 0;
  CompareFn fn;
};

using Key = std::pair<ValueId, ValueId>;  // base and bound

// offset >= end, or offset < end; of 32 bits.
struct Near {
  bool is_behind = false;
  int64_t offset = 0;
  ValueId end;
};

struct Group {
  size_t questions = 0;
  int64_t low = INT64_MAX, high = INT64_MIN;  // offsets
  ValueId distance = {}, past = {};           // bound - base, no farther than one beyond the offsets; and one more
};

CompareFn turned(CompareFn fn) {
  switch (fn) {
    case CompareFn::Lt: return CompareFn::Gt;
    case CompareFn::Le: return CompareFn::Ge;
    case CompareFn::Gt: return CompareFn::Lt;
    case CompareFn::Ge: return CompareFn::Le;
    default: return fn;
  }
}

class RegionDistances {
 public:
  RegionDistances(Kernel& kernel, RegionId region) : kernel_(kernel), region_(region) {}

  bool run() {
    for (OpId id : kernel_.region(region_).ops)
      for (const Question& q : both_ways(id)) {
        Group& g = groups_[{q.base, q.bound}];
        ++g.questions, g.low = std::min(g.low, q.offset), g.high = std::max(g.high, q.offset);
      }
    std::erase_if(groups_, [](const auto& entry) { return entry.second.questions < kLeast; });
    if (joined() < kLeast) return false;
    for (OpId id : std::vector<OpId>(kernel_.region(region_).ops)) {
      if (const Question* q = best(both_ways(id))) ask(id, *q);
      else join(id);
    }
    return true;
  }

 private:
  // Answers that are made of two. Alone, a comparison with a bound that rows or columns share costs little.
  size_t joined() const {
    auto asks = [&](ValueId v) {
      OpId id = kernel_.value(v).op;
      return id.valid() && std::ranges::any_of(both_ways(id), [&](const Question& q) { return groups_.contains({q.base, q.bound}); });
    };
    size_t count = 0;
    for (OpId id : kernel_.region(region_).ops)
      if (const op::Binary* both = kernel_.op(id).get<op::Binary>()) count += (both->fn == BinaryFn::Or || both->fn == BinaryFn::And) && asks(both->a) && asks(both->b);
    return count;
  }

  // Either side may be the one that the constant is added to.
  std::vector<Question> both_ways(OpId id) const {
    const op::Compare* c = kernel_.op(id).get<op::Compare>();
    bool orders = c && (c->fn == CompareFn::Lt || c->fn == CompareFn::Le || c->fn == CompareFn::Gt || c->fn == CompareFn::Ge);
    if (!orders || kernel_.type(c->a).element != Scalar::Index) return {};
    std::vector<Question> ways;
    for (auto [side, bound, fn] : {std::tuple{c->a, c->b, c->fn}, std::tuple{c->b, c->a, turned(c->fn)}})
      if (auto q = question(side, bound, fn)) ways.push_back(*q);
    return ways;
  }

  std::optional<Question> question(ValueId side, ValueId bound, CompareFn fn) const {
    if (kernel_.constant(side)) return std::nullopt;
    const op::Binary* sum = kernel_.defined_by<op::Binary>(side);
    if (sum && sum->fn == BinaryFn::Add && !sum->guarded)
      for (auto [base, other] : {std::pair{sum->a, sum->b}, std::pair{sum->b, sum->a}})
        if (auto offset = kernel_.constant(other); offset && std::abs(offset->i) < kFarthest) return Question{base, bound, offset->i, fn};
    return Question{side, bound, 0, fn};
  }

  // The one whose group has most of them, if any is left.
  const Question* best(const std::vector<Question>& ways) {
    const Question* found = nullptr;
    size_t most = 0;
    for (const Question& q : ways)
      if (auto g = groups_.find({q.base, q.bound}); g != groups_.end() && g->second.questions > most) most = g->second.questions, found = &q;
    if (!found) return nullptr;
    chosen_ = *found;
    return &chosen_;
  }

  ValueId number(Builder& b, int64_t i) {
    auto [known, is_new] = numbers_.try_emplace(i);
    if (is_new) known->second = b.constant(Scalar::I32, {.i = i});
    return known->second;
  }

  void ask(OpId id, const Question& q) {
    Group& g = groups_.at({q.base, q.bound});
    bool is_past = q.fn == CompareFn::Gt || q.fn == CompareFn::Le;  // offset > d as offset >= d + 1
    insert_before(kernel_, region_, id, [&](Builder& b) {
      if (!g.distance.valid()) g.distance = distance(b, q, g);
      if (is_past && !g.past.valid()) g.past = b.add(g.distance, number(b, 1));
      put(b, id, {q.fn == CompareFn::Gt || q.fn == CompareFn::Ge, q.offset, is_past ? g.past : g.distance});
    });
  }

  // What leaves 64 bits nowhere: the sums of the base with the first and the last offset are asked for by the program itself.
  ValueId distance(Builder& b, const Question& q, const Group& g) {
    ValueId low = b.add(q.base, b.index(g.low)), high = b.add(q.base, b.index(g.high));
    ValueId near = b.binary(BinaryFn::Max, b.binary(BinaryFn::Min, q.bound, high), low);
    ValueId distance = b.convert(b.sub(near, q.base), Scalar::I32, ConvertMode::Wrap);
    distance = b.select(b.compare(CompareFn::Gt, q.bound, high), number(b, g.high + 1), distance);
    return b.select(b.compare(CompareFn::Lt, q.bound, low), number(b, g.low - 1), distance);
  }

  void put(Builder& b, OpId id, const Near& near) {
    kernel_.op(id).data = op::Compare{near.is_behind ? CompareFn::Ge : CompareFn::Lt, number(b, near.offset), near.end};
    asked_[kernel_.op(id).result()] = near;
  }

  // Two questions of one offset: the nearer of their ends, or the farther, answers both.
  void join(OpId id) {
    const op::Binary* both = kernel_.op(id).get<op::Binary>();
    if (!both || (both->fn != BinaryFn::Or && both->fn != BinaryFn::And)) return;
    auto a = asked_.find(both->a), c = asked_.find(both->b);
    if (a == asked_.end() || c == asked_.end() || a->second.offset != c->second.offset || a->second.is_behind != c->second.is_behind) return;
    const Near first = a->second, second = c->second;
    BinaryFn fn = (both->fn == BinaryFn::Or) == first.is_behind ? BinaryFn::Min : BinaryFn::Max;
    insert_before(kernel_, region_, id, [&](Builder& b) {
      auto [end, is_new] = ends_.try_emplace({fn, first.end, second.end});
      if (is_new) end->second = b.binary(fn, first.end, second.end);
      put(b, id, {first.is_behind, first.offset, end->second});
    });
  }

  Kernel& kernel_;
  RegionId region_;
  std::map<Key, Group> groups_;
  std::map<int64_t, ValueId> numbers_;
  std::map<ValueId, Near> asked_;
  std::map<std::tuple<BinaryFn, ValueId, ValueId>, ValueId> ends_;
  Question chosen_;
};

}  // namespace

void compare_distances(Kernel& kernel, const Machine&, Diagnostics&) {
  bool has_changed = false;
  std::vector<RegionId> regions;
  each_op(kernel, kernel.body, [&](OpId id) { each_region(kernel.op(id).data, [&](RegionId r) { regions.push_back(r); }); });
  for (RegionId region : regions) has_changed |= RegionDistances(kernel, region).run();
  if (has_changed) drop_dead_code(kernel);
}

}  // namespace tilec::passes
