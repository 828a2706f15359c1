// V060, V061 and V063 to V070: the operations of Thread form.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

class Thread {
 public:
  explicit Thread(Check& check) : check_(check) {}

  void operator()(const op::MemLoad& o) {
    if (!access(o.buffer, o.index)) return;
    mask(o.mask);
    moves(o.buffer, check_.result());
    stride(o.index, o.lane_stride);
    derives(check_.result(), o.buffer);
    derives(check_.result(), o.index);
    if (o.mask.valid()) derives(check_.result(), o.mask);
    peers(o.peer);
    check_.require(!o.peer.valid() || type(o.buffer).space == Space::Shared, Code::V033, "blocks of a cluster do not see the ", type(o.buffer), " of others");
  }
  void operator()(const op::MemStore& o) {
    if (!access(o.buffer, o.index)) return;
    mask(o.mask);
    moves(o.buffer, o.value);
    stride(o.index, o.lane_stride);
  }
  void operator()(const op::MemAtomic& o) {
    if (!access(o.buffer, o.index)) return;
    mask(o.mask);
    size_t count = o.fn == AtomicFn::CompareExchange ? 2 : 1;
    check_.require(o.operands.size() == count, Code::V025, "`", name(o.fn), "` takes ", count, " operands, not ",
                   o.operands.size());
    Type element = scalar_type(type(o.buffer).element);
    bool is_vector = check_.op().results.empty() && o.operands.size() == 1 && type(o.operands[0]).kind == TypeKind::Vector;
    for (ValueId v : o.operands)
      check_.require(is_vector ? type(v).element == element.element : equal_but_varying(type(v), element), Code::V025, v, " is ", type(v),
                     ", not the element of ", o.buffer);
    for (ValueId v : check_.op().results)
      check_.require(equal_but_varying(type(v), element), Code::V025, v, " is ", type(v), ", not the element of ",
                     o.buffer);
  }
  void operator()(const op::Prefetch& o) {
    const Type& memory = type(o.buffer);
    bool is_device = memory.is_buffer() && (memory.space == Space::Global || memory.space == Space::Workspace);
    check_.require(is_device && check_.is_index(o.index), Code::V033, "what is asked for is ", memory, " at ", type(o.index));
  }
  void operator()(const op::IsAligned& o) {
    const Type &memory = type(o.buffer), &result = check_.result_type();
    bool is_fine = memory.is_buffer() && std::has_single_bit(uint64_t(o.bytes)) && result == scalar_type(Scalar::Bool);
    check_.require(is_fine, Code::V033, "whether ", memory, " is aligned to ", o.bytes, " is ", result);
  }
  void operator()(const op::HasBoxes& o) {
    const Type &memory = type(o.buffer), &result = check_.result_type();
    bool is_fine = memory.is_buffer() && memory.space == Space::Global && result == scalar_type(Scalar::Bool);
    check_.require(is_fine, Code::V033, "whether ", memory, " has boxes is ", result);
  }
  void operator()(const op::RegisterBudget& o) { check_.require(o.registers > 0, Code::V066, "a budget of ", o.registers, " registers"); }
  void operator()(const op::VectorMake& o) {
    const Type& t = check_.result_type();
    bool is_good = t.kind == TypeKind::Vector && t.shape[0] == int64_t(o.elements.size());
    check_.require(is_good, Code::V065, check_.result(), " is ", t, ", made of ", o.elements.size(), " elements");
    for (ValueId v : o.elements) {
      check_.require(equal_but_varying(type(v), scalar_type(t.element)), Code::V065, v, " is ", type(v), " in ", t);
      derives(check_.result(), v);
    }
  }
  void operator()(const op::VectorElement& o) {
    const Type& t = type(o.vector);
    if (!check_.require_kind(TypeKind::Vector, o.vector)) return;
    check_.require(
        o.index >= 0 && o.index < t.shape[0] && equal_but_varying(check_.result_type(), scalar_type(t.element)),
        Code::V065, check_.result(), " is not element ", o.index, " of ", t);
    derives(check_.result(), o.vector);
  }
  void operator()(const op::Fault& o) {
    bool is_bool = type(o.condition).is_scalar() && type(o.condition).element == Scalar::Bool;
    check_.require(is_bool && check_.is_index(o.index) && (!o.extent.valid() || check_.is_index(o.extent)), Code::V067,
                   "a fault takes a bool, an index and perhaps an extent, not ", type(o.condition), " and ", type(o.index));
  }
  void operator()(const op::Atom& o) { check_.require(!o.name.empty(), Code::V068, "an atom has no name"); }
  void operator()(const op::PhaseInit& o) {
    phase(o.barriers, o.index);
    check_.require(o.arrivals > 0, Code::V066, "a phase awaits ", o.arrivals, " arrivals");
  }
  void operator()(const op::CopyLanes& o) {
    const Type &from = type(o.src), &to = type(o.dst);
    bool is_move = from.is_buffer() && (from.space == Space::Global || from.space == Space::Workspace) && to.is_buffer() &&
                   to.space == Space::Shared && from.element == to.element;
    check_.require(is_move, Code::V033, "lanes copy ", from, " to ", to);
    check_.require(check_.is_index(o.src_index) && check_.is_index(o.dst_index), Code::V061, "places of a copy are ", type(o.src_index), " and ", type(o.dst_index));
    check_.require(o.count > 0, Code::V066, "lanes copy ", o.count, " elements each");
    mask(o.mask);
  }
  void operator()(const op::LoadMatrices& o) {
    if (!matrices(o.buffer, o.index, o.count, o.transposed, check_.result())) return;
    derives(check_.result(), o.buffer);
    derives(check_.result(), o.index);
  }
  void operator()(const op::StoreMatrices& o) { matrices(o.buffer, o.index, o.count, o.transposed, o.value); }
  void operator()(const op::TurnMatrix& o) {
    const Type& x = type(o.x);
    bool is_fine = x.kind == TypeKind::Vector && x.shape[0] == 2 && bit_width(x.element) == 16 && equal_but_varying(check_.result_type(), x);
    check_.require(is_fine, Code::V065, check_.result(), " is ", check_.result_type(), ", the transpose of ", x);
  }
  void operator()(const op::StoreBox& o) {
    const Type &from = type(o.src), &to = type(o.dst);
    bool is_move = from.is_buffer() && from.space == Space::Shared && to.is_buffer() && to.space != Space::Shared;
    check_.require(is_move && from.element == to.element, Code::V033, "a box of ", to, " comes from ", from);
    if (is_move) box(o.shape, {to.shape.size(), o.dst_offsets.size(), o.dst_axes}, {o.src_shape.size(), o.src_offsets.size(), o.src_axes}, o.src_shape);
  }
  void operator()(const op::AwaitStores& o) { check_.require(o.in_flight >= 0, Code::V066, "stores awaited but for the last ", o.in_flight); }
  void operator()(const op::PhaseFollow& o) { phase(o.barriers, o.index); }
  void operator()(const op::PhaseArrive& o) {
    phase(o.barriers, o.index);
    mask(o.mask);
    if (o.block.valid()) check_.require(equal_but_varying(type(o.block), scalar_type(Scalar::Index)), Code::V066, "the block ", o.block, " is ", type(o.block));
  }
  void operator()(const op::PhaseExpect& o) {
    phase(o.barriers, o.index);
    check_.require(check_.is_index(o.bytes), Code::V066, "the bytes ", o.bytes, " are ", type(o.bytes));
    mask(o.mask);
  }
  void operator()(const op::PhaseWait& o) {
    phase(o.barriers, o.index);
    bool is_parity =
        check_.is_index(o.parity) || (type(o.parity).is_scalar() && type(o.parity).element == Scalar::Bool);
    check_.require(is_parity, Code::V066, "the parity ", o.parity, " is ", type(o.parity));
  }
  void operator()(const op::CopyBox& o) {
    phase(o.barriers, o.slot);
    peers(o.peers);
    const Type &from = type(o.src), &to = type(o.dst);
    bool is_move = from.is_buffer() && from.space != Space::Shared && to.is_buffer() && to.space == Space::Shared;
    check_.require(is_move && from.element == to.element, Code::V033, "a box of ", from, " goes to ", to);
    if (is_move) box(o.shape, {from.shape.size(), o.src_offsets.size(), o.src_axes}, {o.dst_shape.size(), o.dst_offsets.size(), o.dst_axes}, o.dst_shape);
  }
  void operator()(const op::EngineFence&) {}
  void operator()(const op::GroupFence& o) { passes(o.registers, TypeKind::Vector, TypeKind::Flight); }
  void operator()(const op::GroupProduct& o) {
    bool is_flight = check_.has(TypeKind::Flight, o.acc) && check_.result_type() == type(o.acc);
    check_.require(is_flight, Code::V070, check_.result(), " is ", check_.result_type(), " and goes on from ", type(o.acc));
    if (!check_.has(TypeKind::Vector, o.a)) array(o.a, o.a_place, o.a_shape, o.a_layout);
    array(o.b, o.b_place, o.b_shape, o.b_layout);
    check_.require(!o.atom.empty(), Code::V068, "a product of a group names no atom");
  }
  void operator()(const op::GroupCommit&) {}
  void operator()(const op::GroupWait& o) {
    passes(o.flights, TypeKind::Flight, TypeKind::Vector);
    check_.require(o.in_flight >= 0, Code::V069, "a negative number of batches in flight");
  }
  void operator()(const op::WarpBarrier&) {}
  void operator()(const op::ClusterBarrier&) {}
  void operator()(const op::TakeBlock&) {
    check_.require(check_.result_type() == scalar_type(Scalar::Index), Code::V066, "the number of a block is ", check_.result_type());
  }
  void operator()(const op::ReadBlock& o) {
    const Type& numbers = type(o.numbers);
    bool fits = numbers.is_buffer() && numbers.space == Space::Shared && numbers.element == Scalar::Index && type(o.slot) == scalar_type(Scalar::Index);
    check_.require(fits && check_.result_type() == scalar_type(Scalar::Index), Code::V066, "the number of a block is ", check_.result_type(), " of ", numbers);
  }
  void operator()(const op::BarrierVote& o) {
    check_.require(o.id >= 0 && o.warps > 0, Code::V066, "barrier ", o.id, " has ", o.warps, " warps");
    bool is_good = type(o.x) == scalar_type(Scalar::Bool, true) && o.how != VoteKind::Ballot && check_.result_type() == scalar_type(Scalar::Bool);
    check_.require(is_good, Code::V067, "the vote ", o.x, " is ", type(o.x), ", its result ", check_.result_type());
  }
  void operator()(const op::NamedBarrier& o) {
    check_.require(o.id >= 0 && o.warps > 0, Code::V066, "barrier ", o.id, " has ", o.warps, " warps");
  }

 private:
  const Type& type(ValueId v) const { return check_.type(v); }

  bool access(ValueId buffer, ValueId index) {
    return check_.require_kind(TypeKind::Buffer, buffer) &&
           check_.require(check_.is_index(index), Code::V063, "the index ", index, " is ", type(index));
  }
  // Of `count` matrices of shared memory, which lanes hold as `registers`.
  bool matrices(ValueId buffer, ValueId index, int64_t count, bool transposed, ValueId registers) {
    const Type &memory = type(buffer), &held = type(registers);
    bool is_shared = memory.is_buffer() && memory.space == Space::Shared && bit_width(memory.element) % 8 == 0 && byte_width(memory.element) <= 4;
    if (!check_.require(is_shared && check_.is_index(index), Code::V033, "matrices of ", memory, " at ", type(index))) return false;
    bool is_fine = (count == 1 || count == 2 || count == 4) && (!transposed || byte_width(memory.element) == 2) &&
                   equal_but_varying(held, vector_type(memory.element, count * 4 / byte_width(memory.element)));
    return check_.require(is_fine, Code::V065, registers, " is ", held, ", of ", count, " matrices of ", memory);
  }

  // Where a box lies: in a tensor, or in the array that is its other side.
  struct BoxSide {
    size_t rank, offsets;
    const Axes& axes;
  };
  void box(const Ints& shape, const BoxSide& tensor, const BoxSide& array, const Ints& extents) {
    check_.require(tensor.offsets == tensor.rank && array.offsets == array.rank, Code::V030, "a box has ", array.offsets, " and ", tensor.offsets, " offsets");
    check_.require(is_choice(tensor.axes, tensor.rank, shape.size()) && is_choice(array.axes, array.rank, shape.size()), Code::V031,
                   "the axes of a box are not distinct dimensions");
    check_.require(std::ranges::is_sorted(tensor.axes) && std::ranges::is_sorted(array.axes), Code::V031, "an engine does not turn the axes of a box");
    for (size_t i = 0; i < std::min(array.axes.size(), shape.size()); ++i)
      if (array.axes[i] >= 0 && array.axes[i] < int64_t(extents.size()))
        check_.require(shape[i] <= extents[size_t(array.axes[i])], Code::V034, "a box has ", shape[i], " elements where its array has ", extents[size_t(array.axes[i])]);
  }
  // One block of the cluster, or a set of them, for all lanes.
  void peers(ValueId v) {
    check_.require(!v.valid() || type(v) == scalar_type(Scalar::Index), Code::V066, "blocks of the cluster are ", v, ", which is no uniform int");
  }
  void mask(ValueId v) {
    bool is_mask = !v.valid() || (type(v).is_scalar() && type(v).element == Scalar::Bool);
    if (!is_mask) check_.report(Code::V063, "the mask ", v, " is ", type(v));
  }
  void moves(ValueId buffer, ValueId v) {
    bool is_number = type(v).is_scalar() || type(v).kind == TypeKind::Vector;
    check_.require(is_number && type(v).element == type(buffer).element, Code::V063, v, " is ", type(v),
                   ", not of the element of ", buffer);
  }
  void stride(ValueId index, int64_t stride) {
    bool is_sane = stride >= kUnknownStride && (type(index).varying || stride <= 0);
    check_.require(is_sane, Code::V064, "the lane stride ", stride, " of ", index, ", which is ", type(index));
  }
  void derives(ValueId result, ValueId operand) {
    check_.require(type(result).varying || !type(operand).varying, Code::V060, "uniform ", result,
                   " derives from varying ", operand);
  }
  void phase(ValueId barriers, ValueId index) {
    const Type& t = type(barriers);
    check_.require(t.is_buffer() && t.space == Space::Shared && check_.is_index(index), Code::V066, barriers, " is ", t,
                   ", no phases in shared memory with an index");
  }

  // Each operand comes out as a result, of the other kind.
  void passes(const std::vector<ValueId>& operands, TypeKind from, TypeKind to) {
    const std::vector<ValueId>& results = check_.op().results;
    if (!check_.require(results.size() == operands.size(), Code::V069, operands.size(), " vectors come out as ", results.size())) return;
    for (size_t i = 0; i < results.size(); ++i) {
      Type expected = type(operands[i]);
      check_.require(expected.kind == from, Code::V069, operands[i], " is ", type(operands[i]));
      expected.kind = to;
      check_.require(type(results[i]) == expected, Code::V069, operands[i], ", ", type(operands[i]), ", comes out as ", type(results[i]));
    }
  }
  void array(ValueId memory, ValueId place, const Ints& shape, const Text& layout) {
    const Type& t = type(memory);
    bool is_array = t.is_buffer() && t.space == Space::Shared && place.valid() && shape.size() >= 2 && !layout.empty();
    if (!check_.require(is_array, Code::V070, "an operand is ", t, ", no array of shared memory")) return;
    check_.require(check_.is_index(place) && !type(place).varying, Code::V070, "the place ", place, " is ", type(place));
  }

  static bool is_choice(const Axes& axes, size_t dimensions, size_t count) {
    std::vector<bool> seen(dimensions, false);
    for (int64_t axis : axes) {
      if (axis < 0 || axis >= int64_t(dimensions) || seen[size_t(axis)]) return false;
      seen[size_t(axis)] = true;
    }
    return axes.size() == count;
  }

  Check& check_;
};

// The control of a thread (V060, V061).
void check_uniform_control(Check& check) {
  auto uniform = [&](ValueId v) {
    check.require(!check.type(v).varying, Code::V061, v, " is varying and controls a `", name(check.op().kind()), "`");
  };
  if (const auto* loop = check.op().get<op::For>())
    for (ValueId v : {loop->low, loop->high, loop->step}) uniform(v);
  if (const auto* loop = check.op().get<op::While>())
    uniform(check.kernel.terminator(loop->condition).as<op::Yield>().values[0]);
  if (const auto* branch = check.op().get<op::If>(); branch && check.type(branch->condition).varying)
    for (ValueId v : check.op().results)
      check.require(check.type(v).varying, Code::V060, "uniform ", v, " derives from varying ", branch->condition);
}

bool is_varying_query(const Op& op) { return op.is<op::ThreadIndex>() || op.is<op::LaneIndex>(); }

}  // namespace

void check_thread(Check& check) {
  visit_thread(check.op().data, Thread(check), [] {});
  if (check.level != Level::Thread) return;
  check_uniform_control(check);
  if (is_varying_query(check.op()))
    check.require(check.result_type().varying, Code::V060, check.result(),
                  " differs from lane to lane and is said to be uniform");
}

}  // namespace tilec::ir::verifier
