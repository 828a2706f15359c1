// Operations on tiles and buffers, in Typed, Placed and Staged form.
#include "interp/emitter.h"
#include "interp/layouts.h"

namespace tilec::interp {

using namespace ir;

void Emitter::on(const op::Alloc& o, const Op& op) {
  TileData data;
  use_operands(data, o.extents);
  const Type& t = type(op.result());
  data.shape = t.shape;
  bool varies = t.varying;
  data.type = t.element;
  data.names = {o.name.empty() ? kernel_.value(op.result()).hint : o.name};
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_alloc);
  i.dst = to, i.imm = index, i.fn = uint8_t(t.space), i.fast = varies;
}

void Emitter::on(const op::Subview& o, const Op& op) {
  TileData data{.first = access(o.buffer, o.offsets, o.axes, o.bounds, {})};
  data.shape = type(op.result()).shape;
  data.type = type(op.result()).element;
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_subview);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::Load& o, const Op& op) {
  TileData data{.first = access(o.buffer, o.offsets, o.axes, o.bounds, type(op.result()).shape, o.pad)};
  data.type = type(o.buffer).element;
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_tile_load);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::Store& o, const Op&) {
  TileData data{.first = access(o.buffer, o.offsets, o.axes, o.bounds, type(o.tile).shape)};
  data.type = type(o.tile).element;
  data.adds = o.adds;
  uint32_t tile = reg(o.tile), index = add_data(std::move(data));
  Instr& i = emit(do_tile_store);
  i.a = tile, i.imm = index;
}

TileData Emitter::copy_data(const op::Copy& o, const Op& op) {
  TileData data{.first = access(o.src, o.src_offsets, o.src_axes, o.src_bounds, o.shape, o.pad),
                .second = access(o.dst, o.dst_offsets, o.dst_axes, o.dst_bounds, o.shape)};
  data.first.span = kernel_.read_note(op.span).read;
  data.types = {type(o.src).element, type(o.dst).element};
  data.names = {o.label};
  return data;
}

void Emitter::on(const op::Copy& o, const Op& op) {
  TileData data = copy_data(o, op);
  data.adds = o.adds;
  uint32_t index = add_data(std::move(data));
  emit(do_tile_copy).imm = index;
}

void Emitter::on(const op::Splat& o, const Op& op) {
  TileData data;
  data.shape = type(op.result()).shape;
  uint32_t x = reg(o.x), to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_splat);
  i.a = x, i.dst = to, i.imm = index;
}

void Emitter::on(const op::Map& o, const Op& op) {
  TileData data;
  use_operands(data, o.inputs);
  data.axes_list = o.input_axes;
  data.shape = o.shape;
  data.function = compile_function(FunctionKind::Map, kMapLanes, o.body);
  each_op(kernel_, o.body, [&](OpId id) {
    data.writes_memory |= kernel_.op(id).is<op::ElementStore>() || kernel_.op(id).is<op::Atomic>();
  });
  data.results = define_all(op.results);
  uint32_t index = add_data(std::move(data));
  emit(do_map).imm = index;
}

TileData Emitter::gemm_data(const op::Gemm& o, const Op& op) {
  TileData data;
  ValueId operands[] = {o.a, o.b, o.acc};
  use_operands(data, operands);
  data.transpose_a = o.transpose_a;
  data.transpose_b = o.transpose_b;
  data.names = {o.label};
  const Type& acc = type(o.acc);
  data.shape = acc.shape;
  data.type = acc.element;
  data.results = define_all(op.results);
  return data;
}

void Emitter::on(const op::Gemm& o, const Op& op) {
  uint32_t index = add_data(gemm_data(o, op));
  Instr& i = emit(do_gemm);
  i.imm = index;
  i.fast = options_.numeric == Numeric::Wide;
}

void Emitter::reduction(Handler run, const op::Reduce* reduce, const op::Scan* scan, const Op& op) {
  ValueId x = reduce ? reduce->x : scan->x;
  TileData data;
  data.axes = {reduce ? reduce->axis : scan->axis};
  data.shape = type(x).shape;
  data.types = {type(x).element};
  data.type = type(op.result()).element;
  data.transpose_a = scan && scan->reverse;
  uint32_t from = reg(x);
  data.results = define_all(op.results);
  uint32_t index = add_data(std::move(data));
  Instr& i = emit(run);
  i.a = from, i.imm = index;
  i.fn = uint8_t(reduce ? reduce->fn : scan->fn);
  i.fast = options_.numeric == Numeric::Wide;
}
void Emitter::on(const op::Reduce& o, const Op& op) { reduction(do_reduce, &o, nullptr, op); }
void Emitter::on(const op::VoteTile& o, const Op& op) {
  TileData data;
  data.shape = type(o.x).shape;
  uint32_t from = reg(o.x), index = add_data(std::move(data)), to = define(op.result()).slot;
  Instr& i = emit(do_vote_tile);
  i.a = from, i.dst = to, i.imm = index, i.fn = uint8_t(o.how);
}
void Emitter::on(const op::Scan& o, const Op& op) { reduction(do_scan, nullptr, &o, op); }

void Emitter::on(const op::Permute& o, const Op& op) {
  TileData data;
  data.shapes = {type(o.x).shape};
  data.shape = type(op.result()).shape;
  data.axes = o.axes;
  uint32_t from = reg(o.x), to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_permute);
  i.a = from, i.dst = to, i.imm = index;
}

void Emitter::on(const op::Reshape& o, const Op& op) {
  Location from = find(o.x);
  move(define(op.result()), from, true, is_last_use(o.x));
}

void Emitter::on(const op::Insert& o, const Op& op) {
  TileData data;
  ValueId operands[] = {o.tile, o.part};
  use_operands(data, operands);
  data.axes = o.axes;
  for (ValueId v : o.offsets) data.first.offsets.push_back(reg(v));
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_insert);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::Extract& o, const Op& op) {
  TileData data;
  ValueId operands[] = {o.tile};
  use_operands(data, operands);
  data.axes = o.axes;
  data.shape = type(op.result()).shape;
  for (ValueId v : o.offsets) data.first.offsets.push_back(reg(v));
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_extract);
  i.dst = to, i.imm = index;
}

// Blocks are by themselves where tiles are whole: rows of this one's own.
void Emitter::on(const op::ClusterSum& o, const Op& op) {
  TileData data;
  ValueId operands[] = {o.tile};
  use_operands(data, operands);
  data.shape = type(op.result()).shape;
  for (size_t axis = 0; axis < data.shape.size(); ++axis) data.axes.push_back(int64_t(axis));
  data.first.offsets = {reg(o.first)};
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_extract);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::Simt& o, const Op&) {
  TileData data;
  data.function = compile_function(FunctionKind::Simt, uint32_t(program_.lanes), o.body);
  data.counts = {o.threads};
  uint32_t index = add_data(std::move(data));
  emit(do_simt).imm = index;
}

void Emitter::on(const op::ConvertLayout& o, const Op& op) {
  uint32_t from = reg(o.x);
  TileData data;
  data.steals = {is_last_use(o.x)};
  data.counts = {conversion_tier(kernel_, type(o.x), type(op.result()))};
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_convert_layout);
  i.a = from, i.dst = to, i.imm = index;
}

void Emitter::on(const op::Roles& o, const Op& op) {
  TileData data;
  for (RegionId body : o.bodies) data.functions.push_back(compile_function(FunctionKind::Role, 1, body));
  data.names = o.names;
  data.counts = o.warps;
  data.results = define_all(op.results);
  uint32_t index = add_data(std::move(data));
  emit(do_roles).imm = index;
}

void Emitter::on(const op::RingAlloc& o, const Op& op) {
  TileData data;
  data.counts = {type(op.result()).shape[0], o.consumers};
  data.names = {o.name.empty() ? kernel_.value(op.result()).hint : o.name};
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_ring_alloc);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::Acquire& o, const Op&) {
  Instr& i = emit(do_acquire);
  i.a = reg(o.ring), i.b = reg(o.turn);
}
void Emitter::on(const op::Commit& o, const Op&) {
  TileData data;
  use_operands(data, o.tokens);
  uint32_t ring = reg(o.ring), turn = reg(o.turn), index = add_data(std::move(data));
  Instr& i = emit(do_commit);
  i.a = ring, i.b = turn, i.imm = index;
}
void Emitter::on(const op::Wait& o, const Op&) {
  Instr& i = emit(do_wait);
  i.a = reg(o.ring), i.b = reg(o.turn);
}
void Emitter::on(const op::Release& o, const Op&) {
  Instr& i = emit(do_release);
  i.a = reg(o.ring), i.b = reg(o.turn);
}

void Emitter::on(const op::CopyAsync& o, const Op& op) {
  TileData data = copy_data({o.src, o.src_offsets, o.src_axes, o.src_bounds, o.dst, o.dst_offsets, o.dst_axes,
                             o.dst_bounds, o.shape, o.pad, o.copy_class, false, o.label}, op);
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_copy_async);
  i.dst = to, i.imm = index;
}

void Emitter::on(const op::AwaitCopy& o, const Op&) {
  TileData data;
  use_operands(data, o.tokens);
  uint32_t index = add_data(std::move(data));
  emit(do_await_copy).imm = index;
}

void Emitter::on(const op::GemmAsync& o, const Op& op) {
  uint32_t index = add_data(gemm_data({.a = o.a, .b = o.b, .acc = o.acc, .transpose_a = o.transpose_a, .transpose_b = o.transpose_b, .atom = o.atom, .label = o.label}, op));
  Instr& i = emit(do_gemm_async);
  i.imm = index;
  i.fast = options_.numeric == Numeric::Wide;
}

void Emitter::on(const op::BeginFlight& o, const Op& op) {
  uint32_t from = reg(o.tile);
  bool takes = is_last_use(o.tile);
  uint32_t to = define(op.result()).slot;
  Instr& i = emit(do_begin_flight);
  i.a = from, i.dst = to, i.fast = takes;
}

void Emitter::on(const op::AwaitGemm& o, const Op& op) {
  uint32_t from = reg(o.flight);
  Location to = define(op.result());
  Instr& i = emit(do_await_gemm);
  i.a = from, i.dst = to.slot, i.imm = o.in_flight;
  i.fast = to.place == Place::Handle;
  i.b = uint32_t(options_.numeric == Numeric::Wide);
}

void Emitter::on(const op::Barrier&, const Op&) { emit(do_role_barrier); }
// The block is one program here: its groups do everything together.
void Emitter::on(const op::OrderAlloc&, const Op& op) { define(op.result()); }
void Emitter::on(const op::TakeTurn&, const Op&) {}
void Emitter::on(const op::PassTurn&, const Op&) {}
// Between whole-tile operations that follow each other there is nothing to make known.
void Emitter::on(const op::Fence&, const Op&) {}

}  // namespace tilec::interp
