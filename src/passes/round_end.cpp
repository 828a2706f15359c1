#include "passes/round_end.h"

#include <algorithm>

#include "ir/overlap.h"
#include "ir/sources.h"
#include "layout/transform.h"
#include "passes/effects.h"
#include "passes/schedule_loops.h"
#include "passes/tile_pressure.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kWordBytes = 4;
constexpr int64_t kWordsOfPiece = 16;  // of a lane: what is stored under one turn, at most
constexpr int64_t kMostPieces = 8;     // turns that stand in the program one by one

}  // namespace

std::string name_of_store(const Kernel& kernel, const op::Store& store) {
  const Param* param = kernel.param_of(store.buffer);
  return !store.label.empty() ? store.label : param ? param->name : "";
}

bool speaks_of(const Kernel& kernel, const std::string& name, const op::Store& store) {
  const Param* param = kernel.param_of(store.buffer);
  return name == store.label || (param && name == param->name);
}

bool RoundEnd::find() { return find_store() && find_loop() && find_end() && find_indices() && find_pieces() && fits(); }

// The last one of the round, if nothing else of the launch touches its tensor.
bool RoundEnd::find_store() {
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
  return is_alone && has_vectors(*param) && is_rounded(kernel_.type(store().tile));
}

bool is_rounded(const Type& tile) { return byte_width(tile.element) < kWordBytes; }

// Elements of its rows lie side by side, and no index alone may lie outside.
bool RoundEnd::has_vectors(const Param& param) const {
  const Type& tensor = kernel_.type(store().buffer);
  auto step = param.strides.empty() ? Number::integer(1) : kernel_.constant(param.strides.back()).value_or(Number::integer(0));
  bool is_row = !store().axes.empty() && store().axes.back() + 1 == tensor.rank() && step.i == 1 && byte_width(tensor.element) < machine_.vector_bytes;
  for (size_t axis = 0; axis < store().offsets.size(); ++axis) {
    bool is_tiled = std::ranges::find(store().axes, int64_t(axis)) != store().axes.end();
    is_row &= is_tiled || (axis < store().bounds.size() && store().bounds[axis] == Bounds::Inside);
  }
  return is_row;
}

const Placement* RoundEnd::placement() const {
  auto found = std::ranges::find_if(kernel_.schedule.placements, [&](const Placement& p) { return p.role.empty() && speaks_of(kernel_, p.label, store()); });
  return found == kernel_.schedule.placements.end() ? nullptr : &*found;
}

// The one loop in front of the store that carries products in flight; all rounds have as many turns of it.
bool RoundEnd::find_loop() {
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

OpId RoundEnd::last_start(RegionId region) const {
  OpId last;
  for (OpId id : kernel_.region(region).ops)
    if (kernel_.op(id).is<op::GemmAsync>()) last = id;
  return last;
}

// Is it the same in all rounds?
bool RoundEnd::is_alike(ValueId v) const {
  bool ok = true;
  std::set<ValueId> seen;
  each_source(kernel_, v, seen, [&](ValueId x) {
    const Op* op = kernel_.definition(x);
    ok &= !is_of_round(x) || (op && is_pure(*op));
  });
  return ok;
}

// The offsets are made of the block's indices and of what all rounds have alike.
bool RoundEnd::find_indices() {
  std::set<ValueId> seen;
  return std::ranges::all_of(store().offsets, [&](ValueId v) { return find_indices(v, seen); });
}
bool RoundEnd::find_indices(ValueId v, std::set<ValueId>& seen) {
  if (!is_of_round(v) || !seen.insert(v).second) return true;
  const Op* op = kernel_.definition(v);
  if (!op || !is_pure(*op)) return false;
  if (op->is<op::BlockIndex>()) return indices_.push_back(v), true;
  bool ok = true;
  each_operand(op->data, [&](ValueId used) { ok &= find_indices(used, seen); });
  return ok;
}

// Along the tile's last axis, of which each lane holds in a piece what it holds in the tile: the widest that are no more than a turn is for.
bool RoundEnd::find_pieces() {
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

int64_t RoundEnd::words(const Type& tile) const {
  return (kernel_.layouts.reg(tile.layout).registers() * byte_width(tile.element) + kWordBytes - 1) / kWordBytes;
}

// What waits is there beside all else.
bool RoundEnd::fits() const {
  return tile_pressure(kernel_, launched_.body()) + words(kernel_.type(store().tile)) <= registers_for_tiles(kernel_.schedule, machine_);
}

// The loop, what awaits its products, and what gives the last slots back; of all that the rest of the round asks for the sums alone.
bool RoundEnd::find_end() {
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
const op::BeginFlight* RoundEnd::begin_of(ValueId tile) const {
  const auto& results = kernel_.op(loop_).results;
  auto carried = std::ranges::find(results, kernel_.defined_by<op::AwaitGemm>(tile)->flight);
  return carried == results.end() ? nullptr : kernel_.defined_by<op::BeginFlight>(loop().inits[size_t(carried - results.begin())]);
}

}  // namespace tilec::passes
