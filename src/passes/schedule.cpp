// Roles pay where a loop feeds matrix products from device memory: the warps that issue copies wait for free slots, and the
// products never wait for an address. Where registers are traded, they pay only if there is something to trade: four warps that
// compute can have all registers that they can name, and four more would take the place of another block (attention of 256 places
// 0.92 to 0.79 ms without roles, its gradient of 128 places 2.08 to 1.69: docs/testing.md).
#include "passes/schedule.h"

#include <algorithm>
#include <cmath>

#include "diag/diag.h"
#include "passes/block_work.h"
#include "passes/demand.h"
#include "passes/products.h"
#include "passes/schedule_loops.h"
#include "passes/trend.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kRegisterStep = 8;  // in which roles trade them
constexpr int64_t kLeastRegisters = 24, kMostRegisters = 256;  // of a lane, that a role may ask for

class Scheduler {
 public:
  Scheduler(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics)
      : kernel_(kernel), schedule_(kernel.schedule), machine_(machine), diagnostics_(diagnostics) {}

  void run() {
    bool can = machine_.has(Cap::BulkCopy) && machine_.has(Cap::PhaseBarriers) && machine_.has(Cap::NamedBarriers);
    // A schedule for all machines says nothing to one that has no such thing.
    if (!can) drop_roles();
    else if (schedule_.are_roles_pinned) check_roles();
    else infer_roles();
    choose_clusters();
    choose_persistence();
    choose_order();
    choose_direction();
    choose_depths();
    choose_times();
  }

 private:
  void refuse(const std::string& why) { diagnostics_.at(schedule_.span).error(diag::ScheduleRefused, why); }

  // What the schedule pins comes before what launches say, of those that have as many axes.
  void choose_clusters() {
    std::vector<OpId> launches;
    size_t most = 0;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (!kernel_.op(id).is<op::Launch>()) return;
      launches.push_back(id);
      most = std::max(most, kernel_.op(id).as<op::Launch>().extents.size());
    });
    if (machine_.cluster_blocks > 1 && schedule_.cluster.size() > most)
      return refuse("a cluster has " + std::to_string(schedule_.cluster.size()) + " axes, and the launch " + std::to_string(most));
    for (OpId id : launches) {
      op::Launch& launch = kernel_.op(id).as<op::Launch>();
      bool is_pinned = !schedule_.cluster.empty() && schedule_.cluster.size() <= launch.extents.size();
      if (is_pinned) launch.cluster = schedule_.cluster;
      if (launch.split) launch.cluster.resize(launch.extents.size(), 1), launch.cluster.back() = launch.split;
      if (!is_pinned && launch.cluster.empty() && !schedule_.roles.empty()) infer_cluster(launch);
      choose_cluster(launch, is_pinned ? schedule_.span : kernel_.op(id).span);
      if (launches.size() == 1) schedule_.cluster = cluster_of(launch);
    }
  }

  Demand demand_of(const op::Launch& launch) const { return passes::demand_of(kernel_, launch, machine_); }

  // Where a turn moves more bytes a clock than all cores together get, two neighbours that take as many turns copy for each other what most of them is.
  void infer_cluster(op::Launch& launch) {
    if (machine_.cluster_blocks < 2 || !machine_.far_bytes || !machine_.product_rate) return;
    Demand demand = demand_of(launch);
    for (size_t axis = 0; axis < demand.alike.size(); ++axis)
      if (demand.decides >> axis & 1) demand.alike[axis] = 0;
    auto best = std::ranges::max_element(demand.alike);
    if (best == demand.alike.end() || *best == 0 || demand.bytes + demand.stored <= demand.clocks * double(machine_.far_bytes)) return;
    launch.cluster.assign(launch.extents.size(), 1);
    launch.cluster[size_t(best - demand.alike.begin())] = 2;
    if (schedule_.facts.widens) widen_cluster(launch, demand);
  }

  // Neighbours along a second axis copy for each other what those along the first cannot: so each tile is asked for by half as many.
  // For products that wait for nothing else, and are fed by an engine: only it writes to all blocks at once.
  void widen_cluster(op::Launch& launch, const Demand& demand) {
    const size_t first = size_t(std::ranges::find(launch.cluster, 2) - launch.cluster.begin());
    size_t second = first;
    for (size_t axis = 0; axis < demand.alike.size(); ++axis)
      if (axis != first && demand.alike[axis] > 0 && (second == first || demand.alike[axis] > demand.alike[second])) second = axis;
    const bool is_all_shared = second != first && demand.alike[first] + demand.alike[second] >= demand.bytes;
    if (!is_all_shared || machine_.cluster_blocks < 4 || schedule_.facts.lanes_copy || !machine_.has(Cap::BulkCopy) || !has_group_products(launch)) return;
    launch.cluster[second] = 2;
    schedule_.facts.is_widened = true;
  }

  bool has_group_products(const op::Launch& launch) const {
    bool are_all = true;
    each_op(kernel_, launch.body, [&](OpId id) {
      const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>();
      const MatrixAtom* atom = gemm ? find_atom(machine_, gemm->atom) : nullptr;
      are_all &= !gemm || (atom && atom->kind == AtomKind::Group);
    });
    return are_all;
  }

  // Blocks that run at once should read few rows and few columns: panels of so many columns that both cost the same.
  void choose_order() {
    std::vector<OpId> launches;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::Launch* launch = kernel_.op(id).get<op::Launch>();
      if (launch && launch->extents.size() > 1) launches.push_back(id);
    });
    for (OpId id : launches) {
      op::Launch& launch = kernel_.op(id).as<op::Launch>();
      if (schedule_.raster) launch.raster = schedule_.raster;
      if (!launch.raster && launch.persistent && !launch.dealt && machine_.cores) infer_order(launch);
    }
    // Of several, each has its own again when the schedule is given back.
    if (launches.size() == 1 && machine_.cores) schedule_.raster = kernel_.op(launches[0]).as<op::Launch>().raster;
  }

  void infer_order(op::Launch& launch) const {
    Demand demand = demand_of(launch);
    if (demand.along[0] == 0 || demand.along[1] == 0) return;
    double columns = std::sqrt(machine_.cores * demand.along[1] / demand.along[0]);
    launch.raster = 1;
    while (double(launch.raster) * 1.5 < columns) launch.raster *= 2;
  }

  // Blocks that are dealt out one by one end together only if the last ones are short. Where the turns of a block rise along an axis, its
  // last blocks begin first; blocks along other axes keep their order, so that what they share stays in the caches.
  void choose_direction() {
    std::vector<OpId> launches;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (kernel_.op(id).is<op::Launch>()) launches.push_back(id);
    });
    for (OpId id : launches) {
      op::Launch& launch = kernel_.op(id).as<op::Launch>();
      bool is_pinned = schedule_.backwards && schedule_.backwards <= int64_t(launch.extents.size());
      if (schedule_.backwards > int64_t(launch.extents.size()) && launches.size() == 1 && machine_.cores)
        return refuse("axis " + std::to_string(schedule_.backwards - 1) + " is reversed, and the launch has " + std::to_string(launch.extents.size()) + " axes");
      if (is_pinned) launch.backwards = schedule_.backwards;
      if (!launch.backwards && (!launch.persistent || launch.dealt) && machine_.cores) infer_direction(launch);
    }
    if (launches.size() == 1 && machine_.cores) schedule_.backwards = kernel_.op(launches[0]).as<op::Launch>().backwards;
  }

  void infer_direction(op::Launch& launch) const {
    const std::vector<ValueId>& indices = kernel_.region(launch.body).args;
    each_op(kernel_, launch.body, [&](OpId id) {
      const op::For* loop = kernel_.op(id).get<op::For>();
      if (!loop || loop->loop != LoopKind::Pipelined || !holds_product(loop->body)) return;
      for (size_t axis = 0; axis < indices.size() && !launch.backwards; ++axis) {
        Trend low = trend_of(kernel_, loop->low, indices[axis]), high = trend_of(kernel_, loop->high, indices[axis]);
        bool lasts_longer = low != Trend::Unknown && low != Trend::Rises && high != Trend::Unknown && high != Trend::Falls;
        if (lasts_longer && (low == Trend::Falls || high == Trend::Rises)) launch.backwards = int64_t(axis) + 1;
      }
    });
  }

  // Where the program leaves it open: what is asked for comes after a latency, or two when all cores ask at once, and so long the turns of
  // all blocks of a core must last. Shared memory bounds it later.
  void choose_depths() {
    if (!machine_.cores) return;
    std::vector<std::pair<const op::Launch*, OpId>> open;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::Launch* launch = kernel_.op(id).get<op::Launch>();
      if (!launch) return;
      each_op(kernel_, launch->body, [&](OpId inner) {
        const op::For* loop = kernel_.op(inner).get<op::For>();
        if (loop && loop->loop == LoopKind::Pipelined && !loop->stages) open.push_back({launch, inner});
      });
    });
    for (auto [launch, id] : open) choose_depth(*launch, kernel_.op(id).as<op::For>());
  }

  void choose_depth(const op::Launch& launch, op::For& loop) {
    constexpr int64_t kLeast = 3, kMost = 8;
    BlockWork work(kernel_, launch, machine_);
    Work turn;
    for (OpId id : kernel_.region(loop.body).ops) {
      if (kernel_.op(id).is<op::For>() || kernel_.op(id).is<op::While>()) return;
      turn += work.of(id);
    }
    Formula from_caches = turn.caches * (machine_.pace.cache_bytes / double(machine_.far_bytes));
    Formula clocks = max(max(turn.products, from_caches), turn.lanes), waits = turn.waits;
    if (!clocks.is_number() || !waits.is_number() || waits.number() <= 0) return;
    // The deeper it is, the fewer blocks a core holds.
    auto lasts = [&] { return work.blocks_of_a_core() * double(loop.stages - 1) * clocks.number() >= 2 * waits.number(); };
    loop.stages = kLeast;
    while (loop.stages < kMost && !lasts()) ++loop.stages;
  }

  void choose_times() {
    std::vector<OpId> launches;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (kernel_.op(id).is<op::Launch>()) launches.push_back(id);
    });
    for (OpId id : launches) schedule_loops(kernel_, kernel_.op(id).as<op::Launch>(), machine_);
  }

  // A role that copies fills the tiles of the next block while the others end this one. Where some blocks have more turns than others,
  // each gets the next number when it comes for it, so that all end together; blocks of clusters, which would have to agree on one,
  // are left to the machine then, as are those for which lanes copy.
  // A schedule that asks for it means the launches that would have it, or all where none would.
  void choose_persistence() {
    std::vector<OpId> fed, all;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      op::Launch* launch = kernel_.op(id).get<op::Launch>();
      if (!launch) return;
      all.push_back(id);
      Demand demand = demand_of(*launch);
      launch->dealt = !demand.is_equal() && launch->cluster.empty() && !schedule_.roles.empty() && !schedule_.facts.lanes_copy;
      if (demand.bytes > 0 && (demand.is_equal() || launch->dealt)) fed.push_back(id);
    });
    bool can = machine_.has(Cap::PersistentBlocks), is_pinned = schedule_.persistent;
    if (is_pinned ? fed.empty() : schedule_.roles.empty()) fed = is_pinned ? all : std::vector<OpId>{};
    schedule_.persistent = can && !fed.empty();
    for (OpId id : all) {
      op::Launch& launch = kernel_.op(id).as<op::Launch>();
      launch.persistent = can && (launch.persistent || std::ranges::find(fed, id) != fed.end());
      launch.dealt &= launch.persistent;
    }
  }

  // A machine whose blocks are all on their own hears of none.
  void choose_cluster(op::Launch& launch, Span span) {
    int64_t blocks = 1;
    for (int64_t size : launch.cluster)
      if (__builtin_mul_overflow(blocks, size, &blocks)) blocks = INT64_MAX;
    if (machine_.cluster_blocks <= 1 || blocks == 1) return launch.cluster.clear();
    launch.cluster.resize(launch.extents.size(), 1);
    if (blocks <= machine_.cluster_blocks) return;
    launch.cluster.clear();
    diagnostics_.at(span).error(diag::ScheduleRefused, "a cluster has " + std::to_string(blocks) + " blocks, and one of " + std::string(machine_.name) +
                                                           " at most " + std::to_string(machine_.cluster_blocks));
  }

  void drop_roles() {
    schedule_.roles.clear();
    std::erase_if(schedule_.placements, [](const Placement& p) { return !p.role.empty(); });
  }

  int64_t computing() const {
    int64_t warps = 0;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (auto* launch = kernel_.op(id).get<op::Launch>()) warps = std::max(warps, computing_warps(kernel_, *launch, machine_));
    });
    return warps;
  }

  // Two roles: one that only copies, named by its statements, and one that does the rest.
  void check_roles() {
    if (schedule_.roles.size() != 2) return refuse("a block has two roles, one that fills tiles and one for the rest, not " + std::to_string(schedule_.roles.size()));
    int64_t all = 0, computing_warps = computing();
    int of_the_rest = 0;
    for (Role& role : schedule_.roles) {
      bool is_rest = std::ranges::any_of(schedule_.placements, [&](const Placement& p) { return p.role == role.name && p.label == kRest; });
      of_the_rest += is_rest;
      if (!role.warps) role.warps = is_rest ? computing_warps : machine_.role_warps;
      if (role.warps < 0 || role.warps % machine_.role_warps != 0)
        return refuse("role `" + role.name + "` has " + std::to_string(role.warps) + " warps, and " + std::string(machine_.name) +
                      " gives roles multiples of " + std::to_string(machine_.role_warps));
      if (is_rest && role.warps != computing_warps)
        return refuse("role `" + role.name + "` has " + std::to_string(role.warps) + " warps where the launch computes with " + std::to_string(computing_warps));
      all += role.warps;
    }
    if (of_the_rest != 1) return refuse("one role is for the `rest` of the statements");
    if (all > machine_.max_warps)
      return refuse("the roles have " + std::to_string(all) + " warps, and a block of " + std::string(machine_.name) + " has " + std::to_string(machine_.max_warps));
    if (trades_registers()) check_budgets(all);
  }

  // A role that asks for more than the others have left waits for them for ever.
  void check_budgets(int64_t warps) {
    const int64_t begins = machine_.block_registers / (warps * machine_.lanes) / kRegisterStep * kRegisterStep;
    int64_t asked = 0;
    for (const Role& role : schedule_.roles) {
      if (role.registers % kRegisterStep != 0)
        return refuse("role `" + role.name + "` has " + std::to_string(role.registers) + " registers, and " + std::string(machine_.name) + " gives roles multiples of " +
                      std::to_string(kRegisterStep));
      if (role.registers && (role.registers < kLeastRegisters || role.registers > kMostRegisters))
        return refuse("role `" + role.name + "` has " + std::to_string(role.registers) + " registers, and roles have " + std::to_string(kLeastRegisters) + " to " +
                      std::to_string(kMostRegisters));
      asked += (role.registers ? role.registers : begins) * role.warps;
    }
    if (asked > begins * warps)
      refuse("the lanes of its roles have " + std::to_string(asked * machine_.lanes) + " registers, and a block of " + std::to_string(warps) + " warps of " +
             std::string(machine_.name) + " has " + std::to_string(begins * warps * machine_.lanes) + " to share out");
  }

  void infer_roles() {
    std::vector<std::string> tiles;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::For* loop = kernel_.op(id).get<op::For>();
      if (!loop || loop->loop != LoopKind::Pipelined || !holds_product(loop->body)) return;
      add_copies(loop->body, tiles);
    });
    if (tiles.empty()) return;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (const op::Launch* launch = kernel_.op(id).get<op::Launch>()) add_copies(launch->body, tiles);
    });
    std::ranges::sort(tiles);
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    int64_t warps = computing();
    if (warps + machine_.role_warps > machine_.max_warps || warps % machine_.role_warps != 0) return;
    auto [math, load] = budgets(warps);
    if (trades_registers() && !math) return;
    schedule_.roles = {{std::string(kMathRole), warps, math}, {std::string(kLoadRole), machine_.role_warps, load}};
    for (std::string& tile : tiles) schedule_.placements.push_back({std::move(tile), std::string(kLoadRole), 0, 0});
    schedule_.placements.push_back({std::string(kRest), std::string(kMathRole), 0, 0});
  }

  // The copies of the region itself that fill shared tiles from device memory.
  void add_copies(RegionId region, std::vector<std::string>& tiles) const {
    for (OpId id : kernel_.region(region).ops)
      if (const op::Copy* copy = kernel_.op(id).get<op::Copy>(); copy && is_fed_from_device(kernel_, *copy))
        tiles.push_back(copy->label.empty() ? kernel_.value(copy->dst).hint : copy->label);
  }

  bool trades_registers() const { return machine_.has(Cap::RegisterBudgets) && machine_.block_registers; }

  // Of a lane that computes. With more than 216 the assembler arranges most loops with products under way no better, or by up to 2 % worse;
  // kernels that need more are assembled again. Two products a turn, of which the result of one stands beside the scores of the other, use
  // more (attention of d 128: 2 to 4 %), as long as these leave room beside them. Of 216 a role that copies for blocks along two axes is left
  // 72, with which the assembler keeps addresses of its loop on the stack; with the 56 that 224 leave it does not.
  int64_t most_registers(int64_t warps) const {
    constexpr int64_t kMost = 216, kMostOfPairs = 232, kMostWide = 224, kResults = 128;
    if (schedule_.facts.widens) return kMostWide;
    int64_t products = 0, results = 0;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (!kernel_.op(id).is<op::Gemm>()) return;
      ++products, results += kernel_.type(kernel_.op(id).result()).element_count();
    });
    return products == 2 && results <= kResults * warps * machine_.lanes ? kMostOfPairs : kMost;
  }

  // Registers of a lane of each role, 0: as the block begins. Warps that only copy give theirs away, as far as the others can
  // name them; a block that begins with as many has nothing to trade. To copy by lanes without an engine takes more than to start one.
  std::pair<int64_t, int64_t> budgets(int64_t warps) const {
    constexpr int64_t kStarting = 32, kCopying = 104;
    if (!trades_registers()) return {};
    const int64_t filling = schedule_.facts.lanes_copy ? kCopying : kStarting;
    int64_t lanes = machine_.lanes, copying = machine_.role_warps * lanes * filling;
    int64_t begins = machine_.block_registers / ((warps + machine_.role_warps) * lanes) / kRegisterStep * kRegisterStep;
    int64_t pool = begins * (warps + machine_.role_warps) * lanes;
    int64_t computing = std::min(most_registers(warps), (pool - copying) / (warps * lanes) / kRegisterStep * kRegisterStep);
    if (begins >= computing) return {};
    return {computing, (pool - computing * warps * lanes) / (machine_.role_warps * lanes) / kRegisterStep * kRegisterStep};
  }

  bool holds_product(RegionId region) const { return passes::holds_product(kernel_, region); }

  Kernel& kernel_;
  Schedule& schedule_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
};

}  // namespace

Ints cluster_of(const op::Launch& launch) {
  Ints cluster = launch.cluster;
  if (launch.split && !cluster.empty()) cluster.pop_back();
  if (std::ranges::all_of(cluster, [](int64_t size) { return size == 1; })) cluster.clear();
  return cluster;
}

void schedule(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) { Scheduler(kernel, machine, diagnostics).run(); }

}  // namespace tilec::passes
