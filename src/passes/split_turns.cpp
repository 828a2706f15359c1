// The turns of a loop may be dealt to blocks where all that it carries are sums, and where no turn needs what another has left in memory.
// Block j of S takes turns [j T / S, (j + 1) T / S). Only the call knows whether blocks run as clusters: where they do not, each runs all
// turns, and has the same rows of the same sum.
#include "passes/split_turns.h"

#include <algorithm>
#include <set>

#include "diag/diag.h"
#include "passes/cleanup.h"
#include "passes/effects.h"
#include "passes/rewrite.h"
#include "passes/sum_rows.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr size_t kMostAxes = 3;

bool is_nest(const Op& op) { return op.is<op::For>() || op.is<op::If>() || op.is<op::Map>() || op.is<op::Yield>(); }
// It reports at most, and every block may.
bool only_reads(const Op& op) { return is_pure(op) || op.is<op::ElementLoad>(); }

class Splitter {
 public:
  Splitter(Kernel& kernel, OpId launch, int64_t parts) : kernel_(kernel), launch_(launch), body_(kernel.op(launch).as<op::Launch>().body), parts_(parts) {}

  // Why it cannot be split; empty: it is.
  std::string run() {
    std::string why = find_loop();
    if (why.empty()) why = flaw_of_launch();
    if (why.empty()) why = flaw_of_effects();
    if (why.empty()) why = flaw_of_memory();
    if (why.empty()) why = flaw_of_sums();
    if (why.empty()) why = rewrite();
    if (why.empty()) drop_dead_code(kernel_);
    return why;
  }

 private:
  const op::For& loop() const { return kernel_.op(loop_).as<op::For>(); }

  std::string find_loop() {
    size_t found = 0;
    const std::vector<OpId>& ops = kernel_.region(body_).ops;
    for (size_t i = 0; i < ops.size(); ++i) {
      const op::For* loop = kernel_.op(ops[i]).get<op::For>();
      bool has_product = false;
      if (loop) each_op(kernel_, loop->body, [&](OpId id) { has_product |= kernel_.op(id).is<op::Gemm>(); });
      if (has_product) ++found, loop_ = ops[i], place_ = i;
    }
    if (found == 1) return loop().guarded ? "its steps may leave 64 bits" : "";
    return found ? "the launch has " + std::to_string(found) + " loops of matrix products" : "the launch has no loop of matrix products";
  }

  std::string flaw_of_launch() const {
    const op::Launch& launch = kernel_.op(launch_).as<op::Launch>();
    if (launch.extents.size() >= kMostAxes) return "the launch has " + std::to_string(launch.extents.size()) + " axes, and clusters would lie along one more";
    return launch.persistent ? "its blocks go on from one to the next" : "";
  }

  bool is_shared(ValueId buffer) const { return kernel_.type(buffer).space == Space::Shared; }
  // What the block writes for itself.
  bool is_private(const Op& op) const {
    if (const op::Copy* copy = op.get<op::Copy>()) return is_shared(copy->dst) && !copy->adds;
    const op::Store* store = op.get<op::Store>();
    return store && is_shared(store->buffer) && !store->adds;
  }

  // In front of the loop, and in it, each block would do again what others see.
  std::string flaw_of_effects() const {
    std::string why;
    for (size_t i = 0; i <= place_; ++i) {
      auto look = [&](OpId id) {
        const Op& op = kernel_.op(id);
        if (is_nest(op) || only_reads(op) || is_private(op) || !has_effect(kernel_, op)) return;
        why = "'" + std::string(name(op.kind())) + "' stands " + (i < place_ ? "in front of" : "in") + " the loop";
      };
      OpId id = kernel_.region(body_).ops[i];
      look(id);
      each_region(kernel_.op(id).data, [&](RegionId region) { each_op(kernel_, region, look); });
    }
    return why;
  }

  // Shared memory that turns write is written as a whole by each of them before it is read, and by nobody read behind the loop.
  std::string flaw_of_memory() const {
    std::set<ValueId> written, fresh;
    auto each_touch = [&](OpId id, auto&& f) {
      auto look = [&](OpId one) { std::ranges::for_each(touches_of(kernel_, one), f); };
      look(id);
      each_region(kernel_.op(id).data, [&](RegionId region) { each_op(kernel_, region, look); });
    };
    each_touch(loop_, [&](const MemoryTouch& touch) {
      if (touch.writes && is_shared(touch.buffer)) written.insert(touch.buffer);
    });
    std::string why;
    auto require_fresh = [&](OpId id) {
      each_touch(id, [&](const MemoryTouch& touch) {
        if (!touch.writes && written.contains(touch.buffer) && !fresh.contains(touch.buffer))
          why = "a turn may find in `" + kernel_.value(touch.buffer).hint + "` what another one has left there";
      });
    };
    for (OpId id : kernel_.region(loop().body).ops) {
      require_fresh(id);
      if (ValueId whole = filled_by(kernel_.op(id)); whole.valid()) fresh.insert(whole);
    }
    fresh.clear();
    const std::vector<OpId>& ops = kernel_.region(body_).ops;
    std::for_each(ops.begin() + ptrdiff_t(place_) + 1, ops.end(), require_fresh);
    return why;
  }
  // The buffer that an operation writes from end to end, if any.
  ValueId filled_by(const Op& op) const {
    ValueId buffer;
    Ints shape;
    if (const op::Copy* copy = op.get<op::Copy>()) buffer = copy->dst, shape = copy->shape;
    if (const op::Store* store = op.get<op::Store>()) buffer = store->buffer, shape = kernel_.type(store->tile).shape;
    return buffer.valid() && kernel_.type(buffer).shape == shape ? buffer : ValueId{};
  }

  std::string flaw_of_sums() const {
    std::vector<int> uses = use_counts(kernel_);
    const std::vector<ValueId>&yielded = kernel_.terminator(loop().body).as<op::Yield>().values, &args = kernel_.region(loop().body).args;
    for (size_t i = 0; i < yielded.size(); ++i) {
      const Type& type = kernel_.type(args[i + 1]);
      std::string name = kernel_.value(args[i + 1]).hint.empty() ? "a value" : "`" + kernel_.value(args[i + 1]).hint + "`";
      int links = 0;
      if (!type.is_tile() || !adds_to(yielded[i], args[i + 1], uses, links) || links != uses[args[i + 1].index]) return "the loop carries " + name + ", which is no sum of products";
      if (byte_width(type.element) < 4 || type.shape.empty() || type.shape[0] % parts_ != 0)
        return name + " does not fall into " + std::to_string(parts_) + " parts of rows of four bytes an element or more";
    }
    return yielded.empty() ? "the loop carries no sum" : "";
  }
  // Is `v` what a turn adds to `arg`? Counts the uses of `arg` on the way.
  bool adds_to(ValueId v, ValueId arg, const std::vector<int>& uses, int& links) const {
    if (v == arg) return ++links, true;
    const Op* op = kernel_.definition(v);
    if (!op || uses[v.index] != 1) return false;
    if (const op::Gemm* gemm = op->get<op::Gemm>()) return adds_to(gemm->acc, arg, uses, links);
    const op::Map* map = op->get<op::Map>();
    if (!map || op->results.size() != 1) return false;
    std::optional<size_t> input = summand(*map);
    return input && adds_to(map->inputs[*input], arg, uses, links);
  }
  // The input to which elementwise code adds at each element, if that is all that it does with it.
  std::optional<size_t> summand(const op::Map& map) const {
    const Op* last = kernel_.definition(kernel_.terminator(map.body).as<op::Yield>().values[0]);
    const std::vector<ValueId>& args = kernel_.region(map.body).args;
    std::vector<ValueId> terms;
    if (const op::Binary* sum = last ? last->get<op::Binary>() : nullptr; sum && sum->fn == BinaryFn::Add) terms = {sum->a, sum->b};
    if (const op::Fma* fma = last ? last->get<op::Fma>() : nullptr) terms = {fma->c};
    for (ValueId term : terms)
      for (size_t k = 0; k < map.inputs.size(); ++k) {
        bool is_own = args[map.shape.size() + k] == term && map.input_axes[k].size() == map.shape.size() && std::ranges::is_sorted(map.input_axes[k]);
        int uses = 0;
        each_op(kernel_, map.body, [&](OpId id) { each_operand(kernel_.op(id).data, [&](ValueId v) { uses += v == term; }); });
        if (is_own && uses == 1) return k;
      }
    return std::nullopt;
  }

  bool is_zero(ValueId v) const {
    const op::Splat* splat = kernel_.defined_by<op::Splat>(v);
    auto number = splat ? kernel_.constant(splat->x) : std::nullopt;
    return number && *number == zero_of(kernel_.type(v).element);
  }

  static Number zero_of(Scalar element) { return is_float(element) ? Number::real(0) : Number::integer(0); }

  ValueId add_axis() {
    ValueId extent;
    insert_before(kernel_, kernel_.body, launch_, [&](Builder& b) { extent = b.index(parts_); });
    op::Launch& launch = kernel_.op(launch_).as<op::Launch>();
    launch.extents.push_back(extent);
    launch.cluster.resize(launch.extents.size(), 1);
    launch.cluster.back() = launch.split = parts_;
    return kernel_.new_arg(body_, scalar_type(Scalar::Index), "part");
  }

  void deal_turns(ValueId part) {
    insert_before(kernel_, body_, loop_, [&](Builder& b) {
      b.set_span(kernel_.op(loop_).span);
      op::For dealt = loop();
      ValueId together = b.compare(CompareFn::Gt, b.value(op::ClusterBlocks{}, scalar_type(Scalar::Index)), b.index(1)), turns = trip_count(b, dealt);
      auto behind = [&](ValueId parts) {
        ValueId share = b.binary(BinaryFn::Div, b.mul(turns, parts), b.index(parts_));
        return b.add(dealt.low, b.mul(share, dealt.step));
      };
      ValueId low = b.select(together, behind(part), dealt.low), high = b.select(together, behind(b.add(part, b.index(1))), dealt.high);
      dealt.low = low, dealt.high = high;
      for (ValueId& init : dealt.inits)
        if (!is_zero(init)) init = b.value(op::Splat{b.constant(kernel_.type(init).element, zero_of(kernel_.type(init).element))}, kernel_.type(init));
      kernel_.op(loop_).as<op::For>() = std::move(dealt);
    });
  }

  std::string rewrite() {
    const std::vector<ValueId> inits = loop().inits, sums = kernel_.op(loop_).results;
    ValueId part = add_axis();
    std::vector<OpId>& ops = kernel_.region(body_).ops;
    const std::vector<OpId> rest(ops.begin() + ptrdiff_t(place_) + 1, ops.end());
    ops.resize(place_ + 1);
    deal_turns(part);
    Builder b(kernel_, body_);
    RowSlicer slicer(kernel_, b, part, parts_);
    const auto axis = int64_t(kernel_.op(launch_).as<op::Launch>().extents.size()) - 1;
    for (size_t i = 0; i < sums.size(); ++i) {
      b.set_span(kernel_.op(loop_).span);
      Type type = kernel_.type(sums[i]);
      type.shape[0] /= parts_;
      ValueId rows = b.value(op::ClusterSum{sums[i], slicer.first(type.shape[0]), axis}, type);
      slicer.bind(sums[i], is_zero(inits[i]) ? rows : added(b, rows, slicer.rows_of(inits[i], 0), type));
    }
    for (OpId id : rest)
      if (std::string why = slicer.emit(id); !why.empty()) return why;
    return "";
  }

  // What the sums began with comes once, at their end.
  ValueId added(Builder& b, ValueId x, ValueId y, const Type& type) {
    op::Map map{.inputs = {x, y}, .input_axes = {}, .shape = type.shape, .body = kernel_.new_region()};
    Axes all;
    for (int64_t axis = 0; axis < int64_t(type.shape.size()); ++axis) all.push_back(axis), kernel_.new_arg(map.body, scalar_type(Scalar::Index));
    map.input_axes = {all, all};
    ValueId a = kernel_.new_arg(map.body, scalar_type(type.element)), c = kernel_.new_arg(map.body, scalar_type(type.element));
    RegionId outer = b.region();
    b.set_region(map.body);
    b.yield({b.add(a, c)});
    b.set_region(outer);
    return b.value(std::move(map), type);
  }

  Kernel& kernel_;
  OpId launch_;
  RegionId body_;
  int64_t parts_;
  OpId loop_;
  size_t place_ = 0;  // of the loop among the operations of the launch
};

bool holds_product(const Kernel& kernel, OpId launch) {
  bool found = false;
  each_op(kernel, kernel.op(launch).as<op::Launch>().body, [&](OpId id) { found |= kernel.op(id).is<op::Gemm>(); });
  return found;
}

// What a schedule can say of all launches: in how many parts those are split that are, if it is the same.
void write_down(Kernel& kernel, const std::vector<OpId>& launches) {
  std::set<int64_t> parts;
  for (OpId id : launches)
    if (int64_t split = kernel.op(id).as<op::Launch>().split) parts.insert(split);
  if (kernel.schedule.split != 1) kernel.schedule.split = parts.size() == 1 ? *parts.begin() : 0;
}

}  // namespace

void split_turns(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  std::vector<OpId> launches;
  const int64_t pinned = kernel.schedule.split;
  bool has_products = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (!kernel.op(id).is<op::Launch>()) return;
    launches.push_back(id);
    has_products |= holds_product(kernel, id);
  });
  for (OpId id : launches) {
    op::Launch& launch = kernel.op(id).as<op::Launch>();
    int64_t parts = launch.split;
    if (pinned) parts = holds_product(kernel, id) || !has_products ? pinned : 0;
    launch.split = 0;
    if (parts <= 1 || machine.cluster_blocks <= 1) continue;
    Kernel trial = kernel;
    // Those along the launch's own axes, too, which the schedule may pin.
    Ints cluster = kernel.schedule.cluster.empty() ? launch.cluster : kernel.schedule.cluster;
    int64_t blocks = parts;
    for (int64_t size : cluster)
      if (__builtin_mul_overflow(blocks, size, &blocks)) blocks = INT64_MAX;
    std::string why = blocks > machine.cluster_blocks ? "a cluster of " + std::string(machine.name) + " has at most " + std::to_string(machine.cluster_blocks) + " blocks"
                      : cluster.size() > launch.extents.size() ? "a cluster has more axes than the launch"
                      : kernel.schedule.persistent   ? "the schedule has blocks go on from one to the next"
                                                     : Splitter(trial, id, parts).run();
    if (why.empty()) kernel = std::move(trial);
    else diagnostics.at(pinned ? kernel.schedule.span : kernel.op(id).span).error(diag::SplitRefused, parts, why);
  }
  write_down(kernel, launches);
}

}  // namespace tilec::passes
