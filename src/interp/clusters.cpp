// Launches: blocks by themselves, or as clusters that run at once and reach each other's shared memory.
#include <numeric>

#include "interp/async.h"
#include "interp/handlers.h"
#include "interp/schedule.h"

namespace tilec::interp {

namespace {

void set_arguments(Strand& s, std::span<const int64_t> values) {
  for (size_t k = 0; k < values.size() && k < s.code->arguments.size(); ++k) {
    uint32_t slot = s.code->arguments[k].slot;
    if (slot == kNoSlot) continue;
    for (uint32_t lane = 0; lane < s.width; ++lane) s.regs[slot + lane].i = values[k];
  }
}

void add_strand(Block& block, Strand& host, const TileData& data, Group* group, int warp,
                std::span<const int64_t> indices) {
  Run& run = *host.run;
  Strand* s = make_strand(run, data.function, host);
  bool is_thread = s->code->kind == FunctionKind::Thread;
  s->block = &block;
  s->parent = nullptr;
  s->group = group;
  s->warp = warp;
  s->threads = is_thread ? data.counts[0] * int64_t(s->width) : data.counts[1];
  set_arguments(*s, indices);
  // Lanes that may part are in step only where they meet.
  bool may_part = is_thread && run.options.machine && run.options.machine->has(Cap::DivergentBranches);
  std::string name = is_thread ? "warp " + std::to_string(warp) : "the block";
  if (&block != &block.cluster->blocks.front()) name += " of block " + std::to_string(block.number);
  fork_clock(*s, host, std::move(name), !may_part);
  block.cluster->strands.push_back(s);
}

// A grid of blocks, cut into clusters of a shape that divides it.
struct Grid {
  std::vector<int64_t> extents, cluster;

  static int64_t count(const std::vector<int64_t>& shape) { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }

  std::vector<int64_t> clusters() const {
    std::vector<int64_t> shape = extents;
    for (size_t d = 0; d < shape.size(); ++d) shape[d] /= cluster[d];
    return shape;
  }
  // The first index varies fastest.
  static std::vector<int64_t> indices(const std::vector<int64_t>& shape, int64_t number) {
    std::vector<int64_t> at(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) at[d] = number % shape[d], number /= shape[d];
    return at;
  }
  std::vector<int64_t> block(int64_t number, int64_t member) const {
    std::vector<int64_t> at = indices(clusters(), number), inside = indices(cluster, member);
    for (size_t d = 0; d < at.size(); ++d) at[d] = at[d] * cluster[d] + inside[d];
    return at;
  }
  int64_t number(const std::vector<int64_t>& block) const {
    int64_t number = 0;
    for (size_t d = block.size(); d-- > 0;) number = number * extents[d] + block[d];
    return number;
  }
};

// Of a launch that goes on from block to block: few enough that small grids go on, too.
constexpr int64_t kClustersAtOnce = 3;

bool run_cluster(Strand& host, const TileData& data, const Grid& grid, int64_t number, int64_t clusters) {
  Run& run = *host.run;
  Cluster cluster;
  cluster.run = &run;
  cluster.extents = grid.extents, cluster.shape = grid.cluster;
  cluster.blocks_at_once = clusters * Grid::count(grid.cluster);
  bool is_thread = run.program.functions[data.function].kind == FunctionKind::Thread;
  int warps = is_thread ? int(data.counts[0]) : 1;
  for (int64_t member = 0; member < Grid::count(grid.cluster); ++member) {
    std::vector<int64_t> indices = grid.block(number, member);
    Block& block = cluster.blocks.emplace_back();
    block.cluster = &cluster;
    block.number = uint32_t(grid.number(indices));
    block.order = number * Grid::count(grid.cluster) + member;
    Group& group = block.groups.emplace_back();
    group.members = uint32_t(warps);
    for (int warp = 0; warp < warps; ++warp) add_strand(block, host, data, is_thread ? &group : nullptr, warp, indices);
  }
  bool is_fine = run_strands(run, cluster) && check_flown(run, cluster);
  for (uint64_t time : cluster.agent_times) run.base_time = std::max(run.base_time, time);
  for (Allocation& memory : run.memory) {
    if (!memory.cells.empty()) memory.readers.shrink(memory.cells);
  }
  return is_fine;
}

// More than a launcher can number, or than are run in any time that one waits for.
constexpr int64_t kMostBlocks = int64_t(1) << 26;
bool has_many_blocks(const std::vector<int64_t>& extents) {
  int64_t blocks = 1;
  bool is_beyond = false, is_empty = false;
  for (int64_t extent : extents) {
    is_empty |= extent == 0;
    is_beyond = is_beyond || __builtin_mul_overflow(blocks, extent, &blocks) || blocks > kMostBlocks;
  }
  return is_beyond && !is_empty;
}

// As the launch asks for, where threads run, and such clusters cut the grid; else every block is alone.
std::vector<int64_t> cluster_of(const Run& run, const TileData& data, const std::vector<int64_t>& extents) {
  std::vector<int64_t> alone(extents.size(), 1), cluster = data.shape;
  if (!run.options.forms_clusters || run.program.functions[data.function].kind != FunctionKind::Thread) return alone;
  cluster.resize(extents.size(), 1);
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] % cluster[d] != 0) return alone;
  return cluster;
}

}  // namespace

// Clusters run one after another in a random order: they may not wait for each other.
Status do_launch(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Run& run = *s.run;
  Grid grid;
  for (const Location& l : data.operands) {
    grid.extents.push_back(s.regs[l.slot].i);
    if (grid.extents.back() < 0) return fail(s, FaultKind::Contract, i, "a launch extent is " + std::to_string(grid.extents.back()));
  }
  if (has_many_blocks(grid.extents))
    return fail(s, FaultKind::Contract, i, "the launch has more blocks than the interpreter runs, " + std::to_string(kMostBlocks));
  grid.cluster = cluster_of(run, data, grid.extents);
  for (Allocation& memory : run.memory)
    if (!memory.blocks.empty()) memory.blocks.assign(size_t(memory.granules()), {});
  int64_t clusters = Grid::count(grid.clusters());
  if (data.is_persistent) clusters = std::min(clusters, kClustersAtOnce);
  std::vector<int64_t> order(static_cast<size_t>(clusters));
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[size_t(next_random(run) % k)]);
  run.next_block = clusters * Grid::count(grid.cluster);
  for (int64_t number : order)
    if (!run_cluster(s, data, grid, number, clusters)) return Status::Stop;
  return Status::Next;
}

namespace {

// The same to all lanes.
Status give(Strand& s, const Instr& i, int64_t number) {
  for (uint32_t lane = 0; lane < s.width; ++lane) s.at(i.dst)[lane].i = number;
  return Status::Next;
}

}  // namespace

Status do_cluster_blocks(Strand& s, const Instr& i) { return give(s, i, int64_t(s.block->cluster->blocks.size())); }

Status do_grid_blocks(Strand& s, const Instr& i) { return give(s, i, s.block->cluster->blocks_at_once); }
Status do_take_block(Strand& s, const Instr& i) { return give(s, i, s.run->next_block++); }
Status do_block_number(Strand& s, const Instr& i) { return give(s, i, s.block->order); }

Status do_block_index(Strand& s, const Instr& i) {
  const Cluster& cluster = *s.block->cluster;
  Grid grid{cluster.extents, cluster.shape};
  int64_t number = s.at(i.a)->i, members = Grid::count(grid.cluster);
  return give(s, i, grid.block(number / members, number % members)[i.b]);
}

std::optional<View> peer_view(Strand& s, const Instr& i, const View& view, int64_t number) {
  Cluster& cluster = *s.block->cluster;
  auto refuse = [&](std::string why) { return fail(s, FaultKind::OutOfBounds, i, "block " + std::to_string(number) + " of the cluster " + why), std::nullopt; };
  if (number < 0 || number >= int64_t(cluster.blocks.size())) return refuse("is none of its " + std::to_string(cluster.blocks.size()));
  Block& peer = cluster.blocks[size_t(number)];
  if (peer.groups.front().finished == peer.groups.front().members) return refuse("has ended, and its shared memory with it");
  auto own = std::ranges::find_if(s.block->by_op, [&](const auto& known) { return known.second == view.memory; });
  if (own == s.block->by_op.end()) return refuse("has no such memory: it is not of the block");
  auto theirs = peer.by_op.find(own->first);
  if (theirs == peer.by_op.end()) return refuse("has not come to where it has " + name_of(*view.memory));
  View result = view;
  result.memory = theirs->second;
  return result;
}

Status do_peer_view(Strand& s, const Instr& i) {
  auto view = peer_view(s, i, s.views[i.a], s.at(i.b)->i);
  if (view) s.views[i.dst] = *view;
  return view ? Status::Next : Status::Stop;
}

}  // namespace tilec::interp
