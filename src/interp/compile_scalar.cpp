// Scalar code. A vector's elements are computed one after another.
#include "interp/emitter.h"

namespace tilec::interp {

using namespace ir;

namespace {

// The k-th register of a vector, or the only one of a scalar.
uint32_t element(const Location& place, uint32_t k, uint32_t width) {
  return place.slot + (place.count == 1 ? 0 : k * width);
}

}  // namespace

void Emitter::on(const op::Constant& o, const Op& op) {
  Location place = define(op.result());
  for (uint32_t lane = 0; lane < frame_->width; ++lane)
    code().constants.push_back({place.slot + lane, to_slot(type(op.result()).element, o.number)});
}

// In Thread IR what may fail has its test beside it, and addresses are computed of what no test lets run: `int`s wrap, as on every machine.
bool Emitter::wraps(ValueId v) const {
  return frame_->kind == FunctionKind::Thread && (type(v).varying || !options_.takes_ints_exact);
}
Scalar Emitter::arithmetic_type(ValueId v) const {
  Scalar element = type(v).element;
  return wraps(v) && element == Scalar::Index ? Scalar::I64 : element;
}

void Emitter::on(const op::Unary& o, const Op& op) {
  Location x = find(o.x), to = define(op.result());
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(unary_handler(o.fn, arithmetic_type(o.x), options_.numeric));
    i.dst = element(to, k, frame_->width);
    i.a = element(x, k, frame_->width);
    i.fn = uint8_t(o.fn);
    i.type = arithmetic_type(o.x);
    i.imm = 64 - bit_width(i.type);
    shape_lanes(i, op.result(), is_uniform(o.x));
  }
  check_uniform(op.result(), is_uniform(o.x));
}

void Emitter::on(const op::Binary& o, const Op& op) {
  Location a = find(o.a), b = find(o.b), to = define(op.result());
  bool is_one = is_uniform(o.a) && is_uniform(o.b);
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(binary_handler(o.fn, arithmetic_type(op.result()), options_.numeric));
    i.dst = element(to, k, frame_->width);
    i.a = element(a, k, frame_->width);
    i.b = element(b, k, frame_->width);
    i.fn = uint8_t(o.fn);
    i.type = arithmetic_type(op.result());
    i.imm = 64 - bit_width(i.type);
    i.fast = wraps(op.result());
    shape_lanes(i, op.result(), is_one);
  }
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::Fma& o, const Op& op) {
  Location a = find(o.a), b = find(o.b), c = find(o.c), to = define(op.result());
  bool is_one = is_uniform(o.a) && is_uniform(o.b) && is_uniform(o.c);
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(fma_handler(type(op.result()).element, options_.numeric));
    i.dst = element(to, k, frame_->width);
    i.a = element(a, k, frame_->width);
    i.b = element(b, k, frame_->width);
    i.c = element(c, k, frame_->width);
    i.type = type(op.result()).element;
    shape_lanes(i, op.result(), is_one);
  }
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::Overflows& o, const Op& op) {
  Location a = find(o.a), b = find(o.b), to = define(op.result());
  Instr& i = emit(do_overflows);
  i.dst = to.slot, i.a = a.slot, i.b = b.slot, i.fn = uint8_t(o.fn), i.type = Scalar::Index;
  bool is_one = is_uniform(o.a) && is_uniform(o.b);
  shape_lanes(i, op.result(), is_one);
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::Inside&, const Op& op) {
  const Location place = define(op.result());
  for (uint32_t lane = 0; lane < frame_->width; ++lane) code().constants.push_back({place.slot + lane, to_slot(Scalar::Bool, Number::integer(1))});
}

void Emitter::on(const op::Compare& o, const Op& op) {
  Location a = find(o.a), b = find(o.b), to = define(op.result());
  bool is_one = is_uniform(o.a) && is_uniform(o.b);
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(compare_handler(o.fn, type(o.a).element));
    i.dst = element(to, k, frame_->width);
    i.a = element(a, k, frame_->width);
    i.b = element(b, k, frame_->width);
    i.type = type(o.a).element;
    shape_lanes(i, op.result(), is_one);
  }
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::Select& o, const Op& op) {
  Location c = find(o.condition), a = find(o.a), b = find(o.b), to = define(op.result());
  bool is_one = is_uniform(o.condition) && is_uniform(o.a) && is_uniform(o.b);
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(do_select);
    i.dst = element(to, k, frame_->width);
    i.a = element(a, k, frame_->width);
    i.b = element(b, k, frame_->width);
    i.c = element(c, k, frame_->width);
    shape_lanes(i, op.result(), is_one);
  }
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::Convert& o, const Op& op) {
  const bool is_exact = o.exact.valid() && options_.numeric == Numeric::Wide;
  const ValueId source = is_exact ? o.exact : o.x;
  Location x = find(source), to = define(op.result());
  for (uint32_t k = 0; k < to.count; ++k) {
    Scalar from = type(source).element, target = type(op.result()).element;
    Instr& i = emit(!is_exact ? convert_handler(from, target, o.mode) : o.rounds ? convert_handler(from, target, ConvertMode::Nearest) : do_keep);
    i.dst = element(to, k, frame_->width);
    i.a = element(x, k, frame_->width);
    i.from = from;
    i.type = target;
    i.fn = uint8_t(is_exact ? ConvertMode::Nearest : o.mode);
    shape_lanes(i, op.result(), is_uniform(source));
  }
  check_uniform(op.result(), is_uniform(source));
}

void Emitter::on(const op::Extent& o, const Op& op) {
  Instr& i = emit(do_extent);
  i.a = view(o.buffer), i.b = uint32_t(o.axis), i.dst = define(op.result()).slot;
}
void Emitter::on(const op::Stride& o, const Op& op) {
  Instr& i = emit(do_stride);
  i.a = view(o.buffer), i.b = uint32_t(o.axis), i.dst = define(op.result()).slot;
}
void Emitter::on(const op::Present& o, const Op& op) {
  Instr& i = emit(do_present);
  i.a = view(o.buffer), i.dst = define(op.result()).slot;
}

void Emitter::on(const op::ClusterBlocks&, const Op& op) { emit(do_cluster_blocks).dst = define(op.result()).slot; }
void Emitter::on(const op::GridBlocks&, const Op& op) { emit(do_grid_blocks).dst = define(op.result()).slot; }
void Emitter::on(const op::BlockNumber&, const Op& op) { emit(do_block_number).dst = define(op.result()).slot; }
void Emitter::on(const op::BlockIndex& o, const Op& op) {
  uint32_t number = reg(o.number), to = define(op.result()).slot;
  Instr& i = emit(do_block_index);
  i.a = number, i.b = uint32_t(o.axis), i.dst = to;
}

void Emitter::on(const op::ElementLoad& o, const Op& op) {
  TileData data{.first = access(o.buffer, o.indices, {}, BoundsList(o.indices.size(), o.bounds), {})};
  bool is_one = std::all_of(o.indices.begin(), o.indices.end(), [&](ValueId v) { return is_uniform(v); });
  uint32_t to = define(op.result()).slot, index = add_data(std::move(data));
  Instr& i = emit(do_element_load);
  i.dst = to, i.a = view(o.buffer), i.imm = index;
  i.type = type(o.buffer).element;
  shape_lanes(i, op.result(), is_one);
  check_uniform(op.result(), is_one);
}

void Emitter::on(const op::ElementStore& o, const Op&) {
  TileData data{.first = access(o.buffer, o.indices, {}, BoundsList(o.indices.size(), o.bounds), {})};
  bool is_one =
      is_uniform(o.value) && std::all_of(o.indices.begin(), o.indices.end(), [&](ValueId v) { return is_uniform(v); });
  uint32_t value = reg(o.value), index = add_data(std::move(data));
  Instr& i = emit(do_element_store);
  i.b = value, i.a = view(o.buffer), i.imm = index;
  i.type = type(o.buffer).element;
  if (is_one) i.lanes = 1;
}

void Emitter::on(const op::Atomic& o, const Op& op) {
  TileData data{.first = access(o.buffer, o.indices, {}, BoundsList(o.indices.size(), o.bounds), {})};
  bool is_one = true;
  for (ValueId v : o.indices) is_one &= is_uniform(v);
  for (ValueId v : o.operands) is_one &= is_uniform(v);
  uint32_t first = reg(o.operands[0]), second = o.operands.size() > 1 ? reg(o.operands[1]) : 0;
  uint32_t to = op.results.empty() ? scratch() : define(op.result()).slot;
  uint32_t index = add_data(std::move(data));
  Instr& i = emit(do_atomic);
  i.dst = to, i.a = view(o.buffer), i.b = first, i.c = second, i.imm = index;
  i.fn = uint8_t(o.fn);
  i.from = Scalar(o.order);
  i.type = type(o.buffer).element;
  if (is_one) i.lanes = 1, i.spreads = frame_->width > 1;
}

Instr& Emitter::lane_query(Handler run, const Op& op) {
  uint32_t to = define(op.result()).slot;
  Instr& i = emit(run);
  i.dst = to;
  return i;
}
void Emitter::on(const op::ThreadIndex&, const Op& op) { lane_query(do_thread_index, op); }
void Emitter::on(const op::LaneIndex&, const Op& op) { lane_query(do_lane_index, op); }
void Emitter::on(const op::WarpIndex&, const Op& op) { lane_query(do_warp_index, op); }
void Emitter::on(const op::BlockBarrier&, const Op&) { emit(do_block_barrier); }

Instr& Emitter::exchange(Handler run, ValueId x, const Op& op) {
  uint32_t from = reg(x), to = define(op.result()).slot;
  Instr& i = emit(run);
  i.a = from, i.dst = to;
  i.type = type(x).element;
  return i;
}
void Emitter::on(const op::Shuffle& o, const Op& op) {
  uint32_t lane = reg(o.lane);
  Location x = find(o.x), to = define(op.result());
  for (uint32_t k = 0; k < to.count; ++k) {
    Instr& i = emit(do_shuffle);
    i.a = element(x, k, frame_->width), i.dst = element(to, k, frame_->width), i.b = lane;
    i.fn = uint8_t(o.how);
  }
}
void Emitter::on(const op::Vote& o, const Op& op) { exchange(do_vote, o.x, op).fn = uint8_t(o.how); }
void Emitter::on(const op::WarpReduce& o, const Op& op) {
  Instr& i = exchange(do_warp_reduce, o.x, op);
  i.fn = uint8_t(o.fn);
  i.fast = options_.numeric == Numeric::Wide;
}

}  // namespace tilec::interp
