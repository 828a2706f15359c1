// Matrix products by instructions of groups of warps, in flight. The accumulator's registers belong to the engine from the first
// product until a wait gives them back; operands are places in arrays of shared memory, or, of one of them, registers. An atom
// that swaps its operands is spelled as the one that it swaps: only which operand goes where differs.
#include "layout/notation.h"
#include "lower/fragments.h"
#include "lower/lowering.h"

namespace tilec::lower {

using layout::Side;

namespace {

layout::Division blocks_of(const layout::RegLayout& accumulator, const MatrixAtom& atom) {
  auto blocks = layout::divide(accumulator, layout::reg_layout(atom.c_layout, "mn"));
  INVARIANT(blocks.has_value(), "an accumulator is made of its atom's fragments");
  return std::move(*blocks);
}

// Where the warps' blocks are, in units of the atom, with the warp index counted through the groups.
layout::RegLayout group_layout(const layout::Division& blocks, const MatrixAtom& atom) {
  layout::RegLayout layout = blocks.rest;
  for (int warps = 1; warps < atom.warps; warps *= 2) layout.warp.insert(layout.warp.begin(), layout::Vec{0});
  return layout;
}

}  // namespace

const MatrixAtom& Lowering::atom_named(std::string_view name) const {
  for (const MatrixAtom& atom : machine_.matrix_atoms)
    if (atom.name == name) return atom;
  UNREACHABLE("a matrix product names an atom of its machine");
}

// An operand in shared memory, and the element at which this warp's part of block 0 begins.
Lowering::GroupOperand Lowering::group_operand(ValueId buffer, bool is_transposed, Side side, const layout::Division& blocks, const MatrixAtom& atom) {
  int follows = side == Side::Left ? 0 : 1, size = side == Side::Left ? atom.m : atom.n;
  layout::RegLayout groups = group_layout(blocks, atom);
  GroupOperand operand{.memory = scalar_buffer(buffer), .follows_axis = is_transposed ? 1 - follows : follows, .size = size};
  for (int warp = 0; warp < groups.warps(); warp += atom.warps)
    operand.origins.push_back(groups.coordinate(0, 0, warp)[follows] * size);
  std::vector<ValueId> offsets(2, builder_.index(0));
  if (ValueId part = lane_part(groups, follows); part.valid())
    offsets[size_t(operand.follows_axis)] = builder_.mul(part, builder_.index(size));
  while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(buffer)) {
    std::vector<ValueId> outer = scalars(view->offsets);
    for (size_t d = 0; d < offsets.size(); ++d) outer[size_t(view->axes[d])] = builder_.add(outer[size_t(view->axes[d])], offsets[d]);
    offsets = std::move(outer);
    buffer = view->buffer;
  }
  const Type& type = source_.type(buffer);
  operand.layout = &source_.layouts.mem(type.layout);
  operand.shape = type.shape;
  operand.text = layout::print(*operand.layout);
  operand.offsets = std::move(offsets);
  operand.first = separable_address(*operand.layout, operand.offsets);
  return operand;
}

// The place of a block: a constant away from the first one where all groups agree on it.
ValueId Lowering::block_place(const GroupOperand& operand, int block, int depth) {
  int rank = operand.layout->shape.rank;
  auto address = [&](int origin, int along, int k) {
    layout::Coordinate at{};
    at[rank - 2 + operand.follows_axis] = origin + along;
    at[rank - 1 - operand.follows_axis] = k;
    return operand.layout->address(at);
  };
  int along = block * operand.size;
  int64_t away = address(operand.origins[0], along, depth) - address(operand.origins[0], 0, 0);
  bool agree = std::ranges::all_of(operand.origins, [&](int origin) { return address(origin, along, depth) - address(origin, 0, 0) == away; });
  if (agree) return builder_.add(operand.first, builder_.index(away));
  std::vector<ValueId> at = operand.offsets;
  ValueId &followed = at[size_t(rank - 2 + operand.follows_axis)], &k = at[size_t(rank - 1 - operand.follows_axis)];
  followed = builder_.add(followed, builder_.index(along));
  k = builder_.add(k, builder_.index(depth));
  return separable_address(*operand.layout, at);
}

// What is in registers, as vectors of one step along k each, by block and step.
std::map<std::pair<int, int>, ValueId> Lowering::operand_vectors(const ir::op::GemmAsync& gemm, const MatrixAtom& atom, Side side, const layout::RegLayout& accumulator) {
  bool is_left = side == Side::Left;
  INVARIANT(!(is_left ? gemm.transpose_a : gemm.transpose_b), "an operand in registers is not transposed");
  ValueId operand = is_left ? gemm.a : gemm.b;
  layout::RegLayout piece = layout::reg_layout(is_left ? atom.a_layout : atom.b_layout, is_left ? "mk" : "kn");
  layout::RegLayout held = layout::operand(accumulator, layout::reg_layout(atom.c_layout, "mn"), piece, side, false, shape_of(source_.type(operand)));
  Fragments fragments = fragments_of(std::move(held), piece, is_left ? 1 : 0);
  const Home& home = this->home(operand);
  std::map<std::pair<int, int>, ValueId> vectors;
  for (auto [place, repeat] : fragments.repeat_at) {
    std::vector<ValueId> elements;
    for (int64_t r = 0; r < fragments.division.registers_of_atom; ++r)
      elements.push_back(broadcast(register_at(home, builder_.index(fragments.division.tile_register(repeat, r)))));
    vectors[place] = builder_.value(ir::op::VectorMake{elements}, ir::vector_type(is_left ? atom.a : atom.b, int64_t(elements.size())));
  }
  return vectors;
}

// The accumulator's registers, a vector for each block, given to the engine.
std::vector<ValueId> Lowering::begin_flights(ValueId tile, const MatrixAtom& atom) {
  layout::Division blocks = blocks_of(reg_layout(source_.type(tile).layout), atom);
  const Home& home = this->home(tile);
  Type type = ir::vector_type(atom.c, blocks.registers_of_atom);
  std::vector<ValueId> vectors;
  for (int64_t repeat = 0; repeat < blocks.rest.registers(); ++repeat) {
    std::vector<ValueId> elements;
    for (int64_t r = 0; r < blocks.registers_of_atom; ++r) elements.push_back(broadcast(register_at(home, builder_.index(blocks.tile_register(repeat, r)))));
    vectors.push_back(builder_.value(ir::op::VectorMake{elements}, type));
  }
  type.kind = ir::TypeKind::Flight;
  return target_.op(builder_.add(ir::op::GroupFence{vectors}, std::vector<Type>(vectors.size(), type))).results;
}

void Lowering::lower_begin_flight(const ir::Op& op, const ir::op::BeginFlight& begin) {
  bind_home(op.result(), {source_.type(begin.tile).layout, begin_flights(begin.tile, atom_named(begin.atom)), {}});
}

void Lowering::lower_gemm_async(const ir::Op& op, const ir::op::GemmAsync& gemm) {
  const MatrixAtom& atom = atom_named(gemm.atom);
  INVARIANT(first_warp_ % atom.warps == 0, "the warps of a role are whole groups");
  const Type& type = source_.type(op.result());
  layout::Division blocks = blocks_of(reg_layout(type.layout), atom);
  // The instruction's own A is the product's B where they are swapped, and either's transpose is the other's.
  bool is_swapped = !atom.swaps.empty(), goes_on = !source_.type(gemm.acc).is_tile();
  Side first = is_swapped ? Side::Right : Side::Left, second = is_swapped ? Side::Left : Side::Right;
  ValueId a_operand = is_swapped ? gemm.b : gemm.a, b_operand = is_swapped ? gemm.a : gemm.b;
  std::map<std::pair<int, int>, ValueId> vectors;
  std::optional<GroupOperand> a;
  if (source_.type(a_operand).is_tile()) vectors = operand_vectors(gemm, atom, first, reg_layout(type.layout));
  else a = group_operand(a_operand, is_swapped ? gemm.transpose_b : gemm.transpose_a, first, blocks, atom);
  GroupOperand b = group_operand(b_operand, is_swapped ? gemm.transpose_a : gemm.transpose_b, second, blocks, atom);
  if (goes_on) builder_.add(ir::op::GroupFence{});
  std::vector<ValueId> flights = goes_on ? home(gemm.acc).registers : begin_flights(gemm.acc, atom);
  int depth = int(source_.type(gemm.a).shape[gemm.transpose_a ? 0 : 1]);
  for (int k = 0; k < depth; k += atom.k)
    for (int64_t repeat = 0; repeat < blocks.rest.registers(); ++repeat) {
      layout::Coordinate at = blocks.rest.coordinate(repeat, 0, 0);
      int a_block = at[is_swapped ? 1 : 0], b_block = at[is_swapped ? 0 : 1];
      ir::op::GroupProduct product{.acc = flights[size_t(repeat)], .b = b.memory, .b_place = block_place(b, b_block, k), .b_shape = b.shape,
                                   .b_layout = b.text, .transpose_a = is_swapped ? !gemm.transpose_b : gemm.transpose_a,
                                   .transpose_b = is_swapped ? !gemm.transpose_a : gemm.transpose_b, .atom = std::string(is_swapped ? atom.swaps : atom.name)};
      if (a) product.a = a->memory, product.a_place = block_place(*a, a_block, k), product.a_shape = a->shape, product.a_layout = a->text;
      else product.a = vectors.at({a_block, k / atom.k});
      Type flight = target_.type(product.acc);
      flights[size_t(repeat)] = builder_.value(std::move(product), flight);
    }
  builder_.add(ir::op::GroupCommit{});
  bind_home(op.result(), {type.layout, std::move(flights), {}});
}

void Lowering::lower_await_gemm(const ir::Op& op, const ir::op::AwaitGemm& await) {
  const Home flights = home(await.flight);
  if (!source_.type(op.result()).is_tile()) {
    builder_.add(ir::op::GroupWait{{}, await.in_flight});
    return bind_home(op.result(), flights);
  }
  std::vector<Type> types;
  for (ValueId flight : flights.registers) {
    types.push_back(target_.type(flight));
    types.back().kind = ir::TypeKind::Vector;
  }
  std::vector<ValueId> vectors = target_.op(builder_.add(ir::op::GroupWait{flights.registers, await.in_flight}, types)).results;
  Home result = result_home(op, op.result(), {});
  INVARIANT(!result.in_memory(), "select-atoms gives groups accumulators that fit the registers");
  layout::Division blocks = blocks_of(reg_layout(flights.layout), atom_named(await.atom));
  for (size_t block = 0; block < vectors.size(); ++block)
    for (int64_t r = 0; r < blocks.registers_of_atom; ++r)
      result.registers[size_t(blocks.tile_register(int64_t(block), r))] =
          builder_.value(ir::op::VectorElement{vectors[block], r}, ir::scalar_type(types[block].element, true));
  bind_home(op.result(), std::move(result));
}

}  // namespace tilec::lower
