// A pipelined loop fills shared tiles by copies from device memory and computes with them. Staged, its tiles become stacks
// of `depth` versions, handed over through a ring: while turn t is computed with, the copies of turn t + depth - 1 run (or of
// one nearer, where several products are in flight).
//
// A ring lives as long as the block. In loops around, its turns go on where the last round has ended: the count is carried.
//
//   for p in 0 .. min(turns, depth - 1)      acquire p; copies of turn p; commit p
//   for i in the loop                        the same for turn t + depth - 1, unless it is beyond the last
//                                            wait t; the body, with version t mod depth; release t
//
// A ring of one version has its turn filled where the loop begins it. That is of use where a role copies by the engine: a tile comes
// while the others compute with what is behind its last reader, and in front of the first one of the next turn.
//
// Tiles that the same products read share a ring, but those that the schedule lists as a pipeline of their own have one of
// theirs. All rings of a loop are as deep as the memory holds all of them. What was staged is written into the schedule.
#include "passes/stage_loops.h"

#include <map>
#include <set>

#include "diag/diag.h"
#include "passes/boxes.h"
#include "passes/carried_count.h"
#include "passes/effects.h"
#include "passes/fills.h"
#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/send_tiles.h"
#include "passes/shared_room.h"
#include "passes/stage_once.h"
#include "passes/versions.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kUsualDepth = 3;      // where the program does not say
constexpr int64_t kBytesOfBarriers = 16;  // of one slot of a ring

struct StagedCopy : Fill {
  ValueId versions = {};  // the stack that takes its place
};

// A loop of a launch, and the region that it stands in.
struct LoopAt {
  RegionId launch, region;
  OpId loop;
};

// Versions of these tiles that shared memory holds beside all else.
int64_t room_for(const Kernel& kernel, const Machine& machine, RegionId launch, std::span<const Fill> fills) {
  int64_t one = kBytesOfBarriers, all = 0;
  for (const Fill& fill : fills) one += shared_bytes(kernel, fill.buffer);
  each_op(kernel, launch, [&](OpId id) {
    const Op& op = kernel.op(id);
    if (op.is<op::Alloc>() && kernel.type(op.result()).space == Space::Shared) all += shared_bytes(kernel, op.result());
  });
  return (machine.shared_bytes - kernel.schedule.facts.scratch_bytes - (all - (one - kBytesOfBarriers))) / one;
}

int64_t usual_depth(const op::For& loop, int64_t room) { return std::min(loop.stages ? loop.stages : kUsualDepth, room); }

// The tiles of one pipeline.
class Stager {
 public:
  Stager(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const LoopAt& at, const std::vector<Fill>& fills)
      : kernel_(kernel), machine_(machine), diagnostics_(diagnostics), launch_body_(at.launch), region_(at.region), id_(at.loop),
        loop_(kernel.op(at.loop).as<op::For>()), inside_(kernel_, at.launch, loop_.body, kernel.region(loop_.body).args[0]) {
    for (const Fill& fill : fills) copies_.push_back({fill});
  }

  // As the schedule pins it; its depth 0: as many versions as there is room for. False: nothing runs ahead.
  bool run_pinned(const Pipeline& pipeline) {
    if (copies_.empty()) return false;
    name_ = pipeline.name, in_flight_ = pipeline.in_flight;
    depth_ = pinned_depth(pipeline);
    for (Pipeline& own : kernel_.schedule.pipelines)
      if (own.name == pipeline.name && own.tiles == pipeline.tiles) own.depth = std::max<int64_t>(depth_, 1);
    return stage();
  }

  bool run(int64_t depth, std::vector<Pipeline>& found) {
    depth_ = depth;
    Pipeline made{.name = ring_name(), .tiles = {}, .depth = std::max<int64_t>(depth_, 1)};
    for (const StagedCopy& copy : copies_) made.tiles.push_back(name_of(copy.buffer));
    found.push_back(std::move(made));
    return stage();
  }

 private:
  const std::vector<OpId>& body() const { return kernel_.region(loop_.body).ops; }
  ValueId index() const { return kernel_.region(loop_.body).args[0]; }
  const std::string& name_of(ValueId buffer) const { return kernel_.value(buffer).hint; }

  bool stage() {
    if (depth_ < 2 && !is_handed_over_alone()) return false;
    depth_ = std::max<int64_t>(depth_, 1);
    choose_class();
    // A ring is the block's, its turns counted over all rounds of the loops around.
    std::optional<CarriedCount> rounds = CarriedCount::between(kernel_, launch_body_, region_);
    bool is_nested = rounds && region_ != launch_body_;
    insert_before(kernel_, is_nested ? launch_body_ : region_, is_nested ? rounds->first() : id_, [&](Builder& b) { emit_ring(b); });
    if (is_nested) earlier_ = rounds->open(kernel_);
    insert_before(kernel_, region_, id_, [&](Builder& b) { emit_prologue(b); });
    rewrite_body();
    if (!is_nested) return true;
    ValueId later;
    insert_after(kernel_, region_, id_, [&](Builder& b) { later = b.add(earlier_, turns_); });
    rounds->close(kernel_, later);
    return true;
  }

  // One version is handed over as well where a role fills it by the engine: it comes under what the others do between its last reader
  // and the first one of the next turn.
  bool is_handed_over_alone() const {
    return machine_.has(Cap::AsyncMatrix) && std::ranges::all_of(copies_, [&](const StagedCopy& staged) {
      const op::Copy& copy = kernel_.op(staged.op).as<op::Copy>();
      return is_filled_by_role(kernel_, copy) && why_no_box(kernel_, copy, machine_).empty();
    });
  }

  int64_t pinned_depth(const Pipeline& pipeline) {
    std::vector<Fill> fills(copies_.begin(), copies_.end());
    int64_t one = kBytesOfBarriers, room = room_for(kernel_, machine_, launch_body_, fills);
    for (const Fill& fill : fills) one += shared_bytes(kernel_, fill.buffer);
    // Beyond its share a pinned pipeline may still fit, once memory is packed.
    if (pipeline.depth > std::max<int64_t>(room, machine_.shared_bytes / one))
      diagnostics_.at(kernel_.schedule.span)
          .error(diag::ScheduleRefused, "pipeline `" + pipeline.name + "` of depth " + std::to_string(pipeline.depth) + " needs " +
                                            std::to_string(pipeline.depth * one) + " bytes, and shared memory has room for a depth of " +
                                            std::to_string(room));
    return pipeline.depth ? pipeline.depth : usual_depth(loop_, room);
  }

  // Products in flight hold on to the slots that they read.
  int64_t turns_ahead() const { return depth_ == 1 ? 0 : std::max<int64_t>(1, depth_ - std::max<int64_t>(1, in_flight_)); }

  void emit_ring(Builder& b) {
    for (StagedCopy& copy : copies_) copy.versions = add_versions(b, copy.buffer, depth_);
    ring_ = add_ring(b, ring_name(), depth_);
  }

  void emit_prologue(Builder& b) {
    turns_ = trip_count(b, loop_);
    if (turns_ahead() == 0) return;
    ValueId ahead = b.binary(BinaryFn::Min, turns_, b.index(turns_ahead()));
    op::For fill{.low = b.index(0), .high = ahead, .step = b.index(1), .body = kernel_.new_region()};
    ValueId turn = kernel_.new_arg(fill.body, scalar_type(Scalar::Index), "turn");
    in_region(b, fill.body, [&] { emit_turn(b, turn); });
    b.add(std::move(fill));
  }

  // One class for all: a ring's barriers count either bytes or lanes.
  void choose_class() {
    if (!machine_.has(Cap::BulkCopy)) return;
    class_ = CopyClass::Bulk;
    for (const StagedCopy& staged : copies_) {
      std::string why = why_no_box(kernel_, kernel_.op(staged.op).as<op::Copy>(), machine_);
      if (why.empty()) continue;
      class_ = CopyClass::Async;
      diagnostics_.at(kernel_.op(staged.op).span).remark(diag::CopiedByLanes, name_of(staged.buffer), why);
    }
  }

  // As the schedule calls the pipeline.
  std::string ring_name() const {
    if (!name_.empty()) return name_;
    std::string name;
    for (const StagedCopy& copy : copies_) name += (name.empty() ? "" : "_") + name_of(copy.buffer);
    return name.empty() ? "turns" : name;
  }

  template <class F>
  static void in_region(Builder& b, RegionId region, F&& emit) {
    RegionId outer = b.region();
    b.set_region(region);
    emit();
    b.yield({});
    b.set_region(outer);
  }

  ValueId of_all(Builder& b, ValueId turn) const { return earlier_.valid() ? b.add(earlier_, turn) : turn; }

  ValueId version_of(Builder& b, ValueId turn) const { return depth_ == 1 ? b.index(0) : b.binary(BinaryFn::Rem, turn, b.index(depth_)); }

  // Takes a turn of the loop and puts its copies in flight.
  void emit_turn(Builder& b, ValueId of_loop) {
    std::map<ValueId, ValueId> known{{index(), b.add(loop_.low, b.mul(of_loop, loop_.step))}};
    ValueId turn = of_all(b, of_loop);
    b.add(op::Acquire{ring_, turn});
    ValueId version = version_of(b, turn);
    std::vector<ValueId> tokens;
    for (const StagedCopy& staged : copies_) {
      op::Copy copy = kernel_.op(staged.op).as<op::Copy>();
      for (ValueId& offset : copy.src_offsets) offset = known_ahead(b, offset, known);
      tokens.push_back(copy_ahead(b, std::move(copy), staged.versions, version, class_));
    }
    b.add(op::Commit{ring_, turn, tokens});
  }

  // What `v` is in the round whose index `known` gives.
  ValueId known_ahead(Builder& b, ValueId v, std::map<ValueId, ValueId>& known) {
    if (auto found = known.find(v); found != known.end()) return found->second;
    if (!inside_.is_inside(v)) return v;
    const Op& op = kernel_.op(kernel_.value(v).op);
    bool folds = op.is<op::Binary>() && !is_guarded(op);
    OpData data = op.data;
    each_operand(data, [&](ValueId& used) { used = known_ahead(b, used, known); });
    const Type type = kernel_.type(v);
    if (auto* binary = data.get<op::Binary>(); folds) return known[v] = b.binary(binary->fn, binary->a, binary->b);
    return known[v] = b.value(data, type);
  }

  void rewrite_body() {
    OpId first = copies_.front().op, last = body().back();
    // An engine of products may end with the tiles of one product long before those of the next are needed.
    if (machine_.has(Cap::AsyncMatrix)) find_readers(first, last);
    ValueId turn, version;
    std::map<ValueId, ValueId> views;
    insert_before(kernel_, loop_.body, copies_.front().op, [&](Builder& b) {
      ValueId of_loop = b.binary(BinaryFn::Div, b.sub(index(), loop_.low), loop_.step);
      emit_ahead(b, b.add(of_loop, b.index(turns_ahead())));
      turn = of_all(b, of_loop);
    });
    insert_before(kernel_, loop_.body, last, [&](Builder& b) { b.add(op::Release{ring_, turn}); });
    insert_before(kernel_, loop_.body, first, [&](Builder& b) {
      b.add(op::Wait{ring_, turn});
      version = version_of(b, turn);
      for (const StagedCopy& copy : copies_) views[copy.buffer] = view_version(b, copy.buffer, copy.versions, version);
    });
    for (const StagedCopy& copy : copies_) {
      std::erase(kernel_.region(loop_.body).ops, copy.op);
      replace_uses(kernel_, loop_.body, copy.buffer, views[copy.buffer]);
      drop_alloc(kernel_, launch_body_, copy.buffer);
    }
  }

  // The operation of the body that reads one of the tiles first, and the one behind that which reads one last.
  void find_readers(OpId& first, OpId& behind) const {
    auto place = [&](OpId id) { return std::ranges::find(body(), id) - body().begin(); };
    ptrdiff_t from = ptrdiff_t(body().size()) - 1, to = 0;
    for (const StagedCopy& copy : copies_) {
      OpId begins = first_user(kernel_, loop_.body, copy.buffer, copy.op), ends = last_user(kernel_, loop_.body, copy.buffer, copy.op);
      if (!begins.valid()) continue;
      from = std::min(from, place(begins)), to = std::max(to, place(ends) + 1);
    }
    if (to <= from) return;
    first = body()[size_t(from)], behind = body()[size_t(to)];
  }

  void emit_ahead(Builder& b, ValueId turn) {
    if (turns_ahead() == 0) return emit_turn(b, turn);
    ValueId exists = b.compare(CompareFn::Lt, turn, turns_);
    RegionId taken = kernel_.new_region(), other = kernel_.new_region();
    in_region(b, taken, [&] { emit_turn(b, turn); });
    in_region(b, other, [] {});
    b.add(op::If{exists, taken, other});
  }

  Kernel& kernel_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  RegionId launch_body_, region_;
  OpId id_;
  op::For loop_;
  std::vector<StagedCopy> copies_;
  std::string name_;
  CopyClass class_ = CopyClass::Async;
  int64_t depth_ = 0, in_flight_ = -1;
  ValueId ring_, turns_;
  ValueId earlier_;  // turns of earlier rounds of the loops around; invalid: there are none
  Fills inside_;
};

// Tiles that the same products read share a ring; where products run on an engine, those of others have their own.
std::vector<std::vector<Fill>> by_readers(const Kernel& kernel, const Machine& machine, RegionId body, const std::vector<Fill>& fills) {
  std::vector<std::vector<Fill>> groups;
  std::vector<std::vector<OpId>> readers;
  for (const Fill& fill : fills) {
    std::vector<OpId> products;
    if (machine.has(Cap::AsyncMatrix))
      each_op(kernel, body, [&](OpId id) {
        const op::Gemm* gemm = kernel.op(id).get<op::Gemm>();
        bool reads = gemm && (root_buffer(kernel, gemm->a) == fill.buffer || root_buffer(kernel, gemm->b) == fill.buffer);
        if (reads) products.push_back(id);
      });
    auto known = std::ranges::find(readers, products);
    if (known == readers.end()) {
      readers.push_back(products);
      groups.push_back({fill});
    } else {
      groups[size_t(known - readers.begin())].push_back(fill);
    }
  }
  return groups;
}

void stage_loop(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const LoopAt& at, const std::vector<Pipeline>& pinned,
                std::vector<Pipeline>& found) {
  const op::For loop = kernel.op(at.loop).as<op::For>();
  Span span = kernel.op(at.loop).span;
  std::vector<Fill> fills = Fills(kernel, at.launch, loop.body, kernel.region(loop.body).args[0]).find();
  bool has_fills = !fills.empty(), is_staged = false;
  for (const Pipeline& pipeline : pinned) {
    auto is_listed = [&](const Fill& fill) { return std::ranges::find(pipeline.tiles, kernel.value(fill.buffer).hint) != pipeline.tiles.end(); };
    auto rest = std::ranges::stable_partition(fills, is_listed);
    is_staged |= Stager(kernel, machine, diagnostics, at, {fills.begin(), rest.begin()}).run_pinned(pipeline);
    fills.erase(fills.begin(), rest.begin());
  }
  int64_t depth = usual_depth(loop, room_for(kernel, machine, at.launch, fills));
  for (const std::vector<Fill>& group : by_readers(kernel, machine, loop.body, fills))
    is_staged |= Stager(kernel, machine, diagnostics, at, group).run(depth, found);
  if (is_staged) return;
  diagnostics.at(span).remark(diag::NothingOverlaps,
                              has_fills ? "there is one version of its tiles, for lack of memory or because the program or its schedule says so"
                                        : "no shared tile in it is filled by one copy from a parameter that nothing but the loop's index decides");
}

bool has_ring(const Kernel& kernel, const std::string& name) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::RingAlloc* ring = kernel.op(id).get<op::RingAlloc>();
    found |= ring && ring->name == name;
  });
  return found;
}

// What every pipelined loop hears on a machine whose loads do not run ahead by themselves.
void tell_all(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (loop && loop->loop == LoopKind::Pipelined)
      diagnostics.at(kernel.op(id).span).remark(diag::NothingOverlaps, std::string(machine.name) + " has no copies that run ahead");
  });
}

}  // namespace

void stage_loops(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  kernel.form = Form::Staged;
  bool has_copies = machine.has(Cap::BulkCopy) || machine.has(Cap::AsyncCopy);
  if (!has_copies || !machine.has(Cap::PhaseBarriers)) return tell_all(kernel, machine, diagnostics);
  std::vector<Pipeline> found;
  const std::vector<Pipeline> pinned = kernel.schedule.pipelines;
  for (RegionId launch : launch_bodies(kernel)) {
    choose_stores(kernel, launch, machine, diagnostics);
    each_op_in_region(kernel, launch, [&](RegionId region, OpId id) {
      const op::For* loop = kernel.op(id).get<op::For>();
      if (loop && loop->loop == LoopKind::Pipelined) stage_loop(kernel, machine, diagnostics, {launch, region, id}, pinned, found);
    });
    send_tiles(kernel, machine, launch);
    stage_once(kernel, machine, launch, pinned, found);
  }
  // Nothing fills what is pinned ahead of its readers: there is one version of it.
  for (Pipeline& own : kernel.schedule.pipelines)
    if (!has_ring(kernel, own.name)) own.depth = 1;
  // Two loops may use the same names.
  for (Pipeline& pipeline : found)
    if (std::ranges::find(kernel.schedule.pipelines, pipeline) == kernel.schedule.pipelines.end())
      kernel.schedule.pipelines.push_back(std::move(pipeline));
}

}  // namespace tilec::passes
