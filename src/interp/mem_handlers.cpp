// Memory of Thread IR: by linear element index, with masks and vectors.
#include "interp/async.h"
#include "interp/atomics.h"
#include "interp/banks.h"
#include "interp/handlers.h"

namespace tilec::interp {

using namespace ir;

namespace {

// What one access touches, lane by lane.
struct Lanes {
  uint64_t acting = 0;
  int64_t bytes[64];  // of each lane's first element
  int64_t step = 1;   // between the elements of one lane's vector
};

int count_of(const Instr& i) { return int(i.imm & 0xffff); }
int64_t lane_stride_of(const Instr& i) { return (i.imm >> 16) - 1; }

uint64_t masked(uint64_t lanes, const Slot* mask) {
  uint64_t kept = 0;
  each_lane(lanes, [&](int lane) { kept |= uint64_t(mask[lane].i != 0) << lane; });
  return kept;
}

// The speller trusts `lane_stride`, so it has to be true.
bool check_stride(Strand& s, const Instr& i, const Lanes& at, const Slot* index, int64_t stride) {
  if (stride == kUnknownStride || i.lanes == 1 || !at.acting) return true;
  const int first = std::countr_zero(at.acting);
  bool is_so = true;
  each_lane(at.acting, [&](int lane) { is_so &= index[lane].i - index[first].i == (lane - first) * stride; });
  for (uint64_t left = is_so ? 0 : at.acting; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (index[lane].i - index[first].i == (lane - first) * stride) continue;
    fail(s, FaultKind::LaneStride, i,
         "lanes " + std::to_string(first) + " and " + std::to_string(lane) + " touch places " +
             std::to_string(index[first].i) + " and " + std::to_string(index[lane].i) + ", which is not a stride of " +
             std::to_string(stride) + " a lane");
    return false;
  }
  return true;
}

// The bytes of places that all lie inside, each where a vector may begin; false: some may not.
bool find_quickly(const View& view, const Slot* index, int count, Lanes& at) {
  const int width = byte_width(view.element);
  const int64_t last = view.reach - count, lanes = view.memory->lanes, unit = count == 1 || lanes > 1 ? 1 : count * width;
  if (last < 0 || (unit & (unit - 1))) return false;
  uint64_t outside = 0;
  each_lane(at.acting, [&](int lane) {
    int64_t place = index[lane].i, byte = (lanes == 1 ? view.base + place : place * lanes + lane) * width;
    outside |= uint64_t(uint64_t(place) > uint64_t(last)) | uint64_t(byte & (unit - 1));
    at.bytes[lane] = byte;
  });
  return !outside;
}

bool find_lanes(Strand& s, const Instr& i, const View& view, const Slot* index, int count, Lanes& at) {
  if (!view.memory && at.acting) {
    fail(s, FaultKind::OutOfBounds, i, "an absent tensor is touched");
    return false;
  }
  if (!at.acting) return true;
  const Allocation& m = *view.memory;
  int width = byte_width(view.element);
  at.step = int64_t(m.lanes) * width;
  if (find_quickly(view, index, count, at)) return true;
  for (uint64_t left = at.acting; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    int64_t place = index[lane].i;
    if (place < 0 || place > view.reach - count) {
      fail(s, FaultKind::OutOfBounds, i,
           "place " + std::to_string(place) + (count > 1 ? " to " + std::to_string(place + count - 1) : "") +
               " of lane " + std::to_string(lane) + " leaves " + name_of(m) + " of " + std::to_string(view.reach) +
               " elements");
      return false;
    }
    at.bytes[lane] = (m.lanes == 1 ? view.base + place : place * m.lanes + lane) * width;
    if (count == 1 || m.lanes > 1 || at.bytes[lane] % (count * width) == 0) continue;
    fail(s, FaultKind::OutOfBounds, i,
         "place " + std::to_string(place) + " of lane " + std::to_string(lane) + " in " + name_of(m) + " is not where a vector of " +
             std::to_string(count) + " elements may begin");
    return false;
  }
  return true;
}

bool touch_all(Strand& s, const Instr& i, const View& view, const Lanes& at, int count, Touch how) {
  if (view.memory->is_plain()) return true;
  return touch_lanes(toucher(s, i), *view.memory, {at.acting, at.bytes, at.step, count}, byte_width(view.element), how);
}

void count_access(Strand& s, const View& view, const Lanes& at, int count, uint64_t* by_space) {
  int width = byte_width(view.element) * count;
  by_space[int(view.memory->space)] += uint64_t(std::popcount(at.acting)) * uint64_t(width);
  if (view.memory->space != Space::Shared || !s.run->options.count_conflicts || !s.run->program.banks) return;
  Transactions t = transactions(at.acting, at.bytes, width, s.run->program.banks);
  s.run->counters().shared_transactions += uint64_t(t.needed);
  s.run->counters().bank_conflicts += uint64_t(t.needed - t.phases);
}

// Lanes of one instruction write at once: what they leave at one place must not depend on who is last.
bool agree(Strand& s, const Instr& i, const View& view, const Lanes& at, int count, const Slot* values) {
  bool rises = true, falls = true;
  int64_t before = 0, extent = count * at.step;
  int last = -1;
  each_lane(at.acting, [&](int lane) {
    if (last >= 0) rises &= at.bytes[lane] >= before + extent, falls &= at.bytes[lane] + extent <= before;
    before = at.bytes[last = lane];
  });
  if (rises || falls || view.memory->lanes > 1) return true;
  std::unordered_map<int64_t, std::pair<uint64_t, int>> written;
  for (uint64_t left = at.acting; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    for (int k = 0; k < count; ++k) {
      uint64_t bits = to_bits(view.element, to_number(view.element, values[uint32_t(k) * s.width + uint32_t(lane)]));
      auto [it, is_new] = written.try_emplace(at.bytes[lane] + k * at.step, bits, lane);
      if (is_new || it->second.first == bits) continue;
      fail(s, FaultKind::Race, i,
           "lanes " + std::to_string(it->second.second) + " and " + std::to_string(lane) + " of " + s.name +
               " write different numbers to byte " + std::to_string(it->first) + " of " + name_of(*view.memory) +
               " at once");
      return false;
    }
  }
  return true;
}

bool rises(const Lanes& at, int lanes, int64_t step) {
  bool does = true;
  for (int lane = 1; lane < lanes; ++lane) does &= at.bytes[lane] == at.bytes[lane - 1] + step;
  return does;
}

void read_lanes(const View& view, const Lanes& at, int count, uint32_t width, Slot* d) {
  const uint8_t* data = view.memory->data;
  int lanes = std::bit_width(at.acting);
  bool are_first = at.acting == ~0ull >> (64 - lanes);
  if (count == 1 && are_first && rises(at, lanes, byte_width(view.element))) return load_elements(view.element, data + at.bytes[0], lanes, d);
  for (int k = 0; k < count; ++k) load_lanes(view.element, data + k * at.step, at.acting, at.bytes, d + uint32_t(k) * width);
}

}  // namespace

// Memory of the interpreter begins where any access may.
Status do_is_aligned(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  s.at(i.dst)->i = view.base * byte_width(view.element) % i.imm == 0;
  return Status::Next;
}

Status do_mem_load(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int count = count_of(i);
  Lanes at;
  at.acting = i.fn ? masked(s.acting(i), s.at(i.c)) : s.acting(i);
  if (!check_stride(s, i, at, s.at(i.b), lane_stride_of(i)) || !find_lanes(s, i, view, s.at(i.b), count, at))
    return Status::Stop;
  Slot* d = s.at(i.dst);
  if (i.fn) std::memset(d, 0, size_t(count) * s.width * sizeof(Slot));
  if (at.acting) {
    if (!touch_all(s, i, view, at, count, Touch::Read)) return Status::Stop;
    read_lanes(view, at, count, s.width, d);
    count_access(s, view, at, count, s.run->counters().loaded);
  }
  for (int k = 0; k < count; ++k) spread(s, i, d + uint32_t(k) * s.width);
  return Status::Next;
}

Status do_mem_store(Strand& s, const Instr& i) {
  const View& view = s.views[i.a];
  int count = count_of(i);
  Lanes at;
  at.acting = i.fn ? masked(s.acting(i), s.at(i.c)) : s.acting(i);
  if (!check_stride(s, i, at, s.at(i.b), lane_stride_of(i)) || !find_lanes(s, i, view, s.at(i.b), count, at))
    return Status::Stop;
  if (!at.acting) return Status::Next;
  const Slot* values = s.at(i.dst);
  if (!agree(s, i, view, at, count, values) || !touch_all(s, i, view, at, count, Touch::Write)) return Status::Stop;
  for (int k = 0; k < count; ++k) store_lanes(view.element, view.memory->data + k * at.step, at.acting, at.bytes, values + uint32_t(k) * s.width);
  count_access(s, view, at, count, s.run->counters().stored);
  return Status::Next;
}

// Each instruction is a copy in flight of its own; a phase that follows it waits for it.
Status do_copy_lanes(Strand& s, const Instr& i) {
  const View &from = s.views[i.a], &to = s.views[i.dst];
  int count = count_of(i);
  Lanes source, target;
  source.acting = target.acting = i.fn ? masked(s.acting(i), s.at(i.c)) : s.acting(i);
  if (!find_lanes(s, i, from, s.at(i.b), count, source) || !find_lanes(s, i, to, s.at(uint32_t(i.imm >> 16)), count, target)) return Status::Stop;
  if (!source.acting) return Status::Next;
  uint32_t id = take_off(s, i, "copy by lanes to " + name_of(*to.memory));
  Flying& f = s.block->cluster->flying[id];
  f.lanes = std::make_unique<LaneMoves>(LaneMoves{from, to, {}, int64_t(count) * byte_width(to.element)});
  Clock clock = clock_of(*s.block->cluster, f);
  bool is_fine = true;
  each_lane(source.acting, [&](int lane) {
    f.lanes->moves.push_back({source.bytes[lane], target.bytes[lane]});
    Toucher who{*s.run, s.block, clock, f.op};
    auto touch = [&](Allocation& memory, int64_t at, Touch how) {
      return memory.is_plain() || touch_bytes(who, memory, at, int(f.lanes->bytes), lane, how);
    };
    is_fine = is_fine && touch(*from.memory, source.bytes[lane], Touch::Read) && touch(*to.memory, target.bytes[lane], Touch::Write);
  });
  if (!is_fine) return Status::Stop;
  s.begun.push_back(id);
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  return Status::Next;
}

namespace {

// Of matrices of eight rows of 16 bytes: where a row begins that a lane names, and which element of it a lane holds.
constexpr int kMatrixRowBytes = 16, kMatrixRows = 8, kMatrixLaneBytes = 4;

std::optional<int64_t> row_named(Strand& s, const Instr& i, const View& view, int lane, Touch how) {
  int64_t place = s.at(i.b)[lane].i, width = byte_width(view.element), byte = (view.base + place) * width;
  if (place < 0 || place > view.reach - kMatrixRowBytes / width || byte % kMatrixRowBytes) {
    fail(s, FaultKind::OutOfBounds, i, "the row of lane " + std::to_string(lane) + " begins at place " + std::to_string(place) + " of " + name_of(*view.memory));
    return std::nullopt;
  }
  if (!view.memory->is_plain() && !touch_bytes(toucher(s, i), *view.memory, byte, kMatrixRowBytes, lane, how)) return std::nullopt;
  return byte;
}

struct MatrixPlace {
  int row, column;
};
MatrixPlace matrix_place(int lane, int element, int each, bool is_transposed) {
  return is_transposed ? MatrixPlace{2 * (lane % 4) + element, lane / 4} : MatrixPlace{lane / 4, lane % 4 * each + element};
}

// Calls f(register of the lane, byte in memory) for each element of the matrices; lane 8 j + r names row r of matrix j for all.
Status each_of_matrices(Strand& s, const Instr& i, Touch how, const std::function<void(Slot&, uint8_t*)>& f) {
  const View& view = s.views[i.a];
  if (s.mask != s.full) return fail(s, FaultKind::Uniformity, i, "not all lanes of " + s.name + " move matrices");
  int width = byte_width(view.element), each = kMatrixLaneBytes / width;
  for (int j = 0; j < int(i.imm); ++j) {
    int64_t rows[kMatrixRows];
    for (int r = 0; r < kMatrixRows; ++r) {
      auto row = row_named(s, i, view, kMatrixRows * j + r, how);
      if (!row) return Status::Stop;
      rows[r] = *row;
    }
    for (int lane = 0; lane < int(s.width); ++lane)
      for (int e = 0; e < each; ++e) {
        MatrixPlace at = matrix_place(lane, e, each, i.fast);
        f(s.at(i.dst)[uint32_t(j * each + e) * s.width + uint32_t(lane)], view.memory->data + rows[at.row] + at.column * width);
      }
  }
  auto& counts = how == Touch::Read ? s.run->counters().loaded : s.run->counters().stored;
  counts[int(Space::Shared)] += uint64_t(i.imm) * kMatrixRows * kMatrixRowBytes;
  return Status::Next;
}

}  // namespace

Status do_store_matrices(Strand& s, const Instr& i) {
  Scalar element = s.views[i.a].element;
  return each_of_matrices(s, i, Touch::Write, [&](Slot& held, uint8_t* byte) { store_element(element, byte, held); });
}

Status do_turn_matrix(Strand& s, const Instr& i) {
  if (s.mask != s.full) return fail(s, FaultKind::Uniformity, i, "not all lanes of " + s.name + " turn a matrix");
  std::vector<Slot> held(s.at(i.a), s.at(i.a) + 2 * s.width);
  for (int lane = 0; lane < int(s.width); ++lane)
    for (int e = 0; e < 2; ++e) {
      MatrixPlace from = matrix_place(lane, e, 2, true);
      s.at(i.dst)[uint32_t(e) * s.width + uint32_t(lane)] = held[uint32_t(from.column % 2) * s.width + uint32_t(4 * from.row + from.column / 2)];
    }
  return Status::Next;
}

Status do_load_matrices(Strand& s, const Instr& i) {
  Scalar element = s.views[i.a].element;
  return each_of_matrices(s, i, Touch::Read, [&](Slot& held, uint8_t* byte) { held = load_element(element, byte); });
}

Status do_mem_atomic(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  const View& view = s.views[i.a];
  Lanes at;
  at.acting = data.counts[0] ? masked(s.acting(i), s.at(i.c)) : s.acting(i);
  int count = data.operands[0].count;
  if (!find_lanes(s, i, view, s.at(i.b), count, at)) return Status::Stop;
  AtomicCall call{AtomicFn(data.counts[1]), MemoryOrder(data.counts[2]), i.type};
  Slot* d = s.at(i.dst);
  const Slot* first = s.at(data.operands[0].slot);
  const Slot* second = data.operands.size() > 1 ? s.at(data.operands[1].slot) : first;
  for (uint64_t left = at.acting; left; left &= left - 1) {
    int lane = std::countr_zero(left);
    for (int k = 0; k < count; ++k) {
      uint32_t element = uint32_t(k) * s.width + uint32_t(lane);
      if (!update(s, i, call, *view.memory, at.bytes[lane] + k * at.step, lane, first[element], second[element], d[lane])) return Status::Stop;
    }
  }
  spread(s, i, d);
  return Status::Next;
}

}  // namespace tilec::interp
