// Loads, stores and copies of tiles, and operations that only move elements.
#include "interp/handlers.h"
#include "interp/tile_memory.h"

namespace tilec::interp {

using namespace ir;

namespace {

int64_t count_of(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

std::optional<Region> region_of(Strand& s, const Instr& i, const RegionAccess& access) {
  return resolve(*s.run, i.op, access, s.views[access.view], offsets_of(s, access));
}

}  // namespace

Status do_tile_load(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto region = region_of(s, i, data.first);
  if (!region || !touch_region(toucher(s, i), *region, Touch::Read)) return Status::Stop;
  Tile tile(region->count());
  read_region(*region, to_slot(data.type, data.first.pad), tile.writable());
  s.run->counters().loaded[int(region->view.memory->space)] += uint64_t(bytes_inside(*region));
  s.tiles[i.dst] = std::move(tile);
  return Status::Next;
}

Status do_tile_store(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto region = region_of(s, i, data.first);
  if (!region || !touch_region(toucher(s, i), *region, data.adds ? Touch::Atomic : Touch::Write)) return Status::Stop;
  if (data.adds) add_region(*s.run, *region, s.tiles[i.a].data());
  else write_region(*region, s.tiles[i.a].data());
  s.run->counters().stored[int(region->view.memory->space)] += uint64_t(bytes_inside(*region));
  return Status::Next;
}

Status do_tile_copy(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto from = region_of(s, i, data.first);
  if (!from) return Status::Stop;
  auto to = region_of(s, i, data.second);
  if (!to || !touch_region(toucher(s, i), *from, Touch::Read) || !touch_region(toucher(s, i), *to, data.adds ? Touch::Atomic : Touch::Write))
    return Status::Stop;
  move_region(*s.run, data, *from, *to);
  return Status::Next;
}

void move_region(Run& run, const TileData& data, const Region& from, const Region& to) {
  std::vector<Slot> values(static_cast<size_t>(from.count()));
  read_region(from, to_slot(data.types[0], data.first.pad), values.data());
  if (data.types[0] != data.types[1])
    for (Slot& v : values)
      v = to_slot(evaluate_convert(data.types[0], data.types[1], ConvertMode::Nearest, to_number(data.types[0], v)));
  if (data.adds) add_region(run, to, values.data());
  else write_region(to, values.data());
  run.counters().loaded[int(from.view.memory->space)] += uint64_t(bytes_inside(from));
  run.counters().stored[int(to.view.memory->space)] += uint64_t(bytes_inside(to));
}

Status do_splat(Strand& s, const Instr& i) {
  Tile tile(count_of(s.code->data[size_t(i.imm)].shape));
  std::fill_n(tile.writable(), tile.size(), *s.at(i.a));
  s.tiles[i.dst] = std::move(tile);
  return Status::Next;
}

// Walks the elements of `shape` in order while `place` moves by `strides`.
template <class F>
static void walk(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t place, F&& f) {
  int64_t count = count_of(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t k = 0; k < count; ++k) {
    f(k, place);
    for (size_t a = shape.size(); a-- > 0;) {
      place += strides[a];
      if (++index[a] < shape[a]) break;
      place -= strides[a] * shape[a];
      index[a] = 0;
    }
  }
}

static std::vector<int64_t> row_major(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Status do_permute(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Tile from = s.tiles[i.a], to(from.size());
  std::vector<int64_t> all = row_major(data.shapes[0]), strides;
  for (int64_t axis : data.axes) strides.push_back(all[size_t(axis)]);
  Slot* out = to.writable();
  walk(data.shape, strides, 0, [&](int64_t k, int64_t place) { out[k] = from.data()[place]; });
  s.tiles[i.dst] = std::move(to);
  return Status::Next;
}

namespace {

// A region of a tile: where it starts, and how it moves along the part's axes. None: it leaves the tile.
struct Part {
  int64_t start = 0;
  std::vector<int64_t> strides;
};
std::optional<Part> part_of(Strand& s, const Instr& i, const TileData& data, std::span<const int64_t> shape) {
  const std::vector<int64_t>& tile = data.shapes[0];
  std::vector<int64_t> all = row_major(tile);
  Part part;
  for (size_t d = 0; d < data.first.offsets.size(); ++d) {
    int64_t offset = s.regs[data.first.offsets[d]].i;
    auto axis = size_t(std::find(data.axes.begin(), data.axes.end(), int64_t(d)) - data.axes.begin());
    int64_t extent = axis < data.axes.size() ? shape[axis] : 1;
    if (offset < 0 || offset > tile[d] - extent) {
      fail(s, FaultKind::OutOfBounds, i,
           "a part of " + std::to_string(extent) + " from " + std::to_string(offset) + " along axis " +
               std::to_string(d) + " leaves its tile of extent " + std::to_string(tile[d]));
      return std::nullopt;
    }
    part.start += offset * all[d];
  }
  for (int64_t axis : data.axes) part.strides.push_back(all[size_t(axis)]);
  return part;
}

}  // namespace

Status do_insert(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto part = part_of(s, i, data, data.shapes[1]);
  if (!part) return Status::Stop;
  Tile tile = s.tiles[data.operands[0].slot], piece = s.tiles[data.operands[1].slot];
  if (data.steals[0]) s.tiles[data.operands[0].slot] = {};
  Slot* out = tile.writable();
  walk(data.shapes[1], part->strides, part->start, [&](int64_t k, int64_t place) { out[place] = piece.data()[k]; });
  s.tiles[i.dst] = std::move(tile);
  return Status::Next;
}

Status do_extract(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  auto part = part_of(s, i, data, data.shape);
  if (!part) return Status::Stop;
  Tile tile = s.tiles[data.operands[0].slot], piece(count_of(data.shape));
  Slot* out = piece.writable();
  walk(data.shape, part->strides, part->start, [&](int64_t k, int64_t place) { out[k] = tile.data()[place]; });
  s.tiles[i.dst] = std::move(piece);
  return Status::Next;
}

// The values stay; what is counted is how far they move.
Status do_convert_layout(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  Tile tile = s.tiles[i.a];
  if (data.steals[0]) s.tiles[i.a] = {};
  Counters& c = s.run->counters();
  uint64_t* const by_tier[] = {nullptr, &c.registers_converted, &c.lanes_converted, &c.warps_converted};
  if (data.counts[0] > 0) *by_tier[data.counts[0]] += uint64_t(tile.size());
  s.tiles[i.dst] = std::move(tile);
  return Status::Next;
}

}  // namespace tilec::interp
