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
// A loop's tiles share a ring, but those that the schedule lists as a pipeline of their own have one of theirs. What was
// staged is written into the schedule.
#include "passes/stage_loops.h"

#include <map>
#include <set>

#include "diag/diag.h"
#include "ir/sources.h"
#include "passes/boxes.h"
#include "passes/carried_count.h"
#include "passes/effects.h"
#include "passes/products.h"
#include "passes/rewrite.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kUsualDepth = 3;      // where the program does not say
constexpr int64_t kBytesOfBarriers = 16;  // of one slot of a ring

struct StagedCopy {
  OpId op;
  ValueId buffer;         // a shared tile, filled by this copy alone
  ValueId versions = {};  // the stack that takes its place
};

int64_t shared_bytes(const Kernel& kernel, ValueId buffer) {
  const Type& type = kernel.type(buffer);
  int64_t elements = type.layout.valid() ? kernel.layouts.mem(type.layout).size() : type.element_count();
  return elements * byte_width(type.element);
}

// The tiles of one pipeline in a pipelined loop, and the region that the loop stands in.
class Stager {
 public:
  Stager(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, RegionId launch_body, RegionId region, OpId loop)
      : kernel_(kernel), machine_(machine), diagnostics_(diagnostics), launch_body_(launch_body), region_(region), id_(loop),
        loop_(kernel.op(loop).as<op::For>()) {}

  // Stages the tiles of `pipeline`, or, when there is none, all that no pipeline of the schedule names. Returns why nothing
  // runs ahead; empty where something does.
  std::string run(const Pipeline* pipeline, std::vector<Pipeline>& found) {
    find_copies(pipeline);
    if (copies_.empty()) return "no shared tile in it is filled by one copy from a parameter that nothing but the loop's index decides";
    if (pipeline) name_ = pipeline->name, in_flight_ = pipeline->in_flight;
    choose_class();
    depth_ = depth(pipeline);
    write_down(pipeline, found);
    if (depth_ < 2) return "there is one version of its tiles, for lack of memory or because the program or its schedule says so";
    // A ring is the block's, its turns counted over all rounds of the loops around.
    std::optional<CarriedCount> rounds = CarriedCount::between(kernel_, launch_body_, region_);
    bool is_nested = rounds && region_ != launch_body_;
    insert_before(kernel_, is_nested ? launch_body_ : region_, is_nested ? rounds->first() : id_, [&](Builder& b) { emit_ring(b); });
    if (is_nested) earlier_ = rounds->open(kernel_);
    insert_before(kernel_, region_, id_, [&](Builder& b) { emit_prologue(b); });
    rewrite_body();
    if (!is_nested) return "";
    ValueId later;
    insert_after(kernel_, region_, id_, [&](Builder& b) { later = b.add(earlier_, turns_); });
    rounds->close(kernel_, later);
    return "";
  }

 private:
  const std::vector<OpId>& body() const { return kernel_.region(loop_.body).ops; }
  ValueId index() const { return kernel_.region(loop_.body).args[0]; }
  const std::string& name_of(ValueId buffer) const { return kernel_.value(buffer).hint; }

  void find_copies(const Pipeline* pipeline) {
    for (OpId id : body()) {
      const op::Copy* copy = kernel_.op(id).get<op::Copy>();
      if (copy && is_of(pipeline, name_of(copy->dst)) && may_run_ahead(id, *copy)) copies_.push_back({id, copy->dst});
    }
  }

  bool is_of(const Pipeline* pipeline, const std::string& tile) const {
    auto lists = [&](const Pipeline& p) { return std::ranges::find(p.tiles, tile) != p.tiles.end(); };
    return pipeline ? lists(*pipeline) : std::ranges::none_of(kernel_.schedule.pipelines, lists);
  }

  void write_down(const Pipeline* pipeline, std::vector<Pipeline>& found) const {
    if (pipeline) {
      for (Pipeline& own : kernel_.schedule.pipelines)
        if (own.name == pipeline->name && own.tiles == pipeline->tiles) own.depth = std::max<int64_t>(depth_, 1);
      return;
    }
    Pipeline made{.name = ring_name(), .tiles = {}, .depth = std::max<int64_t>(depth_, 1)};
    for (const StagedCopy& copy : copies_) made.tiles.push_back(name_of(copy.buffer));
    found.push_back(std::move(made));
  }

  bool may_run_ahead(OpId id, const op::Copy& copy) const {
    bool is_filled_with_zeros = copy.pad.is_float ? copy.pad.f == 0 : copy.pad.i == 0;
    if (!is_filled_with_zeros || kernel_.type(copy.src).element != kernel_.type(copy.dst).element) return false;
    if (!kernel_.param_of(copy.src) || !kernel_.defined_by<op::Alloc>(copy.dst)) return false;
    return fills_all(copy) && is_known_ahead(copy.src_offsets) && !is_written(copy.src) && is_handed_over(id, copy.dst);
  }

  // A shared tile as a whole, its axes in order.
  bool fills_all(const op::Copy& copy) const {
    const Type& type = kernel_.type(copy.dst);
    if (type.space != Space::Shared || copy.shape != type.shape) return false;
    for (size_t d = 0; d < copy.dst_offsets.size(); ++d) {
      auto offset = kernel_.constant(copy.dst_offsets[d]);
      if (!offset || offset->i != 0 || copy.dst_axes[d] != int64_t(d)) return false;
    }
    return true;
  }

  bool is_written(ValueId source) const {
    bool found = false;
    each_op(kernel_, launch_body_, [&](OpId id) {
      for (const MemoryTouch& touch : touches_of(kernel_, id)) found |= touch.writes && may_overlap(kernel_, touch.buffer, source);
    });
    return found;
  }

  // Do the values depend on the loop's index alone, by arithmetic?
  bool is_known_ahead(const std::vector<ValueId>& values) const {
    bool is_known = true;
    std::set<ValueId> seen;
    for (ValueId v : values)
      each_source(kernel_, v, seen, [&](ValueId x) { is_known = is_known && (x == index() || !is_inside(x) || is_arithmetic(x)); });
    return is_known;
  }
  bool is_arithmetic(ValueId v) const {
    const Op* op = kernel_.definition(v);
    return op && is_pure(*op);
  }
  bool is_inside(ValueId v) const {
    const Value& value = kernel_.value(v);
    if (value.region.valid()) return value.region == loop_.body;
    return std::ranges::find(body(), value.op) != body().end();
  }

  // Nobody but the copy writes it, and it is read behind the copy, in the same round of the loop, and nowhere else.
  bool is_handed_over(OpId copy, ValueId buffer) const {
    std::set<OpId> behind;
    bool is_behind = false, ok = true;
    for (OpId id : body()) {
      if (is_behind) {
        behind.insert(id);
        each_region(kernel_.op(id).data, [&](RegionId r) { each_op(kernel_, r, [&](OpId inner) { behind.insert(inner); }); });
      }
      is_behind |= id == copy;
    }
    each_op(kernel_, launch_body_, [&](OpId id) {
      if (id == copy) return;
      each_operand(kernel_.op(id).data, [&](ValueId used) { ok &= used != buffer || behind.contains(id); });
      for (const MemoryTouch& touch : touches_of(kernel_, id)) ok &= !touch.writes || touch.buffer != buffer;
    });
    return ok;
  }

  // As many versions as the schedule or the program asks for, and as shared memory holds beside all else.
  int64_t depth(const Pipeline* pipeline) {
    int64_t one = kBytesOfBarriers, all = 0;
    for (const StagedCopy& copy : copies_) one += shared_bytes(kernel_, copy.buffer);
    each_op(kernel_, launch_body_, [&](OpId id) {
      const Op& op = kernel_.op(id);
      if (op.is<op::Alloc>() && kernel_.type(op.result()).space == Space::Shared) all += shared_bytes(kernel_, op.result());
    });
    int64_t room = (machine_.shared_bytes - kernel_.schedule.facts.scratch_bytes - (all - (one - kBytesOfBarriers))) / one;
    int64_t pinned = pipeline ? pipeline->depth : 0;
    // Beyond its share a pinned pipeline may still fit, once memory is packed.
    if (pinned > std::max<int64_t>(room, machine_.shared_bytes / one))
      diagnostics_.at(kernel_.schedule.span)
          .error(diag::ScheduleRefused, "pipeline `" + pipeline->name + "` of depth " + std::to_string(pinned) + " needs " +
                                            std::to_string(pinned * one) + " bytes, and shared memory has room for a depth of " +
                                            std::to_string(room));
    return pinned ? pinned : std::min(loop_.stages ? loop_.stages : kUsualDepth, room);
  }

  // Products in flight hold on to the slots that they read.
  int64_t turns_ahead() const { return std::max<int64_t>(1, depth_ - std::max<int64_t>(1, in_flight_)); }

  void emit_ring(Builder& b) {
    for (StagedCopy& copy : copies_) {
      Type type = kernel_.type(copy.buffer);
      type.shape.insert(type.shape.begin(), depth_);
      type.layout = kernel_.layouts.intern(layout::stacked(kernel_.layouts.mem(type.layout), int(depth_)));
      const std::string hint = kernel_.value(copy.buffer).hint;
      copy.versions = b.value(op::Alloc{{}, hint}, type, hint);
    }
    Type ring = plain_type(TypeKind::Ring);
    ring.shape = {depth_};
    ring_ = b.value(op::RingAlloc{1, ring_name()}, ring);
  }

  void emit_prologue(Builder& b) {
    turns_ = trip_count(b, loop_);
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

  // Takes a turn of the loop and puts its copies in flight.
  void emit_turn(Builder& b, ValueId of_loop) {
    std::map<ValueId, ValueId> known{{index(), b.add(loop_.low, b.mul(of_loop, loop_.step))}};
    ValueId turn = of_all(b, of_loop);
    b.add(op::Acquire{ring_, turn});
    ValueId version = b.binary(BinaryFn::Rem, turn, b.index(depth_));
    std::vector<ValueId> tokens;
    for (const StagedCopy& staged : copies_) {
      op::Copy copy = kernel_.op(staged.op).as<op::Copy>();
      for (ValueId& offset : copy.src_offsets) offset = known_ahead(b, offset, known);
      copy.dst_offsets.insert(copy.dst_offsets.begin(), version);
      for (int64_t& axis : copy.dst_axes) ++axis;
      BoundsList inside(copy.dst_offsets.size(), Bounds::Inside);
      tokens.push_back(b.value(op::CopyAsync{copy.src, copy.src_offsets, copy.src_axes, copy.src_bounds, staged.versions,
                                             copy.dst_offsets, copy.dst_axes, inside, copy.shape, copy.pad, class_, {}, copy.label},
                               plain_type(TypeKind::Token)));
    }
    b.add(op::Commit{ring_, turn, tokens});
  }

  // What `v` is in the round whose index `known` gives.
  ValueId known_ahead(Builder& b, ValueId v, std::map<ValueId, ValueId>& known) {
    if (auto found = known.find(v); found != known.end()) return found->second;
    if (!is_inside(v)) return v;
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
    ValueId turn;
    std::map<ValueId, ValueId> views;
    insert_before(kernel_, loop_.body, first, [&](Builder& b) {
      ValueId of_loop = b.binary(BinaryFn::Div, b.sub(index(), loop_.low), loop_.step);
      emit_ahead(b, b.add(of_loop, b.index(turns_ahead())));
      turn = of_all(b, of_loop);
      b.add(op::Wait{ring_, turn});
      ValueId version = b.binary(BinaryFn::Rem, turn, b.index(depth_));
      for (const StagedCopy& copy : copies_) views[copy.buffer] = view(b, copy, version);
    });
    insert_before(kernel_, loop_.body, last, [&](Builder& b) { b.add(op::Release{ring_, turn}); });
    each_op(kernel_, loop_.body, [&](OpId id) {
      each_operand(kernel_.op(id).data, [&](ValueId& used) {
        if (auto found = views.find(used); found != views.end()) used = found->second;
      });
    });
    for (const StagedCopy& copy : copies_) {
      std::erase(kernel_.region(loop_.body).ops, copy.op);
      drop_alloc(kernel_.value(copy.buffer).op);
    }
  }

  void emit_ahead(Builder& b, ValueId turn) {
    ValueId exists = b.compare(CompareFn::Lt, turn, turns_);
    RegionId taken = kernel_.new_region(), other = kernel_.new_region();
    in_region(b, taken, [&] { emit_turn(b, turn); });
    in_region(b, other, [] {});
    b.add(op::If{exists, taken, other});
  }

  ValueId view(Builder& b, const StagedCopy& copy, ValueId version) {
    const Type type = kernel_.type(copy.buffer);
    const std::string hint = kernel_.value(copy.buffer).hint;
    std::vector<ValueId> offsets(type.shape.size() + 1, b.index(0));
    offsets[0] = version;
    Axes axes;
    for (size_t axis = 1; axis < offsets.size(); ++axis) axes.push_back(int64_t(axis));
    return b.value(op::Subview{copy.versions, offsets, axes, BoundsList(offsets.size(), Bounds::Inside)}, type, hint);
  }

  void drop_alloc(OpId alloc) {
    std::erase(kernel_.region(launch_body_).ops, alloc);
    each_op(kernel_, launch_body_, [&](OpId id) {
      each_region(kernel_.op(id).data, [&](RegionId r) { std::erase(kernel_.region(r).ops, alloc); });
    });
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
};

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
  std::vector<RegionId> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) launches.push_back(launch->body);
  });
  std::vector<Pipeline> found;
  const std::vector<Pipeline> pinned = kernel.schedule.pipelines;
  for (RegionId launch : launches) {
    choose_stores(kernel, launch, machine, diagnostics);
    each_op_in_region(kernel, launch, [&](RegionId region, OpId id) {
      const op::For* loop = kernel.op(id).get<op::For>();
      if (!loop || loop->loop != LoopKind::Pipelined) return;
      Span span = kernel.op(id).span;
      bool is_staged = false;
      for (const Pipeline& pipeline : pinned)
        is_staged |= Stager(kernel, machine, diagnostics, launch, region, id).run(&pipeline, found).empty();
      std::string why = Stager(kernel, machine, diagnostics, launch, region, id).run(nullptr, found);
      if (!is_staged && !why.empty()) diagnostics.at(span).remark(diag::NothingOverlaps, why);
    });
  }
  // Two loops may use the same names.
  for (Pipeline& pipeline : found)
    if (std::ranges::find(kernel.schedule.pipelines, pipeline) == kernel.schedule.pipelines.end())
      kernel.schedule.pipelines.push_back(std::move(pipeline));
}

}  // namespace tilec::passes
