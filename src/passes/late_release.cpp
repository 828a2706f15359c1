#include "passes/late_release.h"

#include <algorithm>

#include "passes/flights.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

LateRelease::LateRelease(Kernel& kernel, RegionId region, OpId loop)
    : kernel_(kernel), region_(region), loop_(kernel.op(loop).as<op::For>()) {}

const std::vector<OpId>& LateRelease::body() const { return kernel_.region(loop_.body).ops; }

bool LateRelease::add(ValueId ring) {
  if (!ring.valid()) return false;
  for (const Handed& known : rings_)
    if (known.ring == ring) return true;
  Handed handed{ring, {}, {}, {}, {}};
  for (OpId id : body()) {
    const op::Release* release = kernel_.op(id).get<op::Release>();
    if (!release || release->ring != ring) continue;
    if (handed.release.valid()) return false;
    handed.turn = handed.count = release->turn;
    handed.release = id;
    const op::Binary* sum = kernel_.defined_by<op::Binary>(handed.turn);
    if (!is_count_of_turns(handed.count) && sum && sum->fn == BinaryFn::Add && is_outside(sum->a)) handed.earlier = sum->a, handed.count = sum->b;
    if (!is_count_of_turns(handed.count)) return false;
  }
  rings_.push_back(handed);
  return handed.release.valid();
}

bool LateRelease::is_outside(ValueId v) const {
  const Value& value = kernel_.value(v);
  return value.region.valid() ? value.region != loop_.body : std::ranges::find(body(), value.op) == body().end();
}

// (index - low) / step
bool LateRelease::is_count_of_turns(ValueId turn) const {
  auto low = kernel_.constant(loop_.low), step = kernel_.constant(loop_.step);
  ValueId index = kernel_.region(loop_.body).args[0], x = turn;
  if (!step || step->i != 1) {
    const op::Binary* division = kernel_.defined_by<op::Binary>(x);
    if (!division || division->fn != BinaryFn::Div || division->b != loop_.step) return false;
    x = division->a;
  }
  if (low && low->i == 0) return x == index;
  const op::Binary* difference = kernel_.defined_by<op::Binary>(x);
  return difference && difference->fn == BinaryFn::Sub && difference->a == index && difference->b == loop_.low;
}

bool LateRelease::stands_before(ValueId v, OpId at) const {
  return is_outside(v) || kernel_.value(v).region.valid() || std::ranges::find(body(), kernel_.value(v).op) < std::ranges::find(body(), at);
}

void LateRelease::count_again(Builder& b, Handed& handed) const {
  auto low = kernel_.constant(loop_.low), step = kernel_.constant(loop_.step);
  handed.count = kernel_.region(loop_.body).args[0];
  if (!low || low->i != 0) handed.count = b.sub(handed.count, loop_.low);
  if (!step || step->i != 1) handed.count = b.binary(BinaryFn::Div, handed.count, loop_.step);
  handed.turn = handed.earlier.valid() ? b.add(handed.earlier, handed.count) : handed.count;
}

// Whoever fills a slot in the same loop has to wait until it is given back: it goes behind that.
bool LateRelease::find_fills() {
  bool ok = true;
  for (const Handed& handed : rings_)
    for (OpId id : fills_of(kernel_, loop_.body, handed.ring)) {
      ok &= kernel_.op(id).is<op::If>() && kernel_.op(id).results.empty();
      if (std::ranges::find(fills_, id) == fills_.end()) fills_.push_back(id);
    }
  return ok;
}

void LateRelease::give_back(int64_t turns, OpId awaited, OpId all_awaited) {
  OpId at = awaited;
  for (Handed& handed : rings_) {
    std::erase(kernel_.region(loop_.body).ops, handed.release);
    insert_after(kernel_, loop_.body, at, [&](Builder& b) {
      if (!stands_before(handed.turn, awaited)) count_again(b, handed);
      at = release_before(b, handed, turns);
    });
    insert_after(kernel_, region_, all_awaited, [&](Builder& b) { release_last(b, handed, turns); });
  }
  // What stands behind that already stays there, behind what it is made of.
  std::vector<OpId>& ops = kernel_.region(loop_.body).ops;
  std::vector<OpId> earlier(ops.begin(), std::ranges::find(ops, at));
  std::erase_if(earlier, [&](OpId id) { return std::ranges::find(fills_, id) == fills_.end(); });
  for (OpId fill : earlier) std::erase(ops, fill);
  ops.insert(std::ranges::find(ops, at) + 1, earlier.begin(), earlier.end());
}

OpId LateRelease::release_before(Builder& b, const Handed& handed, int64_t turns) {
  ValueId n = b.index(turns);
  RegionId taken = kernel_.new_region(), other = kernel_.new_region(), outer = b.region();
  b.set_region(taken);
  b.add(op::Release{handed.ring, b.sub(handed.turn, n)});
  b.yield({});
  b.set_region(other);
  b.yield({});
  b.set_region(outer);
  return b.add(op::If{b.compare(CompareFn::Ge, handed.count, n), taken, other});
}

void LateRelease::release_last(Builder& b, const Handed& handed, int64_t turns) {
  ValueId all = trip_count(b, loop_);
  ValueId first = b.binary(BinaryFn::Max, b.sub(all, b.index(turns)), b.index(0));
  op::For rest{.low = first, .high = all, .step = b.index(1), .body = kernel_.new_region()};
  ValueId turn = kernel_.new_arg(rest.body, scalar_type(Scalar::Index), "turn");
  RegionId outer = b.region();
  b.set_region(rest.body);
  b.add(op::Release{handed.ring, handed.earlier.valid() ? b.add(handed.earlier, turn) : turn});
  b.yield({});
  b.set_region(outer);
  b.add(std::move(rest));
}

}  // namespace tilec::passes
