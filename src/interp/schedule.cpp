// Runs the strands of a block in turn until all are done, one faults, or none can go on.
#include "interp/schedule.h"

#include "interp/handlers.h"

namespace tilec::interp {

Status execute(Strand& s) {
  const Instr* code = s.code->code.data();
  s.execution = ++s.run->executions;
  Counters& counters = s.run->counters();
  for (;;) {
    const Instr& i = code[s.pc++];
    ++counters.steps;
    counters.lane_operations += i.lanes;
    Status status = i.run(s, i);
    if (status == Status::Next) [[likely]]
      continue;
    if (status == Status::Retry) --s.pc;
    return status;
  }
}

uint64_t next_random(Run& run) {
  run.random += 0x9e3779b97f4a7c15ull;
  uint64_t x = run.random;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

namespace {

void copy_captures(Strand& to, const Strand& from) {
  for (const Capture& c : to.code->captures) {
    switch (c.to.place) {
      case Place::Register:
        for (uint32_t k = 0; k < c.to.count; ++k)
          for (uint32_t lane = 0; lane < to.width; ++lane)
            to.regs[c.to.slot + k * to.width + lane] = from.regs[c.from.slot + k * from.width];
        break;
      case Place::Tile:
        to.tiles[c.to.slot] = from.tiles[c.from.slot];
        break;
      case Place::View:
        to.views[c.to.slot] = from.views[c.from.slot];
        break;
      case Place::Handle:
        to.handles[c.to.slot] = from.handles[c.from.slot];
        break;
    }
  }
}

Strand* new_frame(Run& run, uint32_t function) {
  Strand& s = run.frames.emplace_back();
  const Function& f = run.program.functions[function];
  s.run = &run;
  s.code = &f;
  s.function = function;
  s.width = f.width;
  s.storage.assign(size_t(f.registers) * f.width, Slot{.i = 0});
  s.regs = s.storage.data();
  for (auto [reg, number] : f.constants) s.regs[reg] = number;
  s.saved.resize(2 * f.masks);
  s.tiles.resize(f.tiles);
  s.views.resize(f.views);
  s.handles.resize(f.handles);
  return &s;
}

}  // namespace

Strand* make_strand(Run& run, uint32_t function, Strand& from) {
  std::vector<Strand*>& resting = run.resting[function];
  Strand* s = resting.empty() ? new_frame(run, function) : resting.back();
  if (!resting.empty()) resting.pop_back();
  s->block = from.block;
  s->pc = 0;
  s->full = s->mask = ~0ull >> (64 - s->width);
  s->parent = &from;
  s->group = nullptr;
  s->children = 0;
  s->warp = 0;
  s->threads = from.threads;
  s->has_arrived = s->is_released = s->is_done = false;
  s->waiting = {};
  s->clock = {};
  copy_captures(*s, from);
  return s;
}

void rest(Run& run, Strand* s) {
  for (Tile& tile : s->tiles) tile = {};
  s->own.clear();
  s->private_memory.clear();
  s->open_products.clear();
  s->batches.clear();
  run.resting[s->function].push_back(s);
}

uint32_t new_agent(Cluster& cluster, std::string name) {
  if (!cluster.free_agents.empty()) {
    uint32_t agent = cluster.free_agents.back();
    cluster.free_agents.pop_back();
    cluster.agent_names[agent] = std::move(name);
    return agent;
  }
  cluster.agent_times.push_back(cluster.run->base_time);
  cluster.agent_names.push_back(std::move(name));
  INVARIANT(cluster.agent_names.size() < 0xffff, "a stamp has sixteen bits for its agent");
  return uint32_t(cluster.agent_names.size() - 1);
}

uint64_t advance(Cluster& cluster, Clock& clock) { return clock.now = ++cluster.agent_times[clock.agent]; }

std::string agent_name(const Cluster& cluster, Stamp stamp) {
  std::string name =
      agent_of(stamp) < cluster.agent_names.size() ? cluster.agent_names[agent_of(stamp)] : "an earlier block";
  if (name.rfind("thread", 0) != 0) return name;
  if (lane_of(stamp) == kManyLanes) return "several threads of warp " + name.substr(13);
  return "lane " + std::to_string(lane_of(stamp)) + " of warp " + name.substr(13);
}

// The child starts with what the parent knows; what the parent does from now on is later.
void fork_clock(Strand& child, Strand& parent, std::string name, bool lock_step) {
  Cluster& cluster = *child.block->cluster;
  child.name = name;
  child.clock.agent = new_agent(cluster, std::move(name));
  child.clock.known = parent.clock.knowledge();
  child.clock.base = cluster.run->base_time;
  child.clock.lock_step = lock_step;
  child.clock.since = advance(cluster, child.clock);
}

namespace {

// What a role yields becomes the results of the `roles` operation, role after role.
void take_results(Strand& child) {
  Strand& parent = *child.parent;
  if (!parent.fork || child.code->kind != FunctionKind::Role) return;
  size_t at = 0;
  for (int k = 0; k < child.warp; ++k)
    at += child.run->program.functions[parent.fork->functions[size_t(k)]].results.size();
  for (const Location& from : child.code->results) {
    const Location& to = parent.fork->results[at++];
    if (from.place == Place::Register)
      parent.regs[to.slot] = child.regs[from.slot];
    else if (from.place == Place::Tile)
      parent.tiles[to.slot] = child.tiles[from.slot];
  }
}

bool finish(Cluster& cluster, Strand& s) {
  s.is_done = true;
  if (!s.open_products.empty() || !s.batches.empty()) {
    const Flying& product = cluster.flying[s.batches.empty() ? s.open_products[0] : s.batches[0][0]];
    fail(*s.run, FaultKind::Flight, product.op,
         "this matrix product is still open where " + s.name + " ends: nobody awaits it");
    return false;
  }
  if (Group* group = s.group) {
    ++group->finished;
    if (group->arrived && group->arrived + group->finished == group->members) {
      fail(*s.run, FaultKind::Barrier, group->barrier_op,
           s.name + " ends without reaching this barrier, where others wait");
      return false;
    }
  }
  if (s.parent && s.parent->block) {
    take_results(s);
    s.parent->clock.learn(s.clock.knowledge());
    if (--s.parent->children == 0) advance(cluster, s.parent->clock);
    cluster.free_agents.push_back(s.clock.agent);
  }
  return true;
}

// Lets one strand run; false when the run is over.
bool resume(Cluster& cluster, Strand& s) {
  uint64_t before = s.run->counters().steps;
  Status status = execute(s);
  if (status == Status::Stop) return false;
  if (status != Status::Retry || s.run->counters().steps > before + 1) cluster.progressed = true;
  return status != Status::Done || finish(cluster, s);
}

void remove_done(Run& run, Cluster& cluster) {
  auto is_live = [](Strand* s) { return !s->is_done; };
  auto dead = std::stable_partition(cluster.strands.begin(), cluster.strands.end(), is_live);
  for (auto it = dead; it != cluster.strands.end(); ++it) rest(run, *it);
  cluster.strands.erase(dead, cluster.strands.end());
}

std::string sentence(const Strand& s) {
  const Waiting& w = s.waiting;
  std::string text = s.name + " waits for " + std::string(w.what);
  if (w.what == "turn" || w.what == "a free turn") {
    const Ring& ring = s.block->rings[w.object];
    text = s.name + " waits for " + (w.what == "turn" ? "" : "its ") + "turn " + std::to_string(w.number) +
           " of ring `" + ring.name + (w.what == "turn" ? "` to be filled" : "` to be given back");
  }
  return text;
}

void report_deadlock(Run& run, Cluster& cluster) {
  std::string text = "nobody can go on:";
  uint32_t op = ~0u;
  int named = 0;
  for (Strand* s : cluster.strands) {
    if (s->children) continue;
    if (op == ~0u) op = s->waiting.op;
    if (named++ < 4) text += (named == 1 ? " " : ", ") + sentence(*s);
  }
  if (named > 4) text += ", and " + std::to_string(named - 4) + " more wait";
  fail(run, FaultKind::Deadlock, op, std::move(text));
}

}  // namespace

bool run_strands(Run& run, Cluster& cluster) {
  while (!cluster.strands.empty()) {
    cluster.progressed = false;
    size_t count = cluster.strands.size(), first = size_t(next_random(run) % count);
    for (size_t k = 0; k < count; ++k) {
      Strand& s = *cluster.strands[(first + k) % count];
      if (s.is_done || s.children) continue;
      if (!resume(cluster, s)) return false;
    }
    remove_done(run, cluster);
    if (!cluster.progressed) {
      report_deadlock(run, cluster);
      return false;
    }
  }
  return true;
}

}  // namespace tilec::interp
