#include "passes/overlap_products.h"

#include <algorithm>

#include "passes/delay_products.h"
#include "passes/flights.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kUsualInFlight = 1;  // where the schedule does not say

struct Accumulation {
  OpId product;
  size_t carried;  // place of its accumulator among what the loop carries
};

// A ring whose slots the loop's products read.
struct Handed {
  ValueId ring, turn;
  ValueId count, earlier;  // the turn: of this loop, behind those of earlier rounds of the loops around (invalid: there are none)
  OpId release;
};

// A loop whose products may stay in flight from turn to turn.
class Carrier {
 public:
  Carrier(Kernel& kernel, const Launched& launched, RegionId region, OpId loop)
      : kernel_(kernel), launched_(launched), region_(region), id_(loop), loop_(kernel.op(loop).as<op::For>()) {}

  bool run() {
    if (!find_products() || !find_rings()) return false;
    turns_in_flight_ = kUsualInFlight;
    for (const Handed& handed : rings_) {
      Pipeline* pipeline = pipeline_of(kernel_, handed.ring);
      if (pipeline && pipeline->in_flight >= 0) turns_in_flight_ = pipeline->in_flight;
    }
    for (const Handed& handed : rings_) turns_in_flight_ = std::min(turns_in_flight_, kernel_.type(handed.ring).shape[0] - 1);
    if (turns_in_flight_ < 1) return false;
    for (const Handed& handed : rings_)
      if (Pipeline* pipeline = pipeline_of(kernel_, handed.ring)) pipeline->in_flight = turns_in_flight_;
    carry();
    await_behind();
    give_back_later();
    return true;
  }

 private:
  const std::vector<OpId>& body() const { return kernel_.region(loop_.body).ops; }
  ValueId index() const { return kernel_.region(loop_.body).args[0]; }
  bool is_in_body(OpId id) const { return std::ranges::find(body(), id) != body().end(); }
  std::vector<ValueId>& yielded() { return kernel_.op(body().back()).as<op::Yield>().values; }

  // All products of the loop accumulate into what it carries, and nothing else touches that.
  bool find_products() {
    std::vector<int> uses = use_counts(kernel_);
    bool ok = true;
    each_op(kernel_, loop_.body, [&](OpId id) {
      if (!launched_.group_atom(id)) return;
      const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
      ValueId result = kernel_.op(id).result();
      const std::vector<ValueId>& args = kernel_.region(loop_.body).args;
      size_t carried = size_t(std::ranges::find(args, gemm.acc) - args.begin());
      ok &= is_in_body(id) && carried > 0 && carried < args.size() && uses[gemm.acc.index] == 1 && uses[result.index] == 1 &&
            yielded()[carried - 1] == result;
      if (ok) products_.push_back({id, carried - 1});
    });
    return ok && !products_.empty();
  }

  // What the products read comes through rings that this loop turns, or does not change in it.
  bool find_rings() {
    for (const Accumulation& product : products_) {
      const op::Gemm& gemm = kernel_.op(product.product).as<op::Gemm>();
      for (ValueId operand : {gemm.a, gemm.b}) {
        if (!kernel_.type(operand).is_buffer()) return false;
        if (!launched_.is_written_in(loop_.body, operand) && !is_turned_here(launched_.ring_of(operand))) continue;
        if (!add_ring(launched_.ring_of(operand))) return false;
      }
    }
    for (const Handed& handed : rings_)
      if (!find_fills(handed.ring)) return false;
    return true;
  }

  bool is_turned_here(ValueId ring) const {
    return ring.valid() && std::ranges::any_of(body(), [&](OpId id) {
      const op::Wait* wait = kernel_.op(id).get<op::Wait>();
      return wait && wait->ring == ring;
    });
  }

  bool add_ring(ValueId ring) {
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

  bool is_outside(ValueId v) const {
    const Value& value = kernel_.value(v);
    return value.region.valid() ? value.region != loop_.body : !is_in_body(value.op);
  }

  // (index - low) / step
  bool is_count_of_turns(ValueId turn) const {
    auto low = kernel_.constant(loop_.low), step = kernel_.constant(loop_.step);
    ValueId x = turn;
    if (!step || step->i != 1) {
      const op::Binary* division = kernel_.defined_by<op::Binary>(x);
      if (!division || division->fn != BinaryFn::Div || division->b != loop_.step) return false;
      x = division->a;
    }
    if (low && low->i == 0) return x == index();
    const op::Binary* difference = kernel_.defined_by<op::Binary>(x);
    return difference && difference->fn == BinaryFn::Sub && difference->a == index() && difference->b == loop_.low;
  }

  // Whoever fills a slot in the same loop has to wait until it is given back: it goes behind that.
  bool find_fills(ValueId ring) {
    bool ok = true;
    for (OpId id : fills_of(kernel_, loop_.body, ring)) {
      ok &= kernel_.op(id).is<op::If>() && kernel_.op(id).results.empty();
      if (std::ranges::find(fills_, id) == fills_.end()) fills_.push_back(id);
    }
    return ok;
  }

  void carry() {
    for (const Accumulation& product : products_) {
      ValueId init = loop_.inits[product.carried], arg = kernel_.region(loop_.body).args[product.carried + 1];
      const Type flight = in_flight(kernel_.type(init));
      const op::Gemm gemm = kernel_.op(product.product).as<op::Gemm>();
      insert_before(kernel_, region_, id_, [&](Builder& b) { loop_.inits[product.carried] = b.value(op::BeginFlight{init, gemm.atom}, flight); });
      kernel_.op(product.product).data = started(gemm);
      for (ValueId v : {arg, kernel_.op(product.product).result(), kernel_.op(id_).results[product.carried]}) retype(kernel_, v, flight);
    }
    kernel_.op(id_).as<op::For>().inits = loop_.inits;
  }

  const std::string& atom_of(const Accumulation& product) const { return kernel_.op(product.product).as<op::GemmAsync>().atom; }

  // Within a turn the oldest, behind the loop all.
  void await_behind() {
    const Accumulation& last = products_.back();
    ValueId flight = kernel_.op(last.product).result();
    insert_after(kernel_, loop_.body, last.product, [&](Builder& b) {
      int64_t open = turns_in_flight_ * int64_t(products_.size());
      ValueId awaited = b.value(op::AwaitGemm{flight, open, atom_of(last)}, Type(kernel_.type(flight)));
      awaited_ = kernel_.value(awaited).op;
      yielded()[last.carried] = awaited;
    });
    OpId at = id_;
    for (const Accumulation& product : products_) {
      ValueId result = kernel_.op(id_).results[product.carried], tile;
      insert_after(kernel_, region_, at, [&](Builder& b) {
        Type type = kernel_.type(result);
        type.kind = TypeKind::Tile;
        tile = b.value(op::AwaitGemm{result, 0, atom_of(product)}, type);
      });
      at = kernel_.value(tile).op;
      replace_uses(kernel_, kernel_.body, result, tile);
      kernel_.op(at).as<op::AwaitGemm>().flight = result;
    }
    all_awaited_ = at;
  }

  void give_back_later() {
    OpId at = awaited_;
    for (const Handed& handed : rings_) {
      std::erase(kernel_.region(loop_.body).ops, handed.release);
      insert_after(kernel_, loop_.body, at, [&](Builder& b) { at = release_before(b, handed); });
      insert_after(kernel_, region_, all_awaited_, [&](Builder& b) { release_last(b, handed); });
    }
    std::vector<OpId>& ops = kernel_.region(loop_.body).ops;
    for (OpId fill : fills_) std::erase(ops, fill);
    ops.insert(std::ranges::find(ops, at) + 1, fills_.begin(), fills_.end());
  }

  // The slot that the oldest product of those just awaited read.
  OpId release_before(Builder& b, const Handed& handed) {
    ValueId n = b.index(turns_in_flight_);
    RegionId taken = kernel_.new_region(), other = kernel_.new_region(), outer = b.region();
    b.set_region(taken);
    b.add(op::Release{handed.ring, b.sub(handed.turn, n)});
    b.yield({});
    b.set_region(other);
    b.yield({});
    b.set_region(outer);
    return b.add(op::If{b.compare(CompareFn::Ge, handed.count, n), taken, other});
  }

  void release_last(Builder& b, const Handed& handed) {
    ValueId turns = trip_count(b, loop_);
    ValueId first = b.binary(BinaryFn::Max, b.sub(turns, b.index(turns_in_flight_)), b.index(0));
    op::For rest{.low = first, .high = turns, .step = b.index(1), .body = kernel_.new_region()};
    ValueId turn = kernel_.new_arg(rest.body, scalar_type(Scalar::Index), "turn");
    RegionId outer = b.region();
    b.set_region(rest.body);
    b.add(op::Release{handed.ring, handed.earlier.valid() ? b.add(handed.earlier, turn) : turn});
    b.yield({});
    b.set_region(outer);
    b.add(std::move(rest));
  }

  Kernel& kernel_;
  const Launched& launched_;
  RegionId region_;
  OpId id_;
  op::For loop_;
  std::vector<Accumulation> products_;
  std::vector<Handed> rings_;
  std::vector<OpId> fills_;
  int64_t turns_in_flight_ = 0;
  OpId awaited_, all_awaited_;
};

// Always right: in flight, and awaited at once.
void await_at_once(Kernel& kernel, RegionId region, OpId id) {
  const op::Gemm gemm = kernel.op(id).as<op::Gemm>();
  ValueId result = kernel.op(id).result();
  const Type tile = kernel.type(result);
  ValueId flight;
  insert_before(kernel, region, id, [&](Builder& b) {
    flight = b.value(started(gemm), in_flight(tile));
  });
  kernel.op(id).data = op::AwaitGemm{flight, 0, gemm.atom};
}

}  // namespace

void overlap_products(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.has(Cap::AsyncMatrix)) return;
  std::vector<RegionId> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) launches.push_back(launch->body);
  });
  for (RegionId body : launches) {
    Launched launched(kernel, machine, body);
    each_op_in_region(kernel, body, [&](RegionId region, OpId id) {
      if (!kernel.op(id).is<op::For>()) return;
      if (!Carrier(kernel, launched, region, id).run()) delay_product(kernel, launched, region, id);
    });
    each_op_in_region(kernel, body, [&](RegionId region, OpId id) {
      if (launched.group_atom(id)) await_at_once(kernel, region, id);
    });
  }
}

}  // namespace tilec::passes
