// Boxes that an engine copies between device memory and arrays of shared memory.
#include <algorithm>

#include "interp/async.h"
#include "interp/handlers.h"
#include "interp/tile_memory.h"

namespace tilec::interp {

namespace {

// Calls f(element of the box, its place in the array of shared memory); `origin` is the element of the array at its corner.
template <class F>
bool each_place(const TileData& data, int64_t origin, F&& f) {
  std::vector<int64_t> index(data.shape.size(), 0);
  const std::vector<int64_t>& places = data.array->places;
  int64_t count = 1, element = origin;
  for (int64_t extent : data.shape) count *= extent;
  for (int64_t n = 0; n < count; ++n) {
    if (!f(n, places[size_t(element)])) return false;
    for (size_t a = data.shape.size(); a-- > 0;) {
      element += data.axes[a];
      if (++index[a] < data.shape[a]) break;
      element -= data.axes[a] * data.shape[a];
      index[a] = 0;
    }
  }
  return true;
}

// None: the box leaves the array of shared memory, and a fault was recorded.
std::optional<int64_t> origin_of(Strand& s, const Instr& i, const TileData& data) {
  int64_t origin = 0;
  for (size_t d = 0; d < data.operands.size(); ++d) {
    int64_t offset = s.regs[data.operands[d].slot].i, extent = data.shapes[0][d];
    if (offset < 0 || offset + data.counts[d] > extent) {
      fail(s, FaultKind::OutOfBounds, i,
           "a box covers " + std::to_string(offset) + " to " + std::to_string(offset + data.counts[d]) + " along axis " +
               std::to_string(d) + " of a shared array whose extent is " + std::to_string(extent));
      return std::nullopt;
    }
    origin = origin * extent + offset;
  }
  return origin;
}

// A read of the cell that nobody has fenced, or 0.
Stamp unfenced_read(const Cluster& cluster, const Flying& f, Readers& readers, const Cell& cell) {
  if (!(cell.read & Readers::kRow)) return is_fenced(cluster, f, cell.read) ? 0 : cell.read;
  for (Stamp read : readers.row(cell.read))
    if (!is_fenced(cluster, f, read)) return read;
  return 0;
}

// The engine sees what threads wrote to shared memory where they have fenced it, and writes over what they have read where they have fenced
// that: on their way to whoever tells the engine, arrivals overtake reads.
bool judge_box(Strand& s, const Flying& f, Touch how) {
  Clock clock = clock_of(*s.block->cluster, f);
  int width = byte_width(f.box.view.element);
  Allocation& memory = *f.box.view.memory;
  const bool is_judged = memory.has_cells() && s.run->options.check_races;
  return each_place(*f.data, f.box.origin, [&](int64_t, int64_t place) {
    int64_t byte = (f.box.view.base + place) * width;
    auto unfenced = [&](const char* touches, const char* touched) {
      fail(*s.run, FaultKind::Race, f.op,
           std::string("the engine ") + touches + " byte " + std::to_string(byte) + " of " + name_of(memory) + ", which threads " + touched + " and did not fence");
      return false;
    };
    const Cell before = is_judged ? memory.cell(byte) : Cell{};
    const bool is_overtaken = how == Touch::Write && unfenced_read(*s.block->cluster, f, memory.cell_readers(), before) != 0;
    if (!touch_bytes({*s.run, s.block, clock, f.op}, memory, byte, width, 0, how)) return false;
    if (is_overtaken) return unfenced("writes", "read");
    if (how == Touch::Read && !is_fenced(*s.block->cluster, f, before.write)) return unfenced("reads", "wrote");
    return true;
  });
}

bool judge(Strand& s, const Flying& f, const Region& region, Touch how) {
  Clock clock = clock_of(*s.block->cluster, f);
  return touch_region({*s.run, s.block, clock, f.op}, region, how);
}

void land_store(Cluster& cluster, Flying& f) {
  const View& from = f.box.view;
  std::vector<Slot> numbers(size_t(f.target.count()));
  int width = byte_width(from.element);
  each_place(*f.data, f.box.origin, [&](int64_t n, int64_t place) {
    numbers[size_t(n)] = load_element(from.element, from.memory->data + (from.base + place) * width);
    return true;
  });
  if (f.data->adds) add_region(*cluster.run, f.target, numbers.data());
  else write_region(f.target, numbers.data());
}

}  // namespace

void land_box(Cluster& cluster, Flying& f) {
  if (f.box.is_store) return land_store(cluster, f);
  const View& to = f.box.view;
  std::vector<Slot> numbers(size_t(f.source.count()));
  read_region(f.source, Slot{.i = 0}, numbers.data());
  int width = byte_width(to.element);
  each_place(*f.data, f.box.origin, [&](int64_t n, int64_t place) {
    store_element(to.element, to.memory->data + (to.base + place) * width, numbers[size_t(n)]);
    return true;
  });
  count_bytes(cluster, f, int64_t(numbers.size()) * width);
}

namespace {

// To the array and the barrier of one block.
bool begin_copy(Strand& s, const Instr& i, const TileData& data, const Region& from, int64_t origin, const View& to, PhaseBarrier& barrier) {
  uint32_t id = take_off(s, i, "copy to " + name_of(*to.memory), data);
  Flying& f = s.block->cluster->flying[id];
  f.source = from;
  f.box = {&barrier, to, origin, false};
  barrier.copies.push_back(id);
  if (!judge(s, f, from, Touch::Read) || !judge_box(s, f, Touch::Write)) return false;
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  return !s.run->result.fault;
}

}  // namespace

// Its bytes move as soon as it is issued, or when somebody waits at the barrier that counts them.
Status do_copy_box(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto from = resolve(*s.run, i.op, data.first, s.views[data.first.view], offsets_of(s, data.first));
  auto origin = origin_of(s, i, data);
  if (!from || !origin) return Status::Stop;
  if (!i.fn) {
    PhaseBarrier* barrier = phase_barrier(s, i);
    return barrier && begin_copy(s, i, data, *from, *origin, s.views[i.c], *barrier) ? Status::Next : Status::Stop;
  }
  for (auto peers = uint64_t(s.at(i.dst)->i); peers; peers &= peers - 1) {
    auto to = peer_view(s, i, s.views[i.c], std::countr_zero(peers)), barriers = peer_view(s, i, s.views[i.a], std::countr_zero(peers));
    PhaseBarrier* barrier = to && barriers ? phase_barrier(s, i, *barriers, s.at(i.b)->i) : nullptr;
    if (!barrier || !begin_copy(s, i, data, *from, *origin, *to, *barrier)) return Status::Stop;
  }
  return Status::Next;
}

// The array has been read where its warp waits for that. That the tensor has it nobody in the launch may rely on: what is written is an
// operation in flight of its own, for which no one waits.
Status do_store_box(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto to = resolve(*s.run, i.op, data.first, s.views[data.first.view], offsets_of(s, data.first));
  auto origin = origin_of(s, i, data);
  if (!to || !origin) return Status::Stop;
  uint32_t write = take_off(s, i, "store of " + name_of(*s.views[i.c].memory), data);
  s.block->cluster->flying[write].stage = Flying::Stage::Joined;
  if (!judge(s, s.block->cluster->flying[write], *to, data.adds ? Touch::Atomic : Touch::Write)) return Status::Stop;
  uint32_t id = take_off(s, i, "store of " + name_of(*s.views[i.c].memory), data);
  Flying& f = s.block->cluster->flying[id];
  f.target = *to;
  f.box = {nullptr, s.views[i.c], *origin, true};
  if (!judge_box(s, f, Touch::Read)) return Status::Stop;
  s.stores.push_back(id);
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  return s.run->result.fault ? Status::Stop : Status::Next;
}

Status do_await_stores(Strand& s, const Instr& i) {
  auto open = s.stores.end() - std::min(i.imm, int64_t(s.stores.size()));
  std::for_each(s.stores.begin(), open, [&](uint32_t id) { join(s, id); });
  s.stores.erase(s.stores.begin(), open);
  return Status::Next;
}

}  // namespace tilec::interp
