#include "passes/delay_stores.h"

#include <algorithm>
#include <optional>
#include <set>

#include "diag/diag.h"
#include "ir/late_store.h"
#include "ir/overlap.h"
#include "ir/sources.h"
#include "layout/transform.h"
#include "passes/clone.h"
#include "passes/effects.h"
#include "passes/flights.h"
#include "passes/rewrite.h"
#include "passes/schedule_loops.h"
#include "passes/tile_pressure.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kWordsOfPiece = 16;  // of a lane: what is stored under one turn, at most
constexpr int64_t kMostPieces = 8;     // turns that stand in the program one by one

// By which a schedule speaks of it.
std::string name_of_store(const Kernel& kernel, const op::Store& store) {
  const Param* param = kernel.param_of(store.buffer);
  return !store.label.empty() ? store.label : param ? param->name : "";
}

class Delayer {
 public:
  Delayer(Kernel& kernel, const Machine& machine, const Launched& launched, OpId rounds)
      : kernel_(kernel), machine_(machine), launched_(launched), id_(rounds), rounds_(kernel.op(rounds).as<op::For>()) {}

  // The name of the tensor whose tile waits; empty: none does.
  std::string run() {
    if (!find_store() || !find_loop() || !find_end() || !find_indices() || !find_pieces() || !fits()) return {};
    carry();
    store_or_wait();
    split_turns();
    return name_;
  }

 private:
  std::vector<OpId>& body() { return kernel_.region(rounds_.body).ops; }
  const std::vector<OpId>& body() const { return kernel_.region(rounds_.body).ops; }
  ValueId number() const { return kernel_.region(rounds_.body).args[0]; }
  const op::For& loop() const { return kernel_.op(loop_).as<op::For>(); }
  const op::Store& store() const { return kernel_.op(store_).as<op::Store>(); }
  size_t place(OpId id) const { return size_t(std::ranges::find(body(), id) - body().begin()); }
  bool is_of_round(ValueId v) const {
    const Value& value = kernel_.value(v);
    return value.region.valid() ? value.region == rounds_.body : place(value.op) < body().size();
  }

  // The last one of the round, if nothing else of the launch touches its tensor.
  bool find_store() {
    for (OpId id : body())
      if (kernel_.op(id).is<op::Store>()) store_ = id;
    if (!store_.valid() || store().adds || !is_of_round(store().tile) || !kernel_.definition(store().tile)) return false;
    const Param* param = kernel_.param_of(store().buffer);
    name_ = name_of_store(kernel_, store());
    const Placement* pinned = placement();
    bool is_refused = pinned && pinned->stage == 0;
    if (!param || name_.empty() || is_refused) return false;
    bool is_alone = true;
    each_op(kernel_, launched_.body(), [&](OpId id) {
      for (const MemoryTouch& touch : touches_of(kernel_, id)) is_alone &= id == store_ || !may_overlap(kernel_, touch.buffer, store().buffer);
    });
    return is_alone && has_vectors(*param) && is_rounded();
  }

  // What is stored as it was summed up lies in the registers of the sum, which the next round's products are to have.
  bool is_rounded() const { return byte_width(kernel_.type(store().tile).element) < kWordBytes; }

  // Elements of its rows lie side by side, and no index alone may lie outside.
  bool has_vectors(const Param& param) const {
    const Type& tensor = kernel_.type(store().buffer);
    auto step = param.strides.empty() ? Number::integer(1) : kernel_.constant(param.strides.back()).value_or(Number::integer(0));
    bool is_row = !store().axes.empty() && store().axes.back() + 1 == tensor.rank() && step.i == 1 && byte_width(tensor.element) < machine_.vector_bytes;
    for (size_t axis = 0; axis < store().offsets.size(); ++axis) {
      bool is_tiled = std::ranges::find(store().axes, int64_t(axis)) != store().axes.end();
      is_row &= is_tiled || (axis < store().bounds.size() && store().bounds[axis] == Bounds::Inside);
    }
    return is_row;
  }

  const Placement* placement() const {
    auto found = std::ranges::find_if(kernel_.schedule.placements, [&](const Placement& p) { return p.role.empty() && p.label == name_; });
    return found == kernel_.schedule.placements.end() ? nullptr : &*found;
  }

  // The one loop in front of the store that carries products in flight; all rounds have as many turns of it.
  bool find_loop() {
    for (OpId id : body()) {
      const op::For* loop = kernel_.op(id).get<op::For>();
      bool has_flights = loop && std::ranges::any_of(loop->inits, [&](ValueId v) { return kernel_.type(v).kind == TypeKind::Flight; });
      if (!has_flights) continue;
      if (loop_.valid()) return false;
      loop_ = id;
    }
    if (!loop_.valid() || place(loop_) > place(store_) || !last_start(loop().body).valid()) return false;
    for (ValueId init : loop().inits) {
      const op::BeginFlight* begin = kernel_.defined_by<op::BeginFlight>(init);
      if (kernel_.type(init).kind == TypeKind::Flight && (!begin || !is_of_round(init))) return false;
    }
    return std::ranges::all_of(std::array{loop().low, loop().high, loop().step}, [&](ValueId v) { return is_alike(v); });
  }

  OpId last_start(RegionId region) const {
    OpId last;
    for (OpId id : kernel_.region(region).ops)
      if (kernel_.op(id).is<op::GemmAsync>()) last = id;
    return last;
  }

  // Is it the same in all rounds?
  bool is_alike(ValueId v) const {
    bool ok = true;
    std::set<ValueId> seen;
    each_source(kernel_, v, seen, [&](ValueId x) {
      const Op* op = kernel_.definition(x);
      ok &= !is_of_round(x) || (op && is_pure(*op));
    });
    return ok;
  }

  // The offsets are made of the block's indices and of what all rounds have alike.
  bool find_indices() {
    std::set<ValueId> seen;
    return std::ranges::all_of(store().offsets, [&](ValueId v) { return find_indices(v, seen); });
  }
  bool find_indices(ValueId v, std::set<ValueId>& seen) {
    if (!is_of_round(v) || !seen.insert(v).second) return true;
    const Op* op = kernel_.definition(v);
    if (!op || !is_pure(*op)) return false;
    if (op->is<op::BlockIndex>()) return indices_.push_back(v), true;
    bool ok = true;
    each_operand(op->data, [&](ValueId used) { ok &= find_indices(used, seen); });
    return ok;
  }

  // Along the tile's last axis, of which each lane holds in a piece what it holds in the tile: the widest that are no more than a turn is for.
  bool find_pieces() {
    const Type tile = kernel_.type(store().tile);
    const layout::RegLayout layout = kernel_.layouts.reg(tile.layout);
    for (pieces_ = std::max<int64_t>(1, words(tile) / kWordsOfPiece); pieces_ <= kMostPieces; ++pieces_) {
      if (tile.shape.back() % pieces_) continue;
      std::vector<layout::Cut> cuts;
      for (int64_t extent : tile.shape) cuts.push_back({int(extent), 0});
      cuts.back() = {int(tile.shape.back() / pieces_), tile.shape.back() / pieces_};
      auto cut = layout::cut(layout, cuts);
      if (!cut || cut->registers() * pieces_ != layout.registers()) continue;
      piece_ = tile;
      piece_.shape.back() /= pieces_;
      piece_.layout = kernel_.layouts.intern(layout::normalized(*cut));
      return true;
    }
    return false;
  }

  int64_t words(const Type& tile) const {
    return (kernel_.layouts.reg(tile.layout).registers() * byte_width(tile.element) + kWordBytes - 1) / kWordBytes;
  }

  // What waits is there beside all else.
  bool fits() const {
    return tile_pressure(kernel_, launched_.body()) + words(kernel_.type(store().tile)) <= registers_for_tiles(kernel_.schedule, machine_);
  }

  // ---- what rounds hand on: whether a tile waits, the indices of its block, the tile

  void carry() {
    const Type tile = kernel_.type(store().tile);
    auto add = [&](ValueId init, const Type& type, std::string hint) {
      rounds_.inits.push_back(init);
      add_result(kernel_, id_, type);
      return kernel_.new_arg(rounds_.body, type, std::move(hint));
    };
    RegionId outer = region_of(launched_.body());
    insert_before(kernel_, outer, id_, [&](Builder& b) {
      waits_ = add(b.boolean(false), scalar_type(Scalar::Bool), "waits");
      for (ValueId v : indices_) late_indices_.push_back(add(b.index(0), scalar_type(Scalar::Index), kernel_.value(v).hint));
      ValueId zero = b.constant(tile.element, is_float(tile.element) ? Number::real(0) : Number::integer(0));
      late_ = add(b.value(op::Splat{zero}, tile), tile, kernel_.value(store().tile).hint);
    });
    kernel_.op(id_).as<op::For>().inits = rounds_.inits;
  }

  // The region that holds the rounds.
  RegionId region_of(RegionId region) const {
    RegionId found;
    auto look = [&](RegionId r) {
      if (std::ranges::find(kernel_.region(r).ops, id_) != kernel_.region(r).ops.end()) found = r;
    };
    look(region);
    each_op(kernel_, region, [&](OpId id) { each_region(kernel_.op(id).data, look); });
    return found;
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
      branch.condition = b.logical_not(waits);
      RegionId here = b.region();
      for (RegionId side : {branch.then_body, branch.else_body}) b.set_region(side), b.yield({});
      b.set_region(here);
      b.add(branch);
    });
    std::erase(body(), store_);
    std::vector<OpId>& now = kernel_.region(branch.then_body).ops;
    now.insert(now.begin(), store_);
    std::vector<ValueId>& yielded = kernel_.op(body().back()).as<op::Yield>().values;
    yielded.push_back(waits);
    yielded.insert(yielded.end(), indices_.begin(), indices_.end());
    yielded.push_back(store().tile);
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

  // The loop, what awaits its products, and what gives the last slots back; of all that the rest of the round asks for the sums alone.
  bool find_end() {
    const size_t from = place(loop_);
    end_ = from + 1;
    for (size_t at = from + 1; at < body().size(); ++at) {
      bool ends = kernel_.op(body()[at]).is<op::AwaitGemm>();
      each_region(kernel_.op(body()[at]).data, [&](RegionId r) { each_op(kernel_, r, [&](OpId id) { ends |= kernel_.op(id).is<op::Release>(); }); });
      if (ends) end_ = at + 1;
    }
    std::set<ValueId> made;
    for (size_t at = from; at < end_; ++at) {
      const Op& op = kernel_.op(body()[at]);
      made.insert(op.results.begin(), op.results.end());
      if (const op::AwaitGemm* await = op.get<op::AwaitGemm>(); await && kernel_.type(op.result()).is_tile() && begin_of(op.result())) tiles_.push_back(op.result());
    }
    bool ok = place(store_) >= end_;
    auto look = [&](OpId id) {
      each_operand(kernel_.op(id).data, [&](ValueId v) { ok &= !made.contains(v) || std::ranges::find(tiles_, v) != tiles_.end(); });
    };
    for (size_t at = end_; at < body().size(); ++at) {
      look(body()[at]);
      each_region(kernel_.op(body()[at]).data, [&](RegionId r) { each_op(kernel_, r, look); });
    }
    return ok;
  }

  // How the sum that is awaited there begins; null: it is none of the loop's.
  const op::BeginFlight* begin_of(ValueId tile) const {
    const auto& results = kernel_.op(loop_).results;
    auto carried = std::ranges::find(results, kernel_.defined_by<op::AwaitGemm>(tile)->flight);
    return carried == results.end() ? nullptr : kernel_.defined_by<op::BeginFlight>(loop().inits[size_t(carried - results.begin())]);
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
    std::vector<ValueId> carried = turn(b, loop, 0, begun(b, loop), {});
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
    for (int64_t piece = 1; piece < pieces_; ++piece) carried = turn(b, loop, piece, std::move(carried), piece);
    carried.push_back(after(b, loop, pieces_));
    b.yield(std::move(carried));
    b.set_region(here);
    OpId made = b.add(branch, types);
    return kernel_.op(made).results;
  }

  static ValueId after(Builder& b, const op::For& loop, int64_t turns) { return b.add(loop.low, b.mul(b.index(turns), loop.step)); }

  // A turn of the loop, a piece stored behind the start of its products; what it hands on.
  std::vector<ValueId> turn(Builder& b, const op::For& loop, int64_t number, const std::vector<ValueId>& carried, std::optional<int64_t> piece) {
    const std::vector<ValueId> args = kernel_.region(loop.body).args;
    Substitution given{{args[0].index, after(b, loop, number)}};
    for (size_t k = 0; k < carried.size(); ++k) given[args[k + 1].index] = carried[k];
    RegionId one = clone_region(kernel_, loop.body, std::move(given));
    std::vector<OpId> ops = kernel_.region(one).ops;
    std::vector<ValueId> handed_on = kernel_.op(ops.back()).as<op::Yield>().values;
    auto behind = std::ranges::find(ops, last_start(one)) + 1;
    append(b, {ops.begin(), behind});
    if (piece) store_piece(b, *piece);
    append(b, {behind, ops.end() - 1});
    return handed_on;
  }

  void append(Builder& b, std::span<const OpId> ops) {
    std::vector<OpId>& all = kernel_.region(b.region()).ops;
    all.insert(all.end(), ops.begin(), ops.end());
  }

  void store_piece(Builder& b, int64_t piece) {
    op::Store late = store();
    const size_t last = late.axes.size() - 1;
    std::vector<ValueId> within(late.axes.size(), b.index(0));
    Axes axes;
    for (size_t axis = 0; axis <= last; ++axis) axes.push_back(int64_t(axis));
    within[last] = b.index(piece * piece_.shape[last]);
    late.tile = b.value(op::Extract{late_, within, axes}, piece_);
    for (ValueId& offset : late.offsets) offset = of_last_round(b, offset);
    ValueId& along = late.offsets[size_t(late.axes[last])];
    along = b.add(along, within[last]);
    late.bounds.assign(late.offsets.size(), Bounds::Inside);
    late.label = kLateStore;
    b.add(std::move(late));
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

  Kernel& kernel_;
  const Machine& machine_;
  const Launched& launched_;
  OpId id_;
  op::For rounds_;
  OpId store_, loop_;
  size_t end_ = 0;                // place behind what ends the loop's products
  std::vector<ValueId> tiles_;    // that these give
  std::string name_;
  std::vector<ValueId> indices_, late_indices_;  // of the block that the offsets are made of: of this round, of the last one
  ValueId waits_, late_;
  int64_t pieces_ = 0;
  Type piece_;
};

// What the schedule says of tensors is what came of them.
void write_down(Kernel& kernel, const std::set<std::string>& delayed, Diagnostics& diagnostics) {
  for (const std::string& name : delayed) {
    bool is_known = std::ranges::any_of(kernel.schedule.placements, [&](const Placement& p) { return p.role.empty() && p.label == name; });
    if (!is_known) kernel.schedule.placements.push_back({.label = name, .role = {}, .stage = 1, .order = 0, .is_inferred = true});
  }
  for (Placement& placement : kernel.schedule.placements) {
    if (!placement.role.empty() || placement.stage == 0 || !is_store(kernel, placement.label) || delayed.contains(placement.label)) continue;
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
    found |= store && name_of_store(kernel, *store) == name;
  });
  return found;
}

void delay_stores(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  if (!machine.has(Cap::AsyncMatrix)) return;
  std::set<std::string> delayed;
  std::vector<RegionId> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) launches.push_back(launch->body);
  });
  for (RegionId body : launches) {
    Launched launched(kernel, machine, body);
    if (!launched.roles().valid()) continue;
    each_op_in_region(kernel, body, [&](RegionId, OpId id) {
      if (!is_rounds(kernel, id)) return;
      if (std::string name = Delayer(kernel, machine, launched, id).run(); !name.empty()) delayed.insert(std::move(name));
    });
  }
  write_down(kernel, delayed, diagnostics);
}

}  // namespace tilec::passes
