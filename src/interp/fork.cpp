// Regions that run on frames of their own: the elements of a map as lanes, the threads of a simt as warps, roles.
#include "interp/handlers.h"
#include "interp/schedule.h"

namespace tilec::interp {

namespace {

// How input k of a map is walked: the stride of each map axis in the input, 0 where it is broadcast.
std::vector<int64_t> input_strides(const TileData& data, size_t k) {
  std::vector<int64_t> strides(data.shape.size(), 0);
  int64_t stride = 1;
  for (size_t a = data.shapes[k].size(); a-- > 0;) {
    if (data.shapes[k][a] > 1) strides[size_t(data.axes_list[k][a])] += stride;
    stride *= data.shapes[k][a];
  }
  return strides;
}

struct MapRun {
  const TileData& data;
  Strand& element;
  std::vector<const Slot*> inputs;            // that the body uses
  std::vector<std::vector<int64_t>> strides;  // of each input
  std::vector<uint32_t> registers;            // of each input
  std::vector<Slot*> outputs;
  std::vector<int64_t> index;  // of the next element

  // Sets the arguments of `count` elements from the `start`-th on.
  void set_arguments(int64_t count);
};

void MapRun::set_arguments(int64_t count) {
  const std::vector<Location>& args = element.code->arguments;
  size_t rank = data.shape.size();
  for (int64_t lane = 0; lane < count; ++lane) {
    for (size_t a = 0; a < rank; ++a)
      if (args[a].slot != kNoSlot) element.regs[args[a].slot + lane].i = index[a];
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t place = 0;
      for (size_t a = 0; a < rank; ++a) place += index[a] * strides[k][a];
      element.regs[registers[k] + lane] = inputs[k][place];
    }
    for (size_t a = rank; a-- > 0;) {
      if (++index[a] < data.shape[a]) break;
      index[a] = 0;
    }
  }
}

MapRun prepare(Strand& s, const TileData& data, Strand& element) {
  MapRun map{.data = data, .element = element, .index = std::vector<int64_t>(data.shape.size(), 0)};
  for (size_t k = 0; k < data.operands.size(); ++k) {
    uint32_t slot = element.code->arguments[data.shape.size() + k].slot;
    if (slot == kNoSlot) continue;
    map.inputs.push_back(s.tiles[data.operands[k].slot].data());
    map.strides.push_back(input_strides(data, k));
    map.registers.push_back(slot);
  }
  return map;
}

// Every element is an agent of its own: nothing orders it with another.
void join_map_agent(Strand& s, Strand& element) {
  Cluster& cluster = *s.block->cluster;
  if (cluster.map_agent == ~0u) cluster.map_agent = new_agent(cluster, "an iteration of a map");
  element.clock.agent = cluster.map_agent;
  element.clock.known = s.clock.knowledge();
  element.clock.base = cluster.run->base_time;
  element.clock.lock_step = false;
  element.clock.renews = true;
  element.clock.since = advance(cluster, element.clock);
}

}  // namespace

Status do_map(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Strand& element = *make_strand(*s.run, data.function, s);
  int64_t total = 1;
  for (int64_t extent : data.shape) total *= extent;
  std::vector<Tile> results;
  for (size_t k = 0; k < data.results.size(); ++k) results.emplace_back(total);
  MapRun map = prepare(s, data, element);
  for (Tile& tile : results) map.outputs.push_back(tile.writable());
  bool judges = s.run->program.tracks_touches && s.block;
  if (judges) join_map_agent(s, element);
  for (int64_t start = 0; start < total; start += element.width) {
    int64_t count = std::min<int64_t>(element.width, total - start);
    element.full = element.mask = ~0ull >> (64 - count);
    element.pc = 0;
    if (judges) advance(*s.block->cluster, element.clock);
    map.set_arguments(count);
    if (execute(element) == Status::Stop) return Status::Stop;
    for (size_t k = 0; k < results.size(); ++k)
      std::copy_n(element.at(element.code->results[k].slot), count, map.outputs[k] + start);
  }
  if (judges) s.clock.learn(element.clock.agent, element.clock.now);
  rest(*s.run, &element);
  for (size_t k = 0; k < results.size(); ++k) s.tiles[data.results[k].slot] = std::move(results[k]);
  return Status::Next;
}

Status do_simt(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Run& run = *s.run;
  int lanes = run.program.lanes;
  int64_t threads = data.counts[0] ? data.counts[0] : s.threads;
  Group& group = s.block->groups.emplace_back();
  group.members = uint32_t((threads + lanes - 1) / lanes);
  for (uint32_t warp = 0; warp < group.members; ++warp) {
    Strand* w = make_strand(run, data.function, s);
    int64_t count = std::min<int64_t>(lanes, threads - int64_t(warp) * lanes);
    w->full = w->mask = ~0ull >> (64 - count);
    w->group = &group;
    w->warp = int(warp);
    w->threads = threads;
    if (!w->code->arguments.empty() && w->code->arguments[0].slot != kNoSlot)
      for (int lane = 0; lane < lanes; ++lane)
        w->regs[w->code->arguments[0].slot + uint32_t(lane)].i = int64_t(warp) * lanes + lane;
    fork_clock(*w, s, "threads warp " + std::to_string(warp), false);
    s.block->cluster->strands.push_back(w);
  }
  s.children = group.members;
  return group.members ? Status::Pause : Status::Next;
}

Status do_roles(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  s.fork = &data;
  s.children = uint32_t(data.functions.size());
  for (size_t k = 0; k < data.functions.size(); ++k) {
    Strand* role = make_strand(*s.run, data.functions[k], s);
    role->warp = int(k);
    if (k < data.counts.size() && data.counts[k]) role->threads = data.counts[k] * s.run->program.lanes;
    fork_clock(*role, s, "role `" + (k < data.names.size() ? data.names[k] : std::to_string(k)) + "`", true);
    s.block->cluster->strands.push_back(role);
  }
  return s.children ? Status::Pause : Status::Next;
}

}  // namespace tilec::interp
