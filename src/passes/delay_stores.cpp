#include "passes/delay_stores.h"

#include <algorithm>
#include <optional>
#include <set>

#include "diag/diag.h"
#include "ir/late_store.h"
#include "passes/clone.h"
#include "passes/effects.h"
#include "passes/rewrite.h"
#include "passes/round_end.h"
#include "passes/ways.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kMostWays = 2;

class Delayer : RoundEnd {
 public:
  // `region` holds the rounds.
  Delayer(Kernel& kernel, const Machine& machine, const Launched& launched, RegionId region, OpId rounds)
      : RoundEnd(kernel, machine, launched, rounds), region_(region) {}

  // By which a schedule means the store whose tile waits, the usual name first; none: no tile does.
  std::vector<std::string> run() {
    if (!find()) return {};
    find_ways();
    carry();
    store_or_wait();
    const std::string tensor = kernel_.param_of(store().buffer)->name;
    split_turns();
    return name_ == tensor ? std::vector{name_} : std::vector{name_, tensor};
  }

 private:
  ValueId number() const { return kernel_.region(rounds_.body).args[0]; }

  // One piece is written while the engine reads the one before.
  void find_ways() {
    for (int64_t n = 0; n < std::min<int64_t>(pieces_, kMostWays); ++n) {
      ValueId way = way_for(kernel_, machine_, launched_.body(), launched_.roles(), store(), piece_);
      if (way.valid()) ways_.push_back(way);
    }
  }

  // ---- what rounds hand on: whether a tile waits, the indices of its block, the tile

  void carry() {
    const Type tile = kernel_.type(store().tile);
    auto add = [&](ValueId init, const Type& type, std::string hint) {
      rounds_.inits.push_back(init);
      add_result(kernel_, id_, type);
      return kernel_.new_arg(rounds_.body, type, std::move(hint));
    };
    insert_before(kernel_, region_, id_, [&](Builder& b) {
      waits_ = add(b.boolean(false), scalar_type(Scalar::Bool), "waits");
      for (ValueId v : indices_) late_indices_.push_back(add(b.index(0), scalar_type(Scalar::Index), kernel_.value(v).hint));
      ValueId zero = b.constant(tile.element, is_float(tile.element) ? Number::real(0) : Number::integer(0));
      late_ = add(b.value(op::Splat{zero}, tile), tile, kernel_.value(store().tile).hint);
    });
    kernel_.op(id_).as<op::For>().inits = rounds_.inits;
  }

  void store_or_wait() {
    op::If branch{{}, kernel_.new_region(), kernel_.new_region()};
    const op::For turns = loop();
    ValueId waits;
    insert_before(kernel_, rounds_.body, store_, [&](Builder& b) {
      waits = b.compare(CompareFn::Lt, b.add(number(), rounds_.step), rounds_.high);
      waits = b.logical_and(waits, b.compare(CompareFn::Ge, trip_count(b, turns), b.index(pieces_)));
      waits = b.logical_and(waits, lies_inside(b));
      waits = b.logical_and(waits, begins_vectors(b));
      if (!ways_.empty()) waits = b.logical_and(waits, b.value(op::HasBoxes{store().buffer}, scalar_type(Scalar::Bool)));
      branch.condition = b.logical_not(waits);
      RegionId here = b.region();
      for (RegionId side : {branch.then_body, branch.else_body}) b.set_region(side), b.yield({});
      b.set_region(here);
      b.add(branch);
    });
    std::erase(body(), store_);
    store_now(branch.then_body);
    std::vector<ValueId>& yielded = kernel_.op(body().back()).as<op::Yield>().values;
    yielded.push_back(waits);
    yielded.insert(yielded.end(), indices_.begin(), indices_.end());
    yielded.push_back(store().tile);
  }

  // What does not wait goes the same way, if there is one: what an engine does not take, lanes find there row by row.
  void store_now(RegionId side) {
    std::vector<OpId>& ops = kernel_.region(side).ops;
    if (ways_.empty()) return void(ops.insert(ops.begin(), store_));
    insert_before(kernel_, side, ops.front(), [&](Builder& b) {
      for (int64_t piece = 0; piece < pieces_; ++piece) send(b, kernel_, cut(b, store(), piece), way_of(piece));
    });
  }

  // Vectors may begin wherever they would.
  ValueId begins_vectors(Builder& b) const {
    const ValueId buffer = store().buffer;
    const Type tensor = kernel_.type(buffer);
    ValueId begins = b.value(op::IsAligned{buffer, machine_.vector_bytes}, scalar_type(Scalar::Bool));
    ValueId rest = b.index(machine_.vector_bytes / byte_width(tensor.element) - 1);
    for (int axis = 0; axis + 1 < tensor.rank(); ++axis) {
      ValueId stride = b.value(op::Stride{buffer, axis}, scalar_type(Scalar::Index));
      begins = b.logical_and(begins, b.compare(CompareFn::Eq, b.binary(BinaryFn::And, stride, rest), b.index(0)));
    }
    return begins;
  }

  ValueId lies_inside(Builder& b) const {
    ValueId inside = b.boolean(true);
    const Type tile = kernel_.type(store().tile);
    for (size_t axis = 0; axis < store().axes.size(); ++axis) {
      auto of_tensor = size_t(store().axes[axis]);
      if (of_tensor < store().bounds.size() && store().bounds[of_tensor] == Bounds::Inside) continue;
      ValueId offset = store().offsets[of_tensor], extent = b.value(op::Extent{store().buffer, int64_t(of_tensor)}, scalar_type(Scalar::Index));
      // Not offset + length <= extent: that sum may leave 64 bits.
      ValueId fits = b.compare(CompareFn::Le, offset, b.sub(extent, b.index(tile.shape[axis])));
      inside = b.logical_and(inside, b.logical_and(b.compare(CompareFn::Ge, offset, b.index(0)), fits));
    }
    return inside;
  }

  // ---- the first turns of a round, by themselves; those that find a tile waiting store it

  // The first product is there whether or not a tile waits, so that registers of sums are the engine's wherever the ways meet. A round without
  // turns has what the loop would have begun with.
  void split_turns() {
    const op::For loop = this->loop();
    op::If branch{{}, kernel_.new_region(), kernel_.new_region()};
    const bool asks = asks_only_behind();
    std::vector<OpId> moved(body().begin() + ptrdiff_t(place(loop_)), body().begin() + ptrdiff_t(end_));
    std::vector<ValueId> results = tiles_, given, first;
    std::vector<Type> types;
    for (ValueId v : tiles_) types.push_back(kernel_.type(v));
    if (asks) results.insert(results.end(), indices_.begin(), indices_.end()), types.insert(types.end(), indices_.size(), scalar_type(Scalar::Index));
    OpId made;
    insert_before(kernel_, rounds_.body, loop_, [&](Builder& b) {
      RegionId here = b.region();
      branch.condition = b.compare(CompareFn::Lt, loop.low, loop.high);
      b.set_region(branch.else_body);
      for (ValueId v : tiles_) given.push_back(without_turns(b, v));
      if (asks) ask_again(b, given);
      b.yield(std::move(given));
      b.set_region(branch.then_body);
      first = tiles_;
      std::vector<ValueId> inits = first_turns(b, loop, asks ? &first : nullptr);
      op::For& rest = kernel_.op(loop_).as<op::For>();
      rest.low = inits.back();
      inits.pop_back();
      rest.inits = std::move(inits);
      std::vector<OpId>& taken = kernel_.region(branch.then_body).ops;
      taken.insert(taken.end(), moved.begin(), moved.end());
      b.yield(first);
      b.set_region(here);
      made = b.add(branch, types);
    });
    std::erase_if(body(), [&](OpId id) { return std::ranges::find(moved, id) != moved.end(); });
    for (ValueId v : loop.inits)
      if (kernel_.type(v).kind == TypeKind::Flight) std::erase(body(), kernel_.value(v).op);
    for (size_t i = 0; i < results.size(); ++i) {
      if (i >= tiles_.size()) std::erase(body(), kernel_.value(results[i]).op);
      for (size_t at = place(made) + 1; at < body().size(); ++at) replace_in(body()[at], results[i], kernel_.op(made).results[i]);
    }
  }

  void replace_in(OpId id, ValueId from, ValueId to) {
    each_operand(kernel_.op(id).data, [&](ValueId& used) { used = used == from ? to : used; });
    std::vector<RegionId> regions;
    each_region(std::as_const(kernel_.op(id).data), [&](RegionId r) { regions.push_back(r); });
    for (RegionId r : regions) replace_uses(kernel_, r, from, to);
  }

  // Handed to the engine and back, so that its registers are written there, and not in front of the branch as well.
  ValueId without_turns(Builder& b, ValueId tile) const {
    op::AwaitGemm await = *kernel_.defined_by<op::AwaitGemm>(tile);
    await.flight = b.value(op::BeginFlight(*begin_of(tile)), in_flight(kernel_.type(tile)));
    return b.value(await, Type(kernel_.type(tile)));
  }

  // Does nothing in front of the loop's end ask for the block's indices, but for what is made of them for those behind? That goes there.
  bool asks_only_behind() {
    std::set<ValueId> made(indices_.begin(), indices_.end());
    std::vector<OpId> moved;
    for (size_t at = 0; at <= place(loop_); ++at) {
      bool asks = false;
      auto look = [&](OpId id) { each_operand(kernel_.op(id).data, [&](ValueId v) { asks |= made.contains(v); }); };
      look(body()[at]);
      each_region(kernel_.op(body()[at]).data, [&](RegionId r) { each_op(kernel_, r, look); });
      if (!asks) continue;
      const Op& op = kernel_.op(body()[at]);
      if (!is_pure(op)) return false;
      made.insert(op.results.begin(), op.results.end());
      moved.push_back(body()[at]);
    }
    std::erase_if(body(), [&](OpId id) { return std::ranges::find(moved, id) != moved.end(); });
    end_ -= moved.size();
    body().insert(body().begin() + ptrdiff_t(end_), moved.begin(), moved.end());
    return true;
  }

  void ask_again(Builder& b, std::vector<ValueId>& values) const {
    for (ValueId v : indices_) {
      const OpData data = kernel_.op(kernel_.value(v).op).data;
      values.push_back(b.value(data, scalar_type(Scalar::Index), kernel_.value(v).hint));
    }
  }

  // What the loop begins with; its flights begin where they are used.
  std::vector<ValueId> begun(Builder& b, const op::For& loop) const {
    std::vector<ValueId> values;
    for (ValueId init : loop.inits) {
      const Type type = kernel_.type(init);
      const op::BeginFlight* begin = kernel_.defined_by<op::BeginFlight>(init);
      values.push_back(type.kind == TypeKind::Flight ? b.value(op::BeginFlight(*begin), type) : init);
    }
    return values;
  }

  // What the loop goes on with, and the turn that it goes on from. `asked`: takes the block's indices, if nothing asks for them before.
  std::vector<ValueId> first_turns(Builder& b, const op::For& loop, std::vector<ValueId>* asked) {
    std::vector<ValueId> carried = first_turn(b, loop);
    if (asked) ask_again(b, *asked);
    std::vector<Type> types;
    for (ValueId v : loop.inits) types.push_back(kernel_.type(v));
    types.push_back(scalar_type(Scalar::Index));
    op::If branch{waits_, kernel_.new_region(), kernel_.new_region()};
    RegionId here = b.region();
    b.set_region(branch.else_body);
    carried.push_back(after(b, loop, 1));
    b.yield(carried);
    carried.pop_back();
    b.set_region(branch.then_body);
    store_piece(b, 0);
    if (pieces_ > 1) carried = late_turns(b, loop, std::move(carried));
    carried.push_back(after(b, loop, pieces_));
    b.yield(std::move(carried));
    b.set_region(here);
    OpId made = b.add(branch, types);
    return kernel_.op(made).results;
  }

  static ValueId after(Builder& b, const op::For& loop, int64_t turns) { return b.add(loop.low, b.mul(b.index(turns), loop.step)); }

  // By itself; what it hands on.
  std::vector<ValueId> first_turn(Builder& b, const op::For& loop) {
    const std::vector<ValueId> args = kernel_.region(loop.body).args, carried = begun(b, loop);
    Substitution given{{args[0].index, after(b, loop, 0)}};
    for (size_t k = 0; k < carried.size(); ++k) given[args[k + 1].index] = carried[k];
    RegionId one = clone_region(kernel_, loop.body, std::move(given));
    std::vector<OpId> ops = kernel_.region(one).ops, &all = kernel_.region(b.region()).ops;
    all.insert(all.end(), ops.begin(), ops.end() - 1);
    return kernel_.op(ops.back()).as<op::Yield>().values;
  }

  // The turns under which the other pieces are stored, each behind the start of its products: a loop that asks for its turn, as turns
  // that stand in the program one by one take long to compile.
  std::vector<ValueId> late_turns(Builder& b, const op::For& loop, std::vector<ValueId> carried) {
    std::vector<Type> types;
    for (ValueId v : carried) types.push_back(kernel_.type(v));
    op::For late = loop;
    late.inits = std::move(carried);
    late.low = after(b, loop, 1), late.high = after(b, loop, pieces_);
    late.body = clone_region(kernel_, loop.body);
    insert_after(kernel_, late.body, last_start(late.body), [&](Builder& turn) { store_of_turn(turn, loop, kernel_.region(late.body).args[0], 1); });
    return kernel_.op(b.add(late, types)).results;
  }

  // That of the turn whose index is `index`, which is the `from`-th at the least.
  void store_of_turn(Builder& b, const op::For& loop, ValueId index, int64_t from) {
    if (from + 1 == pieces_) return store_piece(b, from);
    op::If branch{b.compare(CompareFn::Eq, index, after(b, loop, from)), kernel_.new_region(), kernel_.new_region()};
    RegionId here = b.region();
    b.set_region(branch.then_body);
    store_piece(b, from);
    b.yield({});
    b.set_region(branch.else_body);
    store_of_turn(b, loop, index, from + 1);
    b.yield({});
    b.set_region(here);
    b.add(branch);
  }

  ValueId way_of(int64_t piece) const { return ways_[size_t(piece) % ways_.size()]; }

  // A piece of what `whole` stores.
  op::Store cut(Builder& b, op::Store whole, int64_t piece) const {
    const size_t last = whole.axes.size() - 1;
    std::vector<ValueId> within(whole.axes.size(), b.index(0));
    Axes axes;
    for (size_t axis = 0; axis <= last; ++axis) axes.push_back(int64_t(axis));
    within[last] = b.index(piece * piece_.shape[last]);
    whole.tile = b.value(op::Extract{whole.tile, within, axes}, piece_);
    ValueId& along = whole.offsets[size_t(whole.axes[last])];
    along = b.add(along, within[last]);
    return whole;
  }

  void store_piece(Builder& b, int64_t piece) {
    op::Store late = store();
    late.tile = late_;
    for (ValueId& offset : late.offsets) offset = of_last_round(b, offset);
    late.bounds.assign(late.offsets.size(), Bounds::Inside);
    late.label = kLateStore;
    late = cut(b, std::move(late), piece);
    if (ways_.empty()) b.add(std::move(late));
    else send(b, kernel_, late, way_of(piece));
  }

  // `v` as the round before had it.
  ValueId of_last_round(Builder& b, ValueId v) {
    auto index = std::ranges::find(indices_, v);
    if (index != indices_.end()) return late_indices_[size_t(index - indices_.begin())];
    if (!is_of_round(v)) return v;
    OpData data = kernel_.op(kernel_.value(v).op).data;
    each_operand(data, [&](ValueId& used) { used = of_last_round(b, used); });
    if (auto* binary = data.get<op::Binary>(); binary && !binary->guarded) return b.binary(binary->fn, binary->a, binary->b);
    const Type type = kernel_.type(v);
    return b.value(data, type);
  }

  const RegionId region_;
  std::vector<ValueId> late_indices_;  // of the round before
  ValueId waits_, late_;
  std::vector<ValueId> ways_;  // that pieces take in turn; none: lanes store them
};

// What the schedule says of tensors is what came of them.
void write_down(Kernel& kernel, const std::set<std::vector<std::string>>& stores, Diagnostics& diagnostics) {
  std::set<std::string> delayed;
  for (const std::vector<std::string>& names : stores) {
    delayed.insert(names.begin(), names.end());
    bool is_known = std::ranges::any_of(kernel.schedule.placements, [&](const Placement& p) { return p.role.empty() && std::ranges::find(names, p.label) != names.end(); });
    if (!is_known) kernel.schedule.placements.push_back({.label = names.front(), .role = {}, .stage = 1, .order = 0, .is_inferred = true});
  }
  for (Placement& placement : kernel.schedule.placements) {
    if (!placement.role.empty() || placement.stage == 0) continue;
    if (delayed.contains(placement.label)) placement.stage = 1;
    if (delayed.contains(placement.label) || !is_store(kernel, placement.label)) continue;
    if (!placement.is_inferred)
      diagnostics.at(kernel.schedule.span)
          .error(diag::ScheduleRefused, "`" + placement.label + "` takes no tile that ends a round of blocks that go on and can wait for the next one's products");
    placement.stage = 0;
  }
}

// Steps from block to block in a fixed order.
bool is_rounds(const Kernel& kernel, OpId id) {
  const op::For* loop = kernel.op(id).get<op::For>();
  return loop && loop->loop == LoopKind::Sequential && kernel.defined_by<op::GridBlocks>(loop->step);
}

}  // namespace

bool is_store(const Kernel& kernel, const std::string& name) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Store* store = kernel.op(id).get<op::Store>();
    found |= store && speaks_of(kernel, name, *store);
  });
  return found;
}

void delay_stores(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  if (!machine.has(Cap::AsyncMatrix)) return;
  std::set<std::vector<std::string>> delayed;
  for (RegionId body : launch_bodies(kernel)) {
    Launched launched(kernel, machine, body);
    if (!launched.roles().valid()) continue;
    each_op_in_region(kernel, body, [&](RegionId region, OpId id) {
      if (!is_rounds(kernel, id)) return;
      if (std::vector<std::string> names = Delayer(kernel, machine, launched, region, id).run(); !names.empty()) delayed.insert(std::move(names));
    });
  }
  write_down(kernel, delayed, diagnostics);
}

}  // namespace tilec::passes
