// Operations of Thread IR.
#include "interp/emitter.h"
#include "interp/layouts.h"
#include "layout/notation.h"

namespace tilec::interp {

using namespace ir;

namespace {

constexpr int kHasMask = 1;  // Instr::fn of memory accesses and phase arrivals

}  // namespace

// A view of the same buffer in another block.
uint32_t Emitter::peer(ValueId buffer, ValueId block) {
  uint32_t from = view(buffer), number = reg(block), to = code().views++;
  Instr& i = emit(do_peer_view);
  i.a = from, i.b = number, i.dst = to;
  return to;
}

void Emitter::on(const op::MemLoad& o, const Op& op) {
  // An array of which every lane has its own is one only for a lane.
  bool is_one = !type(o.buffer).varying && is_uniform(o.index) && (!o.mask.valid() || is_uniform(o.mask));
  uint32_t buffer = o.peer.valid() ? peer(o.buffer, o.peer) : view(o.buffer), index = reg(o.index), mask = o.mask.valid() ? reg(o.mask) : 0;
  Location to = define(op.result());
  Instr& i = emit(do_mem_load);
  i.dst = to.slot, i.a = buffer, i.b = index, i.c = mask;
  i.fn = o.mask.valid() ? kHasMask : 0;
  i.imm = int64_t(to.count) | (o.lane_stride + 1) << 16;
  i.type = type(o.buffer).element;
  shape_lanes(i, op.result(), is_one);
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::ReadBlock& o, const Op& op) {
  uint32_t numbers = view(o.numbers), slot = reg(o.slot);
  Location to = define(op.result());
  Instr& i = emit(do_mem_load);
  i.dst = to.slot, i.a = numbers, i.b = slot;
  i.imm = int64_t(to.count) | 1 << 16;  // the same element in all lanes
  i.type = type(o.numbers).element;
  shape_lanes(i, op.result(), true);
}

void Emitter::on(const op::MemStore& o, const Op&) {
  bool is_one = !type(o.buffer).varying && is_uniform(o.index) && is_uniform(o.value) && (!o.mask.valid() || is_uniform(o.mask));
  uint32_t buffer = view(o.buffer), index = reg(o.index), mask = o.mask.valid() ? reg(o.mask) : 0;
  Location value = find(o.value);
  Instr& i = emit(do_mem_store);
  i.dst = value.slot, i.a = buffer, i.b = index, i.c = mask;
  i.fn = o.mask.valid() ? kHasMask : 0;
  i.imm = int64_t(value.count) | (o.lane_stride + 1) << 16;
  i.type = type(o.buffer).element;
  if (is_one) i.lanes = 1;
}

// With uniform operands alone it is done once a warp.
void Emitter::on(const op::MemAtomic& o, const Op& op) {
  bool is_one = is_uniform(o.index) && (!o.mask.valid() || is_uniform(o.mask));
  for (ValueId v : o.operands) is_one &= is_uniform(v);
  TileData data;
  for (ValueId v : o.operands) data.operands.push_back(find(v));
  uint32_t buffer = view(o.buffer), index = reg(o.index), mask = o.mask.valid() ? reg(o.mask) : 0;
  uint32_t to = op.results.empty() ? scratch() : define(op.result()).slot;
  data.counts = {o.mask.valid(), int64_t(o.fn), int64_t(o.order)};
  uint32_t extra = add_data(std::move(data));
  Instr& i = emit(do_mem_atomic);
  i.dst = to, i.a = buffer, i.b = index, i.c = mask, i.imm = extra;
  i.type = type(o.buffer).element;
  if (is_one) i.lanes = 1, i.spreads = frame_->width > 1;
}

void Emitter::on(const op::VectorMake& o, const Op& op) {
  std::vector<Location> from;
  for (ValueId v : o.elements) from.push_back(find(v));
  Location to = define(op.result());
  for (uint32_t k = 0; k < from.size(); ++k)
    move({Place::Register, to.slot + k * frame_->width, 1}, from[k], true, false);
}

void Emitter::on(const op::VectorElement& o, const Op& op) {
  Location from = find(o.vector), to = define(op.result());
  move(to, {Place::Register, from.slot + uint32_t(o.index) * frame_->width, 1}, true, false);
}

void Emitter::on(const op::Fault& o, const Op&) {
  Instr& i = emit(do_fault);
  i.a = reg(o.condition), i.b = reg(o.index), i.imm = o.line;
}

// Rows of one warp are instructions; an outer product is written as multiply-adds, a group's runs asynchronously.
uint32_t Emitter::atom_index(std::string_view name) {
  for (size_t k = 0; k < program_.atoms.size(); ++k)
    if (program_.atoms[k].row->name == name) return uint32_t(k);
  if (!options_.machine) return ~0u;
  for (const MatrixAtom& row : options_.machine->matrix_atoms)
    if (row.name == name && row.kind == AtomKind::Warp) {
      program_.atoms.push_back(atom_table(row, program_.lanes));
      return uint32_t(program_.atoms.size() - 1);
    }
  return ~0u;
}

void Emitter::on(const op::Atom& o, const Op& op) {
  TileData data;
  for (ValueId v : o.operands) data.operands.push_back(find(v));
  for (ValueId v : o.operands) data.types.push_back(type(v).element);
  data.atom = atom_index(o.name);
  data.names = {o.name};
  data.results = define_all(op.results);
  if (!op.results.empty()) data.type = type(op.result()).element;
  uint32_t index = add_data(std::move(data));
  Instr& i = emit(do_atom);
  i.imm = index;
  i.fast = options_.numeric == Numeric::Wide;
}

void Emitter::on(const op::PhaseInit& o, const Op&) {
  Instr& i = emit(do_phase_init);
  i.a = view(o.barriers), i.b = reg(o.index), i.imm = o.arrivals;
}

void Emitter::on(const op::PhaseArrive& o, const Op&) {
  uint32_t mask = o.mask.valid() ? reg(o.mask) : 0, barriers = view(o.barriers), index = reg(o.index);
  uint32_t block = o.block.valid() ? reg(o.block) : 0;
  Instr& i = emit(o.block.valid() ? do_phase_arrive_at : do_phase_arrive);
  i.a = barriers, i.b = index, i.c = mask, i.dst = kNoSlot, i.imm = block;
  if (o.block.valid() && type(o.block).varying) i.lanes = uint16_t(frame_->width);
  i.fn = o.mask.valid() ? kHasMask : 0;
}

void Emitter::on(const op::PhaseExpect& o, const Op&) {
  uint32_t mask = o.mask.valid() ? reg(o.mask) : 0;
  Instr& i = emit(do_phase_arrive);
  i.a = view(o.barriers), i.b = reg(o.index), i.c = mask, i.dst = reg(o.bytes);
  i.fn = o.mask.valid() ? kHasMask : 0;
}

void Emitter::on(const op::PhaseWait& o, const Op&) {
  Instr& i = emit(do_phase_wait);
  i.a = view(o.barriers), i.b = reg(o.index), i.c = reg(o.parity);
}

// The place of every element of an array that `layout` spreads; none where it does not cover the array. Many operations name one
// array, and to find its places takes longer than most of them run.
std::shared_ptr<const ArrayPlaces> Emitter::places_of(const Ints& array, const Text& text) {
  std::shared_ptr<const ArrayPlaces>& known = arrays_[{array, text}];
  if (known) return known;
  auto found = std::make_shared<ArrayPlaces>();
  std::vector<int> extents(array.begin(), array.end());
  if (auto layout = layout::parse_mem_layout(text, layout::Shape(extents))) {
    found->places = layout->addresses();
    int64_t size = 0;
    for (int64_t place : found->places) size = std::max(size, place + 1);
    found->elements.assign(size_t(size), -1);
    for (size_t n = 0; n < found->places.size(); ++n) found->elements[size_t(found->places[n])] = int64_t(n);
  }
  return known = found;
}

void Emitter::note_array(const ArrayPlaces& array) {
  if (!array.places.empty() || !program_.flaw.empty()) return;
  program_.flaw = "the layout of an engine's array does not cover it";
  program_.flaw_op = op_;
}

// A box of `shape` whose axes run along those of the array: what a step along each is there.
void Emitter::describe_array(TileData& data, const Ints& array, const Axes& axes, const Ints& shape, const Text& layout) {
  data.shape = shape;
  data.shapes = {array};
  data.counts.assign(array.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    data.counts[size_t(axes[i])] = shape[i];
    int64_t stride = 1;
    for (size_t d = size_t(axes[i]) + 1; d < array.size(); ++d) stride *= array[d];
    data.axes.push_back(stride);
  }
  data.array = places_of(array, layout);
  note_array(*data.array);
}

void Emitter::on(const op::CopyBox& o, const Op&) {
  TileData data;
  data.first = access(o.src, o.src_offsets, o.src_axes, o.src_bounds, o.shape);
  for (ValueId v : o.dst_offsets) data.operands.push_back(find(v));
  describe_array(data, o.dst_shape, o.dst_axes, o.shape, o.layout);
  uint32_t index = add_data(std::move(data));
  Instr& i = emit(do_copy_box);
  i.a = view(o.barriers), i.b = reg(o.slot), i.c = view(o.dst), i.imm = index;
  if (o.peers.valid()) i.fn = 1, i.dst = reg(o.peers);
}

void Emitter::on(const op::StoreBox& o, const Op&) {
  TileData data;
  data.first = access(o.dst, o.dst_offsets, o.dst_axes, o.dst_bounds, o.shape);
  for (ValueId v : o.src_offsets) data.operands.push_back(find(v));
  describe_array(data, o.src_shape, o.src_axes, o.shape, o.layout);
  data.adds = o.adds;
  uint32_t index = add_data(std::move(data)), from = view(o.src);
  Instr& i = emit(do_store_box);
  i.c = from, i.imm = index;
}

void Emitter::on(const op::CopyLanes& o, const Op&) {
  uint32_t from = view(o.src), source = reg(o.src_index), to = view(o.dst), target = reg(o.dst_index);
  uint32_t mask = o.mask.valid() ? reg(o.mask) : 0;
  Instr& i = emit(do_copy_lanes);
  i.a = from, i.b = source, i.dst = to, i.c = mask;
  i.fn = o.mask.valid() ? kHasMask : 0;
  i.imm = o.count | int64_t(target) << 16;
  i.lanes = uint16_t(frame_->width);
}
void Emitter::on(const op::LoadMatrices& o, const Op& op) {
  uint32_t buffer = view(o.buffer), index = reg(o.index);
  Location to = define(op.result());
  Instr& i = emit(do_load_matrices);
  i.dst = to.slot, i.a = buffer, i.b = index, i.imm = o.count, i.fast = o.transposed;
  i.lanes = uint16_t(frame_->width);
}
void Emitter::on(const op::StoreMatrices& o, const Op&) {
  uint32_t buffer = view(o.buffer), index = reg(o.index);
  Location from = find(o.value);
  Instr& i = emit(do_store_matrices);
  i.dst = from.slot, i.a = buffer, i.b = index, i.imm = o.count, i.fast = o.transposed;
  i.lanes = uint16_t(frame_->width);
}
void Emitter::on(const op::TurnMatrix& o, const Op& op) {
  Location from = find(o.x), to = define(op.result());
  Instr& i = emit(do_turn_matrix);
  i.a = from.slot, i.dst = to.slot;
  i.lanes = uint16_t(frame_->width);
}
void Emitter::on(const op::PhaseFollow& o, const Op&) {
  Instr& i = emit(do_phase_follow);
  i.a = view(o.barriers), i.b = reg(o.index);
}
void Emitter::on(const op::IsAligned& o, const Op& op) {
  Instr& i = emit(do_is_aligned);
  i.a = view(o.buffer), i.dst = define(op.result()).slot, i.imm = o.bytes;
}
void Emitter::on(const op::HasBoxes&, const Op& op) {
  code().constants.push_back({define(op.result()).slot, Slot{.i = 1}});
}
void Emitter::on(const op::Prefetch&, const Op&) {}  // time is not judged here
void Emitter::on(const op::RegisterBudget&, const Op&) {}
void Emitter::on(const op::EngineFence&, const Op&) { emit(do_engine_fence); }
void Emitter::on(const op::AwaitStores& o, const Op&) { emit(do_await_stores).imm = o.in_flight; }
void Emitter::on(const op::GroupCommit&, const Op&) { emit(do_group_commit); }

void Emitter::on(const op::GroupFence& o, const Op& op) {
  TileData data;
  use_operands(data, o.registers);
  data.results = define_all(op.results);
  uint32_t index = add_data(std::move(data));
  emit(do_group_fence).imm = index;
}

void Emitter::on(const op::GroupWait& o, const Op& op) {
  TileData data;
  use_operands(data, o.flights);
  data.results = define_all(op.results);
  data.counts = {o.in_flight};
  uint32_t index = add_data(std::move(data));
  emit(do_group_wait).imm = index;
}

GroupArray Emitter::array_of(const Ints& shape, const Text& layout, bool is_transposed) {
  GroupArray operand{shape, places_of(shape, layout), is_transposed};
  note_array(*operand.array);
  return operand;
}

uint32_t Emitter::group_index(std::string_view name) {
  for (size_t k = 0; k < program_.groups.size(); ++k)
    if (program_.groups[k].row->name == name) return uint32_t(k);
  if (!options_.machine) return ~0u;
  for (const MatrixAtom& row : options_.machine->matrix_atoms)
    if (row.name == name && row.kind == AtomKind::Group) {
      program_.groups.push_back(group_table(row, program_.lanes));
      return uint32_t(program_.groups.size() - 1);
    }
  return ~0u;
}

void Emitter::on(const op::GroupProduct& o, const Op& op) {
  GroupData data{.name = o.atom, .atom = group_index(o.atom), .acc = find(o.acc).slot};
  data.a_in_registers = type(o.a).kind == TypeKind::Vector;
  if (data.a_in_registers) {
    data.a_vector = find(o.a);
  } else {
    data.a_view = view(o.a), data.a_place = reg(o.a_place), data.a = array_of(o.a_shape, o.a_layout, o.transpose_a);
  }
  data.b_view = view(o.b), data.b_place = reg(o.b_place), data.b = array_of(o.b_shape, o.b_layout, o.transpose_b);
  data.result = define(op.result()).slot;
  code().products.push_back(std::move(data));
  Instr& i = emit(do_group_product);
  i.imm = int64_t(code().products.size()) - 1;
  i.fast = options_.numeric == Numeric::Wide;
}

void Emitter::on(const op::NamedBarrier& o, const Op&) {
  Instr& i = emit(do_named_barrier);
  i.imm = o.id, i.a = uint32_t(o.warps);
}

void Emitter::on(const op::BarrierVote& o, const Op& op) {
  Instr& i = exchange(do_barrier_vote, o.x, op);
  i.imm = o.id, i.b = uint32_t(o.warps), i.fn = uint8_t(o.how);
}

void Emitter::on(const op::WarpBarrier&, const Op&) { emit(do_warp_barrier); }
void Emitter::on(const op::ClusterBarrier&, const Op&) { emit(do_cluster_barrier); }
void Emitter::on(const op::TakeBlock&, const Op& op) { emit(do_take_block).dst = define(op.result()).slot; }

}  // namespace tilec::interp
