#include "passes/estimate.h"

#include <algorithm>
#include <numeric>

#include "passes/block_work.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Of what caches move while device memory is what all wait for, the part that delays it: of instances that wait alike, the less busy one.
constexpr double kDelays = 0.4;

class Estimator {
 public:
  Estimator(const Kernel& kernel, const op::Launch& launch, const Machine& machine)
      : kernel_(kernel), launch_(launch), machine_(machine), pace_(machine.pace), work_(kernel, launch, machine), dims_(work_.dims()) {}

  Estimate run() {
    Formula blocks = 1.0;
    for (ValueId extent : launch_.extents) blocks = blocks * dims_.of(extent);
    double fit = work_.blocks_of_a_core();
    Formula cores = cores_in_clusters(), together = fit > 1 ? max(min(ceil(blocks / cores), fit), 1.0) : Formula(1.0);
    // Blocks that are dealt out leave no core idle but at the very end.
    Formula rounds = launch_.dealt ? max(blocks / (cores * together), 1.0) : ceil(blocks / (cores * together));
    Work all;
    Formula loops = clocks_of_loops(together, all) + clocks_of_sums(together), begin = pace_.latency, end = together * stored_bytes() / pace_.store_bytes;
    // What goes on by steps has the next block's tiles under way; one that is dealt out is known late.
    Formula turns = launch_.persistent && !launch_.dealt ? begin + rounds * (loops + end) : rounds * (begin + loops + end);
    Formula memory = touched_bytes() / (cores * pace_.memory_bytes);
    Formula moved = all.moved * blocks / cores;
    Work busy = all.times(rounds * together);
    double roles = kernel_.schedule.roles.empty() ? 0 : pace_.roles;
    return {Formula(pace_.launch + roles) + max(turns, memory + moved * kDelays), busy.products, busy.caches, busy.lanes, memory};
  }

 private:
  // Blocks run in whole clusters alone.
  double cores_in_clusters() const {
    int64_t cluster = std::accumulate(launch_.cluster.begin(), launch_.cluster.end(), int64_t(1), std::multiplies<>());
    return double(cluster == 4 && machine_.cores_in_fours ? machine_.cores_in_fours : machine_.cores / cluster * cluster);
  }

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

  // Blocks of a cluster meet when their sums are there, and read as much of each other as each of them has.
  Formula clocks_of_sums(const Formula& together) const {
    double moved = 0, waits = 0;
    each_op(kernel_, launch_.body, [&](OpId id) {
      const op::ClusterSum* sum = kernel_.op(id).get<op::ClusterSum>();
      if (sum) moved += work_.bytes(sum->tile) / pace_.sum_bytes, waits = pace_.sums;
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
    bool has_products = false;
    for (OpId id : kernel_.region(loop.body).ops) {
      if (const op::For* inner = kernel_.op(id).get<op::For>()) inside = inside + clocks_of(*inner, together, all, times * trips);
      else turn += work_.of(id);
      has_products |= kernel_.op(id).is<op::Gemm>();
    }
    all += turn.times(times * trips);
    bool runs_ahead = loop.loop == LoopKind::Pipelined;
    double depth = double(std::max<int64_t>(loop.stages, 2));
    if (has_products) turn.products = turn.products + pace_.turn;
    Formula clocks = runs_ahead ? max(together * turn.greatest(), turn.waits / depth) : together * turn.sum() + turn.waits;
    return trips * (clocks + together * turn.first + inside);
  }

  double stored_bytes() const {
    double all = 0;
    each_op(kernel_, launch_.body, [&](OpId id) {
      if (const op::Store* store = kernel_.op(id).get<op::Store>(); store && work_.is_far(store->buffer)) all += work_.bytes(store->tile);
    });
    return all;
  }

  // Each tensor once.
  Formula touched_bytes() {
    std::vector<ValueId> tensors;
    each_op(kernel_, launch_.body, [&](OpId id) {
      each_operand(kernel_.op(id).data, [&](ValueId v) {
        if (kernel_.type(v).is_buffer() && work_.is_far(v) && std::ranges::find(tensors, v) == tensors.end()) tensors.push_back(v);
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
  BlockWork work_;
  DimFormula& dims_;
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
