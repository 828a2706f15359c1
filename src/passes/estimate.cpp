#include "passes/estimate.h"

#include <algorithm>
#include <numeric>

#include "passes/block_axes.h"
#include "passes/dim_formula.h"
#include "passes/products.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr double kUnknownLanes = 64;   // registers of a lane beside its sums
constexpr double kSharedOfBlock = 1024;  // bytes that the system keeps of each block's shared memory
constexpr double kRowWidth = 64;       // rows of a product that four warps compute at once
// Of what caches move while device memory is what all wait for, the part that delays it: of instances that wait alike, the less busy one.
constexpr double kDelays = 1.0 / 16;

// What a block, or a turn of one of its loops, asks of each unit, in clocks of a core that does nothing else.
struct Work {
  Formula products, caches, lanes, waits, moved;  // moved: of the caches, where clusters have no more blocks than the launch

  Work& operator+=(const Work& other) {
    products = products + other.products, caches = caches + other.caches, lanes = lanes + other.lanes, waits = waits + other.waits;
    moved = moved + other.moved;
    return *this;
  }
  Work times(const Formula& n) const { return {products * n, caches * n, lanes * n, waits * n, moved * n}; }
  Formula greatest() const { return max(max(products, caches), lanes); }
  Formula sum() const { return products + caches + lanes; }
};

class Estimator {
 public:
  Estimator(const Kernel& kernel, const op::Launch& launch, const Machine& machine)
      : kernel_(kernel), launch_(launch), machine_(machine), pace_(machine.pace), dims_(kernel, launch),
        axes_(kernel, launch) {}

  Estimate run() {
    Formula blocks = 1.0;
    for (ValueId extent : launch_.extents) blocks = blocks * dims_.of(extent);
    warps_ = double(std::max<int64_t>(1, computing_warps(kernel_, launch_, machine_)));
    double fit = blocks_of_a_core();
    // What is split runs in whole clusters alone.
    int64_t cluster = std::max<int64_t>(1, launch_.split);
    Formula cores = double(machine_.cores / cluster * cluster), together = fit > 1 ? max(min(ceil(blocks / cores), fit), 1.0) : Formula(1.0);
    // Blocks that are dealt out leave no core idle but at the very end.
    Formula rounds = launch_.dealt ? max(blocks / (cores * together), 1.0) : ceil(blocks / (cores * together));
    Work all;
    Formula loops = clocks_of_loops(together, all) + clocks_of_sums(together), begin = pace_.latency, end = together * stored_bytes() / pace_.store_bytes;
    // What goes on by steps has the next block's tiles under way; one that is dealt out is known late.
    Formula turns = launch_.persistent && !launch_.dealt ? begin + rounds * (loops + end) : rounds * (begin + loops + end);
    Formula memory = touched_bytes() / (cores * pace_.memory_bytes);
    Formula moved = all.moved * blocks / cores;
    Work busy = all.times(rounds * together);
    return {Formula(pace_.launch) + max(turns, memory + moved * kDelays), busy.products, busy.caches, busy.lanes, memory};
  }

 private:
  double elements(ValueId v) const { return double(kernel_.type(v).element_count()); }
  double bytes(ValueId v) const { return elements(v) * byte_width(kernel_.type(v).element); }
  bool is_far(ValueId buffer) const { return kernel_.param_of(buffer); }

  // Of one block, with so many on its core. `all`: what it asks of each unit in the end.
  Formula clocks_of_loops(const Formula& together, Work& all) {
    Formula clocks = 0.0;
    for (OpId id : kernel_.region(launch_.body).ops)
      if (const op::For* loop = kernel_.op(id).get<op::For>()) clocks = clocks + clocks_of(*loop, together, all, 1.0);
    return clocks;
  }

  // Where a loop has other bounds in a cluster than for a block by itself: those of the latter, all turns.
  const op::Select* in_cluster(ValueId bound) const {
    const op::Select* select = kernel_.defined_by<op::Select>(bound);
    const op::Compare* asks = select ? kernel_.defined_by<op::Compare>(select->condition) : nullptr;
    return asks && kernel_.defined_by<op::ClusterBlocks>(asks->a) ? select : nullptr;
  }

  // Blocks of a cluster meet as they begin and when their sums are there, and read as much of each other as each of them has.
  Formula clocks_of_sums(const Formula& together) const {
    double moved = 0, waits = 0;
    each_op(kernel_, launch_.body, [&](OpId id) {
      const op::ClusterSum* sum = kernel_.op(id).get<op::ClusterSum>();
      if (sum) moved += bytes(sum->tile) * (1.0 / pace_.shared_bytes + 1.0 / double(machine_.far_bytes)), waits = 2 * pace_.latency;
    });
    return together * moved + waits;
  }

  Formula turns_of(const op::For& loop) {
    const op::Select *first = in_cluster(loop.low), *last = in_cluster(loop.high);
    if (launch_.split && first && last)
      return max(ceil((dims_.of(last->b) - dims_.of(first->b)) / dims_.of(loop.step) / double(launch_.split)), 0.0);
    Formula low = dims_.of(loop.low), turns = ceil((dims_.of(loop.high) - low) / dims_.of(loop.step));
    return low.is_number() && low.number() == 0 ? turns : max(turns, 0.0);
  }

  Formula clocks_of(const op::For& loop, const Formula& together, Work& all, const Formula& times) {
    Formula trips = turns_of(loop), inside = 0.0;
    Work turn;
    for (OpId id : kernel_.region(loop.body).ops) {
      if (const op::For* inner = kernel_.op(id).get<op::For>()) inside = inside + clocks_of(*inner, together, all, times * trips);
      else turn += work_of(id);
    }
    all += turn.times(times * trips);
    bool runs_ahead = loop.loop == LoopKind::Pipelined;
    double depth = double(std::max<int64_t>(loop.stages, 2));
    Formula clocks = runs_ahead ? max(together * turn.greatest(), turn.waits / depth) : together * turn.sum() + turn.waits;
    return trips * (clocks + inside);
  }

  Work work_of(OpId id) {
    const Op& op = kernel_.op(id);
    Work work;
    if (const op::Gemm* gemm = op.get<op::Gemm>()) work.products = clocks_of(*gemm);
    if (const op::Copy* copy = op.get<op::Copy>(); copy && is_far(copy->src)) fill(work, copy->dst, axes_.of(copy->src_offsets));
    if (const op::Load* load = op.get<op::Load>(); load && is_far(load->buffer)) fill(work, op.result(), ~0ull);
    if (const op::Map* map = op.get<op::Map>()) {
      auto count = std::accumulate(map->shape.begin(), map->shape.end(), int64_t(1), std::multiplies<>());
      work.lanes = double(count) * double(kernel_.region(map->body).ops.size()) / lanes_at_work();
    }
    if (const op::Reduce* reduce = op.get<op::Reduce>()) work.lanes = elements(reduce->x) / lanes_at_work();
    return work;
  }
  // Warps wait for numbers that they have asked for themselves: the fewer take turns, the more turns are empty.
  double lanes_at_work() const {
    double warps = warps_ * blocks_of_a_core() / pace_.schedulers;
    return pace_.lanes * warps / (warps + pace_.waiting);
  }
  // Blocks of a cluster copy what does not depend on the axes that they differ along for each other. Where a launch has one block along
  // such an axis there is nobody to share with, but cores without blocks, too, which leave their part of the caches to the others.
  void fill(Work& work, ValueId tile, uint64_t depends) {
    double sharers = 1;
    Formula present = 1.0;
    for (size_t axis = 0; axis < launch_.cluster.size(); ++axis) {
      if (depends >> axis & 1 || launch_.cluster[axis] <= 1) continue;
      sharers *= double(launch_.cluster[axis]);
      present = present * max(min(dims_.of(launch_.extents[axis]), double(launch_.cluster[axis])), 1.0);
    }
    work.caches = bytes(tile) / sharers / double(machine_.far_bytes);
    work.moved = bytes(tile) / double(machine_.far_bytes) / present;
    work.waits = pace_.latency;
  }

  // The matrix units wait for shared memory where tiles are small: each four warps read what they multiply.
  double clocks_of(const op::Gemm& gemm) const {
    const Type &a = kernel_.type(gemm.a), &c = kernel_.type(gemm.acc);
    double k = double(a.shape[gemm.transpose_a ? 0 : 1]), m = double(c.shape[0]), n = double(c.shape[1]), width = byte_width(a.element);
    double groups = std::max(1.0, warps_ / 4), along_m = std::min(groups, std::max(1.0, m / kRowWidth)), along_n = groups / along_m;
    double read = (m * k * along_n + n * k * along_m) * width;
    return std::max(m * n * k * width / double(machine_.product_rate), read / pace_.shared_bytes);
  }

  double blocks_of_a_core() const {
    double shared = 0, sums = 0;
    each_op(kernel_, launch_.body, [&](OpId id) {
      const Op& op = kernel_.op(id);
      if (op.is<op::Alloc>() && kernel_.type(op.result()).space == Space::Shared) shared += bytes(op.result()) * versions_of(op.result());
      if (const op::ClusterSum* sum = op.get<op::ClusterSum>()) shared += bytes(sum->tile);
      if (const op::Gemm* gemm = op.get<op::Gemm>()) sums += elements(gemm->acc);
    });
    double lanes = warps_ * machine_.lanes, registers = sums + lanes * kUnknownLanes;
    if (!kernel_.schedule.roles.empty()) return 1;
    double by_shared = double(machine_.shared_bytes + kSharedOfBlock) / (shared + kSharedOfBlock);
    double by_registers = double(machine_.block_registers) / registers, by_warps = pace_.warps / warps_;
    return std::max(1.0, std::floor(std::min({by_shared, by_registers, by_warps})));
  }

  // A tile that a pipelined loop fills stands there as often as the loop runs ahead.
  double versions_of(ValueId tile) const {
    double versions = 1;
    each_op(kernel_, launch_.body, [&](OpId id) {
      const op::For* loop = kernel_.op(id).get<op::For>();
      if (!loop || loop->loop != LoopKind::Pipelined) return;
      for (OpId inner : kernel_.region(loop->body).ops)
        if (const op::Copy* copy = kernel_.op(inner).get<op::Copy>(); copy && copy->dst == tile && is_far(copy->src))
          versions = double(std::max<int64_t>(loop->stages, 2));
    });
    return versions;
  }

  double stored_bytes() const {
    double all = 0;
    each_op(kernel_, launch_.body, [&](OpId id) {
      if (const op::Store* store = kernel_.op(id).get<op::Store>(); store && is_far(store->buffer)) all += bytes(store->tile);
    });
    return all;
  }

  // Each tensor once.
  Formula touched_bytes() {
    std::vector<ValueId> tensors;
    each_op(kernel_, launch_.body, [&](OpId id) {
      each_operand(kernel_.op(id).data, [&](ValueId v) {
        if (kernel_.type(v).is_buffer() && is_far(v) && std::ranges::find(tensors, v) == tensors.end()) tensors.push_back(v);
      });
    });
    Formula all = 0.0;
    for (ValueId tensor : tensors) {
      Formula size = double(byte_width(kernel_.type(tensor).element));
      for (ValueId extent : kernel_.param_of(tensor)->extents) size = size * dims_.of(extent);
      all = all + size;
    }
    return all;
  }

  const Kernel& kernel_;
  const op::Launch& launch_;
  const Machine& machine_;
  const Pace& pace_;
  DimFormula dims_;
  BlockAxes axes_;
  double warps_ = 1;
};

}  // namespace

void estimate(Kernel& kernel, const Machine& machine, Diagnostics&) {
  kernel.estimates.clear();
  if (!machine.cores) return;
  std::vector<Estimate> estimates;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) estimates.push_back(Estimator(kernel, *launch, machine).run());
  });
  kernel.estimates = std::move(estimates);
}

}  // namespace tilec::passes
