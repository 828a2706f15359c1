// Asynchronous copies and products. Each is an agent of its own: it happens after its issue and before whoever waits
// for it, and is unordered with all else. Its touches are judged at the issue; its data moves then (early) or when the
// tokens force it (late).
#include "interp/async.h"
#include "interp/handlers.h"
#include "interp/schedule.h"
#include "interp/tile_math.h"

namespace tilec::interp {

uint32_t take_off(Strand& s, const Instr& i, std::string name) {
  Cluster& cluster = *s.block->cluster;
  uint32_t id = uint32_t(cluster.flying.size());
  Flying& f = cluster.flying.emplace_back();
  f.op = i.op;
  f.agent = new_agent(cluster, std::move(name));
  f.known = s.clock.knowledge();
  f.time = ++cluster.agent_times[f.agent];
  f.fenced = s.fenced;
  return id;
}

Clock clock_of(const Cluster& cluster, const Flying& f) {
  return {.agent = f.agent,
          .now = f.time,
          .since = f.time,
          .lock_step = true,
          .base = cluster.run->base_time,
          .known = f.known};
}

uint32_t take_off(Strand& s, const Instr& i, std::string name, const TileData& data) {
  uint32_t id = take_off(s, i, std::move(name));
  Flying& f = s.block->cluster->flying[id];
  f.data = &data;
  fence(*s.block->cluster, f.agent, f.time);  // an engine's own
  return id;
}

void fence(Cluster& cluster, uint32_t agent, uint64_t now) {
  if (cluster.fences.size() <= agent) cluster.fences.resize(agent + 1);
  cluster.fences[agent].push_back(now);
}

namespace {


std::string label(const TileData& data, std::string_view what) {
  return std::string(what) + (data.names.empty() || data.names[0].empty() ? "" : " `" + data.names[0] + "`");
}

// Whether bytes were written is asked when they are read, which late completion does later.
bool judge(Strand& s, const Flying& f, const Region& region, Touch how) {
  Clock clock = clock_of(*s.block->cluster, f);
  return touch_region({*s.run, s.block, clock, f.op}, region, how);
}

}  // namespace

namespace {

void land_lanes(Cluster& cluster, Flying& f) {
  for (const LaneMoves::Move& move : f.lanes->moves)
    std::memcpy(f.lanes->to.memory->data + move.to, f.lanes->from.memory->data + move.from, size_t(f.lanes->bytes));
  if (f.lanes->follower) count_arrivals(cluster, f);
}

}  // namespace

void land(Cluster& cluster, uint32_t id) {
  Flying& f = cluster.flying[id];
  if (f.stage != Flying::Stage::Open) return;
  f.stage = Flying::Stage::Landed;
  Run& run = *cluster.run;
  if (f.box.barrier || f.box.is_store) return land_box(cluster, f);
  if (f.lanes) return land_lanes(cluster, f);
  if (f.part) return land_part(cluster, f);
  if (!f.is_product) return move_region(run, *f.data, f.source, f.target);
  if (f.acc_of != ~0u) {
    land(cluster, f.acc_of);
    f.acc = std::move(cluster.flying[f.acc_of].result);
  }
  auto numbers = [](const Tile& tile, const std::optional<Region>& region) {
    if (!region) return tile;
    Tile read(region->count());
    read_region(*region, Slot{.i = 0}, read.writable());
    return read;
  };
  Tile a = numbers(f.a, f.a_region), b = numbers(f.b, f.b_region);
  f.a = f.b = {};
  f.result = std::move(f.acc);
  f.acc = {};
  product(*f.data, a.data(), b.data(), f.result.writable(), run.options.numeric == Numeric::Wide);
}

void join(Strand& s, uint32_t id) {
  Cluster& cluster = *s.block->cluster;
  land(cluster, id);
  Flying& f = cluster.flying[id];
  s.clock.learn(f.agent, f.time);
  if (f.stage == Flying::Stage::Joined) return;
  f.stage = Flying::Stage::Joined;
  cluster.free_agents.push_back(f.agent);
}

Status do_copy_async(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto from = resolve(*s.run, i.op, data.first, s.views[data.first.view], offsets_of(s, data.first));
  if (!from) return Status::Stop;
  auto to = resolve(*s.run, i.op, data.second, s.views[data.second.view], offsets_of(s, data.second));
  if (!to) return Status::Stop;
  uint32_t id = take_off(s, i, label(data, "copy"), data);
  Flying& f = s.block->cluster->flying[id];
  f.source = *from;
  f.target = *to;
  if (!judge(s, f, *from, Touch::Read) || !judge(s, f, *to, Touch::Write)) return Status::Stop;
  s.handles[i.dst] = id;
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  return Status::Next;
}

Status do_await_copy(Strand& s, const Instr& i) {
  for (const Location& token : s.code->data[size_t(i.imm)].operands) join(s, s.handles[token.slot]);
  return Status::Next;
}

namespace {

bool use_operand(Strand& s, Flying& f, const Location& place, Tile& tile, std::optional<Region>& region) {
  if (place.place == Place::Tile) {
    tile = s.tiles[place.slot];
    return true;
  }
  region = whole(s.views[place.slot]);
  return judge(s, f, *region, Touch::Read);
}

}  // namespace

// A product that has ended before it began: the next one goes on from its tile.
Status do_begin_flight(Strand& s, const Instr& i) {
  uint32_t id = uint32_t(s.block->cluster->flying.size());
  Flying& f = s.block->cluster->flying.emplace_back();
  f.op = i.op;
  f.stage = Flying::Stage::Joined;
  f.is_product = true;
  f.result = i.fast ? std::move(s.tiles[i.a]) : s.tiles[i.a];
  s.handles[i.dst] = id;
  return Status::Next;
}

Status do_gemm_async(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  uint32_t id = take_off(s, i, label(data, "product"), data);
  Flying& f = s.block->cluster->flying[id];
  f.is_product = true;
  const Location& acc = data.operands[2];
  if (acc.place == Place::Tile) {
    f.acc = s.tiles[acc.slot];
  } else {
    f.acc_of = s.handles[acc.slot];
    Flying& before = s.block->cluster->flying[f.acc_of];
    if (before.is_taken)
      return fail(s, FaultKind::Flight, i, "the product that this one goes on from was taken already");
    before.is_taken = true;
  }
  if (!use_operand(s, f, data.operands[0], f.a, f.a_region) || !use_operand(s, f, data.operands[1], f.b, f.b_region))
    return Status::Stop;
  s.open_products.push_back(id);
  s.handles[data.results[0].slot] = id;
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  return Status::Next;
}

// Products of one role end in the order of their issue: all but the last `imm` have ended, and, when its tile is
// wanted, this one and those before it. With a flight as its result the product goes on.
Status do_await_gemm(Strand& s, const Instr& i) {
  uint32_t id = s.handles[i.a];
  Flying& f = s.block->cluster->flying[id];
  if (f.is_taken) return fail(s, FaultKind::Flight, i, "this product was taken already");
  auto at = std::find(s.open_products.begin(), s.open_products.end(), id);
  size_t open = s.open_products.size(), allowed = size_t(std::max<int64_t>(i.imm, 0));
  size_t ended = open > allowed ? open - allowed : 0;
  if (!i.fast && at != s.open_products.end()) ended = std::max(ended, size_t(at - s.open_products.begin()) + 1);
  for (size_t k = 0; k < ended; ++k) join(s, s.open_products[k]);
  s.open_products.erase(s.open_products.begin(), s.open_products.begin() + int64_t(ended));
  if (i.fast) {
    s.handles[i.dst] = id;
    return Status::Next;
  }
  f.is_taken = true;
  s.tiles[i.dst] = std::move(f.result);
  return Status::Next;
}

// What is still in flight, or was never taken, where the block ends.
bool check_flown(Run& run, Cluster& cluster) {
  for (const Flying& f : cluster.flying) {
    if (!f.is_product && f.stage != Flying::Stage::Joined) {
      fail(run, FaultKind::Token, f.op, "nobody waits for this copy before the block ends");
      return false;
    }
    if (f.is_product && !f.is_taken) {
      fail(run, FaultKind::Flight, f.op, "the result of this matrix product is dropped: nobody awaits it");
      return false;
    }
  }
  return std::ranges::all_of(cluster.blocks, [&](Block& block) { return check_groups(run, block); });
}

}  // namespace tilec::interp
