#include "passes/delay_products.h"

#include <algorithm>

#include "ir/overlap.h"
#include "ir/sources.h"
#include "passes/clone.h"
#include "passes/effects.h"
#include "passes/loop_graph.h"
#include "passes/rewrite.h"
#include "passes/schedule_loops.h"
#include "passes/uses.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Below that, in multiplications of a group and turn, handing turns on costs more than it brings: attention of 64 places, whose
// turns have half as many, was slower with it.
constexpr int64_t kLeastOrdered = 1 << 21;

// A ring that the delayed product alone reads.
struct Handed {
  ValueId ring;
  OpId wait, release;
};

class Delayer {
 public:
  Delayer(Kernel& kernel, const Launched& launched, RegionId region, OpId loop)
      : kernel_(kernel), launched_(launched), region_(region), id_(loop), loop_(kernel.op(loop).as<op::For>()) {}

  // The name of the product; empty: none is delayed.
  std::string run() {
    if (!find_products() || stage_of_product(kernel_, last_) == 0 || !find_operands()) return {};
    std::string name = name_of_product(kernel_, last_);
    for (const Handed& handed : handed_)
      if (Pipeline* pipeline = pipeline_of(kernel_, handed.ring)) pipeline->carry(1);
    order_groups();
    start_first();
    take_out_last();
    RegionId first = first_turn();
    delay();
    wrap(first);
    return name;
  }

 private:
  std::vector<OpId>& body() { return kernel_.region(loop_.body).ops; }
  const std::vector<ValueId>& args() const { return kernel_.region(loop_.body).args; }
  ValueId index() const { return args()[0]; }
  ValueId carried_arg() const { return args()[carried_ + 1]; }
  size_t place(OpId id) { return size_t(std::ranges::find(body(), id) - body().begin()); }
  std::vector<ValueId>& yielded() { return kernel_.op(body().back()).as<op::Yield>().values; }

  bool is_inside(ValueId v) {
    const Value& value = kernel_.value(v);
    return value.region.valid() ? value.region == loop_.body : place(value.op) < body().size();
  }

  // Made of the index by what can be made again in another turn?
  bool is_of_index(ValueId v) {
    bool ok = true;
    std::set<ValueId> seen;
    each_source(kernel_, v, seen, [&](ValueId x) {
      const Op* op = kernel_.definition(x);
      ok = ok && (x == index() || !is_inside(x) || (op && (is_pure(*op) || op->is<op::Subview>())));
    });
    return ok;
  }

  bool find_products() {
    size_t all = 0;
    each_op(kernel_, loop_.body, [&](OpId id) { all += launched_.group_atom(id) != nullptr; });
    for (OpId id : body())
      if (launched_.group_atom(id)) products_.push_back(id);
    if (products_.size() < 2 || products_.size() != all) return false;
    first_ = products_.front(), last_ = products_.back();
    ValueId result = kernel_.op(last_).result();
    auto slot = std::ranges::find(yielded(), result);
    if (slot == yielded().end() || use_counts(kernel_)[result.index] != 1) return false;
    carried_ = size_t(slot - yielded().begin());
    return std::all_of(body().begin(), body().begin() + ptrdiff_t(place(first_)) + 1, [&](OpId id) { return !uses(kernel_, id, carried_arg()); });
  }

  // What the product reads is still there in the next turn: carried in registers, kept in a ring, or the same in all turns.
  bool find_operands() {
    const op::Gemm& gemm = kernel_.op(last_).as<op::Gemm>();
    for (ValueId operand : {gemm.a, gemm.b}) {
      if (kernel_.type(operand).is_tile()) {
        if (is_inside(operand)) late_.push_back(operand);
        continue;
      }
      if (!is_of_index(operand)) return false;
      ValueId ring = launched_.ring_of(operand);
      if (!ring.valid() && launched_.is_written_in(loop_.body, operand)) return false;
      if (ring.valid() && !find_handed(ring, root_buffer(kernel_, operand))) return false;
    }
    return true;
  }

  bool find_handed(ValueId ring, ValueId buffer) {
    Handed handed{ring, {}, {}};
    for (OpId id : body()) {
      const op::Wait* wait = kernel_.op(id).get<op::Wait>();
      const op::Release* release = kernel_.op(id).get<op::Release>();
      if (wait && wait->ring == ring) handed.wait = id;
      if (release && release->ring == ring) handed.release = id;
    }
    if (!handed.wait.valid() && !handed.release.valid()) return true;  // handed over outside: the same in all turns
    if (!handed.wait.valid() || !handed.release.valid() || kernel_.type(ring).shape[0] < 2) return false;
    if (!is_of_index(kernel_.op(handed.wait).as<op::Wait>().turn) || !is_of_index(kernel_.op(handed.release).as<op::Release>().turn)) return false;
    const Pipeline* pipeline = pipeline_of(kernel_, ring);
    bool ok = !pipeline || pipeline->in_flight != 0;
    each_op(kernel_, loop_.body, [&](OpId id) {
      if (id == last_ || kernel_.op(id).is<op::Subview>() || kernel_.op(id).is<op::CopyAsync>()) return;
      each_operand(kernel_.op(id).data, [&](ValueId v) { ok &= !kernel_.type(v).is_buffer() || (root_buffer(kernel_, v) != buffer && launched_.ring_of(v) != ring); });
    });
    for (const Handed& known : handed_)
      if (known.ring == ring) return ok;
    handed_.push_back(handed);
    return ok;
  }

  int64_t multiplications(OpId id) {
    const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
    const Type &result = kernel_.type(gemm.acc), &a = kernel_.type(gemm.a);
    return result.shape[0] * result.shape[1] * a.shape[gemm.transpose_a ? 0 : 1];
  }

  // The turns are those of the ring that the first product reads: these are counted over all rounds of the loops around.
  void order_groups() {
    const int64_t warps = launched_.group_atom(first_)->warps, groups = launched_.warps_of_role(loop_.body) / warps;
    int64_t work = 0;
    for (OpId id : products_) work += multiplications(id);
    if (groups < 2 || work / groups < kLeastOrdered) return;
    const op::Gemm& gemm = kernel_.op(first_).as<op::Gemm>();
    for (OpId id : body()) {
      const op::Wait* wait = kernel_.op(id).get<op::Wait>();
      if (wait && place(id) < place(first_) && (wait->ring == launched_.ring_of(gemm.a) || wait->ring == launched_.ring_of(gemm.b))) turn_ = wait->turn;
    }
    if (!turn_.valid()) return;
    insert_before(kernel_, launched_.body(), launched_.roles(), [&](Builder& b) {
      Type type = plain_type(TypeKind::Ring);
      type.shape = {groups};
      order_ = b.value(op::OrderAlloc{warps}, type, "order");
    });
  }

  void start_first() {
    const op::Gemm gemm = kernel_.op(first_).as<op::Gemm>();
    const Type flight = in_flight(kernel_.type(kernel_.op(first_).result()));
    ValueId started_first;
    insert_before(kernel_, loop_.body, first_, [&](Builder& b) {
      if (order_.valid()) b.add(op::TakeTurn{order_, turn_});
      started_first = b.value(started(gemm), flight);
      if (order_.valid()) b.add(op::PassTurn{order_, turn_});
    });
    start_ = kernel_.value(started_first).op;
    kernel_.op(first_).data = op::AwaitGemm{started_first, 0, gemm.atom};
  }

  // What remains of a turn yields what its last product would add to, and its operands.
  void take_out_last() {
    std::erase(body(), last_);
    for (const Handed& handed : handed_)
      std::erase(body(), handed.wait), std::erase(body(), handed.release);
    yielded()[carried_] = kernel_.op(last_).as<op::Gemm>().acc;
    for (ValueId operand : late_) {
      yielded().push_back(operand);
      late_args_.push_back(kernel_.new_arg(loop_.body, kernel_.type(operand), "late"));
    }
  }

  RegionId first_turn() {
    Substitution given{{index().index, loop_.low}};
    for (size_t k = 0; k < loop_.inits.size(); ++k) given[args()[k + 1].index] = loop_.inits[k];
    return clone_region(kernel_, loop_.body, std::move(given));
  }

  // `v` in the turn of that index.
  ValueId again(Builder& b, ValueId v, ValueId at) {
    if (v == index()) return at;
    if (!is_inside(v)) return v;
    OpData data = kernel_.op(kernel_.value(v).op).data;
    each_operand(data, [&](ValueId& used) { used = again(b, used, at); });
    if (auto* binary = data.get<op::Binary>(); binary && !binary->guarded) return b.binary(binary->fn, binary->a, binary->b);
    const Type type = kernel_.type(v);
    return b.value(data, type);
  }

  // The product of the turn of that index, with `acc` and tiles of that turn.
  op::Gemm last_product(Builder& b, ValueId at, ValueId acc, const std::vector<ValueId>& late) {
    for (const Handed& handed : handed_) b.add(op::Wait{handed.ring, again(b, kernel_.op(handed.wait).as<op::Wait>().turn, at)});
    op::Gemm gemm = kernel_.op(last_).as<op::Gemm>();
    gemm.acc = acc;
    for (ValueId* operand : {&gemm.a, &gemm.b}) {
      auto tile = std::ranges::find(late_, *operand);
      *operand = tile == late_.end() ? again(b, *operand, at) : late[size_t(tile - late_.begin())];
    }
    return gemm;
  }

  void give_back(Builder& b, ValueId at) {
    for (const Handed& handed : handed_) b.add(op::Release{handed.ring, again(b, kernel_.op(handed.release).as<op::Release>().turn, at)});
  }

  void delay() {
    ValueId before, flight, tile;
    const Type type = kernel_.type(carried_arg());
    insert_after(kernel_, loop_.body, start_, [&](Builder& b) {
      before = b.sub(index(), loop_.step);
      flight = b.value(started(last_product(b, before, carried_arg(), late_args_)), in_flight(type));
    });
    OpId late = kernel_.value(flight).op;
    kernel_.op(first_).as<op::AwaitGemm>().in_flight = 1;
    OpId reader = place_of_wait(late);
    insert_before(kernel_, loop_.body, reader, [&](Builder& b) {
      tile = b.value(op::AwaitGemm{flight, 0, kernel_.op(last_).as<op::Gemm>().atom}, type);
      give_back(b, before);
    });
    replace_uses(kernel_, loop_.body, carried_arg(), tile);
    kernel_.op(late).as<op::GemmAsync>().acc = carried_arg();
    // Whoever fills slots in the same loop waits until they are given back: it stands behind that, where it does not yet.
    for (const Handed& handed : handed_)
      for (OpId fill : fills_of(kernel_, loop_.body, handed.ring)) {
        if (place(fill) > place(reader)) continue;
        std::erase(body(), fill);
        body().insert(std::ranges::find(body(), reader), fill);
      }
  }

  // In front of who reads the result, and no later than behind the first reduction of the turn: there warps wait for other lanes, and what
  // follows (exponentials, the sum, the next operand) stands in its registers, so that slots go back and other work runs beside. Where tiles
  // leave few registers, at once: what is computed under the product lies beside the operand that it still reads.
  OpId place_of_wait(OpId late) {
    bool is_behind_first = false, is_reduced = !has_registers_to_spare();
    auto here = std::ranges::find_if(body(), [&](OpId id) {
      bool stands_behind = is_behind_first && is_reduced;
      is_behind_first |= id == first_;
      is_reduced |= is_behind_first && kernel_.op(id).is<op::Reduce>();
      return id != late && (id == body().back() || uses(kernel_, id, carried_arg()) || stands_behind);
    });
    return *here;
  }

  bool has_registers_to_spare() {
    constexpr int64_t kSpare = 8;
    int64_t bits = 0, lanes = launched_.warps_of_role(loop_.body) * launched_.machine().lanes;
    if (lanes == 0) return true;
    auto add = [&](ValueId tile) { bits += kernel_.type(tile).element_count() * bit_width(kernel_.type(tile).element); };
    add(carried_arg());
    add(kernel_.op(first_).result());
    for (ValueId operand : late_args_) add(operand);
    return registers_for_tiles(kernel_.schedule, launched_.machine()) - bits / 32 / lanes >= kSpare;
  }

  void wrap(RegionId first) {
    op::For rest = loop_;
    const std::vector<ValueId> results = kernel_.op(id_).results;
    std::vector<Type> types;
    for (ValueId v : results) types.push_back(kernel_.type(v));
    RegionId taken = kernel_.new_region(), other = kernel_.new_region();
    OpId branch;
    insert_before(kernel_, region_, id_, [&](Builder& b) {
      branch = b.add(op::If{b.compare(CompareFn::Lt, loop_.low, loop_.high), taken, other}, types);
      b.set_region(other);
      b.yield(loop_.inits);
      b.set_region(taken);
      kernel_.region(taken).ops = std::move(kernel_.region(first).ops);
      rest.inits = kernel_.op(kernel_.region(taken).ops.back()).as<op::Yield>().values;
      kernel_.region(taken).ops.pop_back();
      rest.low = b.add(loop_.low, loop_.step);
    });
    std::erase(kernel_.region(region_).ops, id_);
    for (size_t k = 0; k < results.size(); ++k) replace_uses(kernel_, kernel_.body, results[k], kernel_.op(branch).results[k]);
    kernel_.op(id_).data = rest;
    for (ValueId operand : late_) late_results_.push_back(add_result(kernel_, id_, kernel_.type(operand)));
    kernel_.region(taken).ops.push_back(id_);
    Builder b(kernel_, taken);
    b.set_span(kernel_.op(id_).span);
    ValueId turns = trip_count(b, loop_), last = b.add(loop_.low, b.mul(b.sub(turns, b.index(1)), loop_.step));
    std::vector<ValueId> values = results;
    values[carried_] = b.value(last_product(b, last, results[carried_], late_results_), types[carried_]);
    give_back(b, last);
    b.yield(std::move(values));
  }

  Kernel& kernel_;
  const Launched& launched_;
  RegionId region_;
  OpId id_;
  op::For loop_;
  std::vector<OpId> products_;
  OpId first_, last_, start_;        // of the products; the start of the first
  size_t carried_ = 0;               // place of what the last adds to, among what the loop carries
  std::vector<ValueId> late_, late_args_, late_results_;  // tiles that the last product reads a turn later
  std::vector<Handed> handed_;
  ValueId order_, turn_;
};

}  // namespace

std::string delay_product(Kernel& kernel, const Launched& launched, RegionId region, OpId loop) { return Delayer(kernel, launched, region, loop).run(); }

}  // namespace tilec::passes
