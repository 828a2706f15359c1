// Products of groups of warps. Each warp's part is an operation in flight of its own: it holds some rows of the accumulator,
// reads the same rows of A and all of B, and nothing orders it with the parts of other warps. What threads wrote is there for
// it only behind a fence of theirs that its issuer knows of.
#include <algorithm>

#include "interp/async.h"
#include "interp/handlers.h"
#include "interp/tile_math.h"
#include "interp/touch.h"

namespace tilec::interp {

namespace {

// An operand in shared memory: the array, and the element that the product's block begins with.
struct OperandBlock {
  const GroupArray& array;
  const View& view;
  int64_t row = 0, column = 0, base = 0;  // along the last two axes, and of the leading ones

  // The place of (i, j) of the block, or none outside.
  std::optional<int64_t> place(int64_t i, int64_t j) const {
    if (array.is_transposed) std::swap(i, j);
    size_t rank = array.shape.size();
    int64_t r = row + i, c = column + j;
    if (r >= array.shape[rank - 2] || c >= array.shape[rank - 1]) return std::nullopt;
    return array.array->places[size_t(base + r * array.shape[rank - 1] + c)];
  }
};

std::optional<OperandBlock> find_block(Strand& s, const Instr& i, const GroupArray& array, uint32_t view, uint32_t place) {
  const std::vector<int64_t>& elements = array.array->elements;
  int64_t at = s.regs[place].i, element = at >= 0 && at < int64_t(elements.size()) ? elements[size_t(at)] : -1;
  if (element < 0) {
    fail(s, FaultKind::OutOfBounds, i, "no element of the operand's array is at place " + std::to_string(at));
    return std::nullopt;
  }
  size_t rank = array.shape.size();
  int64_t columns = array.shape[rank - 1], matrix = columns * array.shape[rank - 2], inside = element % matrix;
  return OperandBlock{array, s.views[view], inside / columns, inside % columns, element - inside};
}

bool judge_element(Strand& s, const Instr& i, const Flying& f, const Clock& clock, const View& view, std::optional<int64_t> place) {
  if (!place) {
    fail(s, FaultKind::OutOfBounds, i, "a block of the product leaves its operand's array");
    return false;
  }
  int width = byte_width(view.element);
  int64_t byte = (view.base + *place) * width;
  Allocation& memory = *view.memory;
  if (*place >= view.reach) {
    fail(s, FaultKind::OutOfBounds, i, "place " + std::to_string(*place) + " leaves " + name_of(memory));
    return false;
  }
  if (!touch_bytes({*s.run, s.block, clock, f.op}, memory, byte, width, 0, Touch::Read)) return false;
  if (!memory.has_cells() || !s.run->options.check_races || is_fenced(*s.block->cluster, f, memory.cell(byte).write)) return true;
  fail(s, FaultKind::Race, i, "the engine reads byte " + std::to_string(byte) + " of " + name_of(memory) + ", which threads wrote and did not fence");
  return false;
}

std::vector<int64_t> bytes_of(Strand& s, const Instr& i, const Flying& f, const Clock& clock, const OperandBlock& block, std::span<const int32_t> rows, int64_t columns) {
  std::vector<int64_t> bytes;
  for (int64_t row : rows)
    for (int64_t column = 0; column < columns; ++column) {
      auto place = block.place(row, column);
      if (!judge_element(s, i, f, clock, block.view, place)) return {};
      bytes.push_back((block.view.base + *place) * byte_width(block.view.element));
    }
  return bytes;
}

std::vector<Slot> numbers_of(const View& view, const std::vector<int64_t>& bytes) {
  std::vector<Slot> numbers;
  numbers.reserve(bytes.size());
  for (int64_t byte : bytes) numbers.push_back(load_element(view.element, view.memory->data + byte));
  return numbers;
}

// All warps of a group issue the same products in the same order.
bool agrees_with_group(Strand& s, const Instr& i, const GroupData& data) {
  int warps = s.run->program.groups[data.atom].row->warps;
  std::vector<int64_t> mine{int64_t(i.op), s.regs[data.b_place].i, data.a_in_registers ? -1 : s.regs[data.a_place].i};
  GroupLog& log = s.block->group_logs[s.warp / warps];
  log.warps = warps, log.op = i.op;
  size_t number = s.block->products_of_warp[s.warp]++;
  if (number == log.issued.size()) log.issued.push_back(mine);
  if (log.issued[number] == mine) return true;
  fail(s, FaultKind::Atom, i, s.name + " issues another product than a warp of its group did as its number " + std::to_string(number));
  return false;
}

// The numbers of a vector of registers as rows of this warp's part.
std::vector<Slot> gathered(const Strand& s, const GroupMember& member, const std::vector<int32_t>& places, uint32_t from, int columns) {
  std::vector<Slot> out(member.rows.size() * size_t(columns));
  for (size_t k = 0; k < places.size(); ++k) out[size_t(places[k])] = s.regs[from + k];
  return out;
}

}  // namespace

bool is_fenced(const Cluster& cluster, const Flying& f, Stamp written) {
  uint32_t agent = agent_of(written);
  if (written == 0 || time_of(written) <= cluster.run->base_time) return true;
  if (f.fenced && agent < f.fenced->size() && time_of(written) <= (*f.fenced)[agent]) return true;
  if (agent >= cluster.fences.size()) return false;
  const std::vector<uint64_t>& fences = cluster.fences[agent];
  auto fence = std::lower_bound(fences.begin(), fences.end(), time_of(written));
  return fence != fences.end() && agent < f.known.size() && *fence <= f.known[agent];
}

Status do_engine_fence(Strand& s, const Instr&) {
  fence(*s.block->cluster, s.clock.agent, s.clock.now);
  s.fenced = std::make_shared<std::vector<uint64_t>>(s.clock.knowledge());
  advance(*s.block->cluster, s.clock);
  return Status::Next;
}

// Vectors become the engine's: products that have ended before they began.
Status do_group_fence(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  for (size_t k = 0; k < data.operands.size(); ++k) {
    uint32_t id = uint32_t(s.block->cluster->flying.size());
    Flying& f = s.block->cluster->flying.emplace_back();
    f.op = i.op;
    f.stage = Flying::Stage::Joined;
    f.is_product = true;
    f.part = std::make_unique<GroupPart>();
    const Slot* from = s.at(data.operands[k].slot);
    f.part->numbers = size_t(data.operands[k].count) * s.width;
    f.part->result.assign(from, from + f.part->numbers);
    s.handles[data.results[k].slot] = id;
  }
  return Status::Next;
}

namespace {

bool fits(const Strand& s, const GroupData& data, const GroupTable& table) {
  const Flying& before = s.block->cluster->flying[s.handles[data.acc]];
  const MatrixAtom& row = *table.row;
  bool fits_left = data.a_in_registers ? data.a_vector.count * s.width == table.members[0].a.size() : s.views[data.a_view].element == row.a;
  return before.part && before.part->numbers == size_t(table.c_registers) * s.width && fits_left && s.views[data.b_view].element == row.b;
}

// What it will read, judged now; what it holds in registers, kept.
bool take_operands(Strand& s, const Instr& i, const GroupData& data, Flying& f) {
  const GroupTable& table = s.run->program.groups[data.atom];
  const MatrixAtom& row = *table.row;
  const GroupMember& member = table.members[size_t(s.warp % row.warps)];
  GroupPart& part = *f.part;
  part.data = &data;
  part.member = &member;
  part.numbers = member.c.size();
  Clock clock = clock_of(*s.block->cluster, f);
  if (data.a_in_registers) {
    part.a = gathered(s, member, member.a, data.a_vector.slot, row.k);
  } else {
    auto block = find_block(s, i, data.a, data.a_view, data.a_place);
    if (!block) return false;
    part.a_view = s.views[data.a_view];
    part.a_bytes = bytes_of(s, i, f, clock, *block, member.rows, row.k);
  }
  auto block = s.run->result.fault ? std::nullopt : find_block(s, i, data.b, data.b_view, data.b_place);
  if (!block) return false;
  part.b_view = s.views[data.b_view];
  part.b_bytes = bytes_of(s, i, f, clock, *block, table.depth, row.n);
  return !s.run->result.fault;
}

}  // namespace

Status do_group_product(Strand& s, const Instr& i) {
  const GroupData& data = s.code->products[size_t(i.imm)];
  if (data.atom == ~0u) return fail(s, FaultKind::Atom, i, "the machine has no atom `" + data.name + "` of a group of warps");
  const GroupTable& table = s.run->program.groups[data.atom];
  if (!fits(s, data, table)) return fail(s, FaultKind::Atom, i, "the operands do not fit `" + data.name + "`");
  if (s.mask != s.full) return fail(s, FaultKind::Atom, i, "`" + data.name + "` is executed by some lanes only");
  if (!agrees_with_group(s, i, data)) return Status::Stop;
  uint32_t before = s.handles[data.acc];
  if (s.block->cluster->flying[before].is_taken) return fail(s, FaultKind::Flight, i, "the registers that this product goes on from were taken already");
  s.block->cluster->flying[before].is_taken = true;
  uint32_t id = take_off(s, i, "product of " + s.name);
  Flying& f = s.block->cluster->flying[id];
  fence(*s.block->cluster, f.agent, f.time);  // an engine's own reads
  f.is_product = true;
  f.acc_of = before;
  f.part = std::make_unique<GroupPart>();
  if (!take_operands(s, i, data, f)) return Status::Stop;
  f.part->is_wide = i.fast;
  s.open_products.push_back(id);
  s.handles[data.result] = id;
  if (s.run->options.completion == Completion::Early) land(*s.block->cluster, id);
  ++s.run->counters().atoms;
  return Status::Next;
}

void land_part(Cluster& cluster, Flying& f) {
  land(cluster, f.acc_of);
  GroupPart& part = *f.part;
  const GroupTable& table = cluster.run->program.groups[part.data->atom];
  const MatrixAtom& row = *table.row;
  std::vector<Slot> registers = std::move(cluster.flying[f.acc_of].part->result);
  if (part.a.empty()) part.a = numbers_of(part.a_view, part.a_bytes);
  std::vector<Slot> b = numbers_of(part.b_view, part.b_bytes), c(part.member->rows.size() * size_t(row.n));
  const std::vector<int32_t>& places = part.member->c;
  for (size_t k = 0; k < places.size(); ++k) c[size_t(places[k])] = registers[k];
  multiply(part.a.data(), b.data(), c.data(), {int64_t(part.member->rows.size()), row.n, row.k}, row.c, part.is_wide);
  for (size_t k = 0; k < places.size(); ++k) registers[k] = c[size_t(places[k])];
  part.a = {};
  part.a_bytes = part.b_bytes = {};
  part.result = std::move(registers);
}

Status do_group_commit(Strand& s, const Instr&) {
  s.batches.push_back(std::move(s.open_products));
  s.open_products.clear();
  return Status::Next;
}

// Batches end in the order of their issue.
Status do_group_wait(Strand& s, const Instr& i) {
  const TileData& data = s.code->data[size_t(i.imm)];
  size_t open = size_t(data.counts[0]);
  for (; s.batches.size() > open; s.batches.erase(s.batches.begin()))
    for (uint32_t id : s.batches.front()) join(s, id);
  for (size_t k = 0; k < data.operands.size(); ++k) {
    Flying& f = s.block->cluster->flying[s.handles[data.operands[k].slot]];
    if (f.is_taken) return fail(s, FaultKind::Flight, i, "these registers were taken already");
    if (f.stage != Flying::Stage::Joined) return fail(s, FaultKind::Flight, i, "this wait leaves the product in flight whose registers it takes");
    f.is_taken = true;
    std::ranges::copy(f.part->result, s.at(data.results[k].slot));
    f.part.reset();
  }
  return Status::Next;
}

// Where the block ends: has every warp of a group issued all that the others did?
bool check_groups(Run& run, Block& block) {
  for (const auto& [group, log] : block.group_logs)
    for (int warp = group * log.warps; warp < (group + 1) * log.warps; ++warp) {
      if (block.products_of_warp[warp] == log.issued.size()) continue;
      fail(run, FaultKind::Atom, log.op, "warp " + std::to_string(warp) + " issues fewer products than other warps of its group");
      return false;
    }
  return true;
}

}  // namespace tilec::interp
