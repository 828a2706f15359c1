#include "passes/count_slots.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kMostSlots = 1 << 16;  // far below what 32 bits count

// All that asks for the same sum modulo the same number.
struct Count {
  ValueId sum;
  int64_t slots;
  std::vector<OpId> remainders, parities;
};

class LoopCounts {
 public:
  LoopCounts(Kernel& kernel, RegionId region, OpId id) : kernel_(kernel), region_(region), id_(id), body_(loop().body) {
    index_ = kernel.region(body_).args[0];
    for (ValueId v : kernel.region(body_).args) inside_.insert(v.index);
    each_op(kernel, body_, [&](OpId inner) {
      for (ValueId v : kernel.op(inner).results) inside_.insert(v.index);
      each_region(kernel.op(inner).data, [&](RegionId r) {
        for (ValueId v : kernel.region(r).args) inside_.insert(v.index);
      });
    });
  }

  void run() {
    auto step = kernel_.constant(loop().step);
    if (!step || step->i < 1 || loop().guarded) return;
    step_ = step->i;
    find(body_);
    for (const Count& count : counts_) carry(count);
  }

 private:
  const op::For& loop() const { return kernel_.op(id_).as<op::For>(); }

  void find(RegionId region) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      if (const op::If* branch = op.get<op::If>()) find(branch->then_body), branch->else_body.valid() ? find(branch->else_body) : void();
      const op::Binary* b = op.get<op::Binary>();
      if (!b || b->guarded || kernel_.type(op.result()).element != Scalar::Index || kernel_.type(op.result()).varying) continue;
      if (b->fn == BinaryFn::Rem) add(*b, id, &Count::remainders);
      auto mask = b->fn == BinaryFn::And ? kernel_.constant(b->b) : std::nullopt;
      const op::Binary* quotient = mask && mask->i == 1 ? kernel_.defined_by<op::Binary>(b->a) : nullptr;
      if (quotient && quotient->fn == BinaryFn::Div && !quotient->guarded) add(*quotient, id, &Count::parities);
    }
  }

  void add(const op::Binary& division, OpId user, std::vector<OpId> Count::* users) {
    auto slots = kernel_.constant(division.b);
    if (!slots || slots->i <= step_ || slots->i > kMostSlots || std::has_single_bit(uint64_t(slots->i)) || factor(division.a) != 1) return;
    auto found = std::ranges::find_if(counts_, [&](const Count& c) { return c.sum == division.a && c.slots == slots->i; });
    if (found == counts_.end()) found = counts_.insert(counts_.end(), {division.a, slots->i, {}, {}});
    ((*found).*users).push_back(user);
  }

  // By how much the number grows as the index does; none: not a sum of the index and of what the loop leaves alone.
  std::optional<int> factor(ValueId v) const {
    if (v == index_) return 1;
    if (!inside_.contains(v.index)) return 0;
    const op::Binary* b = kernel_.defined_by<op::Binary>(v);
    if (!b || b->guarded || (b->fn != BinaryFn::Add && b->fn != BinaryFn::Sub)) return kernel_.defined_by<op::Constant>(v) ? std::optional(0) : std::nullopt;
    auto left = factor(b->a), right = factor(b->b);
    if (!left || !right) return std::nullopt;
    return *left + (b->fn == BinaryFn::Add ? *right : -*right);
  }

  // The number as the loop begins.
  ValueId first(Builder& b, ValueId v) const {
    if (v == index_) return loop().low;
    if (!inside_.contains(v.index)) return v;
    if (auto known = kernel_.constant(v)) return b.index(known->i);
    const op::Binary sum = *kernel_.defined_by<op::Binary>(v);
    ValueId left = first(b, sum.a), right = first(b, sum.b);
    return b.binary(sum.fn, left, right);
  }

  ValueId carried(ValueId initial, const char* hint) {
    kernel_.op(id_).as<op::For>().inits.push_back(initial);
    add_result(kernel_, id_, scalar_type(Scalar::I32));
    return kernel_.new_arg(body_, scalar_type(Scalar::I32), hint);
  }

  void carry(const Count& count) {
    ValueId slot, parity;
    insert_before(kernel_, region_, id_, [&](Builder& b) {
      ValueId sum = first(b, count.sum), slots = b.index(count.slots);
      slot = b.convert(b.binary(BinaryFn::Rem, sum, slots), Scalar::I32);
      parity = b.convert(b.binary(BinaryFn::And, b.binary(BinaryFn::Div, sum, slots), b.index(1)), Scalar::I32);
    });
    slot = carried(slot, "slot"), parity = carried(parity, "parity");
    insert_before(kernel_, body_, kernel_.region(body_).ops.front(), [&](Builder& b) {
      replace(count.remainders, b.convert(slot, Scalar::Index));
      replace(count.parities, b.convert(parity, Scalar::Index));
    });
    insert_before(kernel_, body_, kernel_.region(body_).ops.back(), [&](Builder& b) {
      auto number = [&](int64_t i) { return b.constant(Scalar::I32, {.i = i}); };
      ValueId next = b.add(slot, number(step_)), wraps = b.compare(CompareFn::Ge, next, number(count.slots));
      slot = b.select(wraps, b.sub(next, number(count.slots)), next);
      parity = b.select(wraps, b.sub(number(1), parity), parity);
    });
    auto& yielded = kernel_.op(kernel_.region(body_).ops.back()).as<op::Yield>().values;
    yielded.insert(yielded.end(), {slot, parity});
  }

  void replace(const std::vector<OpId>& users, ValueId by) {
    for (OpId user : users) replace_uses(kernel_, body_, kernel_.op(user).result(), by);
  }

  Kernel& kernel_;
  RegionId region_;
  OpId id_;
  RegionId body_;
  ValueId index_;
  int64_t step_ = 1;
  std::unordered_set<uint32_t> inside_;
  std::vector<Count> counts_;
};

}  // namespace

void count_slots(Kernel& kernel, const Machine&, Diagnostics&) {
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    if (kernel.op(id).is<op::For>()) LoopCounts(kernel, region, id).run();
  });
}

}  // namespace tilec::passes
