// Allocations, views and single elements by one index a dimension.
#include "interp/atomics.h"
#include "interp/handlers.h"
#include "interp/touch.h"

#include <algorithm>

namespace tilec::interp {

using namespace ir;

namespace {

// In Thread IR a private array whose type does not vary is one a warp.
bool is_one_a_lane(const Strand& s, const Instr& i) {
  if (Space(i.fn) != Space::Private) return false;
  return s.code->kind == FunctionKind::Simt || (s.code->kind == FunctionKind::Thread && i.fast);
}

std::vector<int64_t> extents_of(const Strand& s, const TileData& data) {
  std::vector<int64_t> extents = data.shape;
  size_t next = 0;
  bool all_given = data.operands.size() == extents.size();
  for (int64_t& extent : extents)
    if ((all_given || extent == kDynamic) && next < data.operands.size()) extent = s.regs[data.operands[next++].slot].i;
  return extents;
}

Allocation* place_for(Strand& s, const Instr& i) {
  if (!s.block) return &s.run->memory.emplace_back();
  bool is_own = Space(i.fn) == Space::Private;
  std::unordered_map<uint32_t, Allocation*>& table = is_own ? s.own : s.block->by_op;
  Allocation*& memory = table[i.op];
  if (!memory) memory = is_own ? &s.private_memory.emplace_back() : &s.block->allocations.emplace_back();
  return memory;
}

// The bytes that the block's overlaid buffers share.
Overlay& overlay_of(Strand& s, bool judges) {
  Overlay& overlay = s.block->overlay;
  const Program& program = s.run->program;
  if (!overlay.bytes.empty()) return overlay;
  overlay.bytes.assign(size_t(program.overlaid_bytes), 0xcd);
  overlay.granule = program.overlaid_granule;
  size_t granules = size_t((program.overlaid_bytes + overlay.granule - 1) / overlay.granule);
  overlay.owners.assign(granules, nullptr);
  if (judges) overlay.cells.assign(granules, {});
  return overlay;
}

// What is allocated anew holds nothing; in Thread IR all warps name the same memory.
void prepare(Strand& s, const Instr& i, Allocation& memory, const TileData& data, int64_t count) {
  uint32_t op = i.op;
  bool is_first = memory.bytes == 0 && !memory.data;
  memory.space = Space(i.fn);
  memory.lanes = is_one_a_lane(s, i) ? int(s.width) : 1;
  memory.granule = s.run->program.granules[op] ? s.run->program.granules[op] : byte_width(data.type);
  int64_t bytes = count * memory.lanes * byte_width(data.type);
  bool is_shared_by_warps = s.code->kind == FunctionKind::Thread && memory.space != Space::Private;
  if (!is_first && memory.bytes == bytes && is_shared_by_warps) return;
  memory.name = data.names[0];
  memory.bytes = bytes;
  memory.state.assign(size_t(memory.granules()), Allocation::kExists);
  bool judges = s.run->program.tracks_touches && s.run->options.check_races && memory.space != Space::Private;
  if (int64_t at = s.run->program.overlaid_at[op]; at >= 0) {
    memory.overlay = &overlay_of(s, judges);
    memory.overlay_at = at;
    memory.data = memory.overlay->bytes.data() + at;
    return;
  }
  memory.owned.assign(size_t(bytes), 0xcd);
  memory.data = memory.owned.data();
  if (judges && int64_t(memory.cells.size()) != memory.granules()) memory.cells.assign(size_t(memory.granules()), {});
  if (!s.block && s.run->program.written[s.run->kernel.params.size() + op]) memory.blocks.resize(1);
}

}  // namespace

constexpr int64_t kMostElements = int64_t(1) << 28;

Status do_alloc(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  std::vector<int64_t> extents = extents_of(s, data);
  for (int64_t extent : extents)
    if (extent < 0)
      return fail(s, FaultKind::Contract, i, "an extent of `" + data.names[0] + "` is " + std::to_string(extent));
  // Nothing is held along any axis where one is 0.
  int64_t count = std::ranges::count(extents, 0) ? 0 : 1;
  for (int64_t extent : extents) {
    if (__builtin_mul_overflow(count, extent, &count) || count > kMostElements)
      return fail(s, FaultKind::Contract, i, "`" + data.names[0] + "` has more elements than the interpreter holds, " + std::to_string(kMostElements));
  }
  Allocation* memory = place_for(s, i);
  prepare(s, i, *memory, data, count);
  s.views[i.dst] = dense_view(memory, data.type, extents);
  return Status::Next;
}

// Views of a narrower or wider element count their places in that element.
Status do_subview(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  const RegionAccess& access = data.first;
  const View& from = s.views[access.view];
  View to{.memory = from.memory, .element = data.type, .rank = int(data.shape.size()), .base = from.base};
  std::vector<int64_t> room(from.extents, from.extents + from.rank), offsets;
  for (size_t d = 0; d < access.offsets.size(); ++d) {
    offsets.push_back(s.regs[access.offsets[d]].i);
    to.base += offsets[d] * from.strides[d];
  }
  for (int a = 0; a < to.rank; ++a) {
    int64_t d = a < int(access.axes.size()) ? access.axes[size_t(a)] : a;
    to.extents[a] = data.shape[size_t(a)];
    to.strides[a] = from.strides[d];
    room[size_t(d)] -= to.extents[a] - 1;
  }
  bool is_recast = byte_width(to.element) != byte_width(from.element);
  if (is_recast) {
    to.base = to.base * byte_width(from.element) / byte_width(to.element);
    View dense = dense_view(to.memory, to.element, data.shape);
    dense.base = to.base;
    to = dense;
  }
  for (size_t d = 0; d < offsets.size() && !is_recast; ++d)
    if (offsets[d] < 0 || offsets[d] >= room[d])
      return fail(s, FaultKind::OutOfBounds, i,
                  "a view from " + std::to_string(offsets[d]) + " along axis " + std::to_string(d) + " leaves " +
                      name_of(*from.memory) + ", whose extent is " + std::to_string(from.extents[d]));
  to.reach = reach_of(to);
  s.views[i.dst] = to;
  return Status::Next;
}

Status do_extent(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  std::fill_n(s.at(i.dst), s.width, Slot{.i = view.extents[i.b]});
  return Status::Next;
}
Status do_stride(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  std::fill_n(s.at(i.dst), s.width, Slot{.i = view.strides[i.b]});
  return Status::Next;
}
Status do_present(Strand& s, const Instr& i) {
  std::fill_n(s.at(i.dst), s.width, Slot{.i = s.views[i.a].memory != nullptr});
  return Status::Next;
}

namespace {

// The linear places of the acting lanes; lanes that a guard stops leave `inside`. False: a fault.
bool find_places(Strand& s, const Instr& i, const RegionAccess& access, const View& view, uint64_t& inside,
                 int64_t* places) {
  std::fill_n(places, i.lanes, view.base);
  for (size_t d = 0; d < access.offsets.size(); ++d) {
    const Slot* index = s.at(access.offsets[d]);
    uint64_t out = 0;
    for (int lane = 0; lane < i.lanes; ++lane) {
      out |= uint64_t(uint64_t(index[lane].i) >= uint64_t(view.extents[d])) << lane;
      places[lane] += int64_t(index[lane].u * uint64_t(view.strides[d]));
    }
    if (!(out &= inside)) continue;
    int lane = std::countr_zero(out);
    if (access.bounds[d] == Bounds::Guarded) {
      note_guard(s, i.op, 0, index[lane].i);
      inside &= ~out;
      continue;
    }
    fail(s, FaultKind::OutOfBounds, i,
         "index " + std::to_string(index[lane].i) + " along axis " + std::to_string(d) + " leaves " +
             (view.memory ? name_of(*view.memory) : "an absent tensor") + ", whose extent is " +
             std::to_string(view.extents[d]));
    return false;
  }
  if (!view.memory && inside) {
    fail(s, FaultKind::OutOfBounds, i, "an absent tensor is touched");
    return false;
  }
  return true;
}

// Private memory is interleaved: one element of every lane, then the next.
int64_t byte_of(const View& view, int64_t place, int lane) {
  return (view.memory->lanes == 1 ? place : place * view.memory->lanes + lane) * byte_width(view.element);
}

bool touch_lanes(Strand& s, const Instr& i, const View& view, uint64_t lanes, const int64_t* places, Touch how) {
  if (view.memory->is_plain()) return true;
  Toucher who = toucher(s, i);
  for (uint64_t left = lanes; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (!touch_bytes(who, *view.memory, byte_of(view, places[lane], lane), byte_width(view.element), lane, how))
      return false;
  }
  return true;
}

}  // namespace

Status do_element_load(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t places[64];
  uint64_t inside = s.acting(i);
  if (!find_places(s, i, s.code->data[size_t(i.imm)].first, view, inside, places)) return Status::Stop;
  Slot* d = s.at(i.dst);
  for (int lane = 0; lane < i.lanes; ++lane) d[lane].u = 0;
  if (inside) {
    if (!touch_lanes(s, i, view, inside, places, Touch::Read)) return Status::Stop;
    each_lane(inside, [&](int lane) {
      d[lane] = load_element(view.element, view.memory->data + byte_of(view, places[lane], lane));
    });
    s.run->counters().loaded[int(view.memory->space)] += uint64_t(std::popcount(inside) * byte_width(view.element));
  }
  spread(s, i, d);
  return Status::Next;
}

Status do_element_store(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t places[64];
  uint64_t inside = s.acting(i);
  if (!find_places(s, i, s.code->data[size_t(i.imm)].first, view, inside, places)) return Status::Stop;
  if (!inside) return Status::Next;
  const Slot* value = s.at(i.b);
  if (!touch_lanes(s, i, view, inside, places, Touch::Write)) return Status::Stop;
  each_lane(inside, [&](int lane) {
    store_element(view.element, view.memory->data + byte_of(view, places[lane], lane), value[lane]);
  });
  s.run->counters().stored[int(view.memory->space)] += uint64_t(std::popcount(inside) * byte_width(view.element));
  return Status::Next;
}

Status do_atomic(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int64_t places[64];
  uint64_t inside = s.acting(i);
  if (!find_places(s, i, s.code->data[size_t(i.imm)].first, view, inside, places)) return Status::Stop;
  Slot* d = s.at(i.dst);
  AtomicCall call{AtomicFn(i.fn), MemoryOrder(i.from), i.type};
  for (uint64_t left = inside; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    Slot expected = s.at(i.b)[lane], value = call.fn == AtomicFn::CompareExchange ? s.at(i.c)[lane] : expected;
    if (!update(s, i, call, *view.memory, byte_of(view, places[lane], lane), lane, expected, value, d[lane]))
      return Status::Stop;
  }
  spread(s, i, d);
  return Status::Next;
}

}  // namespace tilec::interp
