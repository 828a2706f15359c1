// Matrix products by instructions of one warp: the accumulator's fragments stay in registers, those of the operands are read
// from shared memory one step along k at a time, or are registers already.
#include "layout/notation.h"
#include "lower/fragments.h"
#include "lower/lowering.h"

namespace tilec::lower {

layout::Shape shape_of(const Type& type) {
  std::vector<int> extents(type.shape.begin(), type.shape.end());
  return layout::Shape(extents);
}

Fragments fragments_of(layout::RegLayout layout, const layout::RegLayout& atom, int k_axis) {
  auto division = layout::divide(layout, atom);
  INVARIANT(division.has_value(), "an operand's layout is made of its atom's fragments");
  Fragments f{std::move(layout), std::move(*division), {}};
  for (int64_t repeat = 0; repeat < f.division.rest.registers(); ++repeat) {
    layout::Coordinate at = f.division.rest.coordinate(repeat, 0, 0);
    f.repeat_at[{at[1 - k_axis], at[k_axis]}] = repeat;
  }
  return f;
}

void Lowering::lower_warp_product(const ir::Op& op, const ir::op::Gemm& gemm, const MatrixAtom& atom) {
  constexpr std::array kSwap{1, 0};
  const layout::RegLayout& accumulator = reg_layout(source_.type(op.result()).layout);
  layout::RegLayout atom_c = layout::reg_layout(atom.c_layout, "mn");
  auto whole = layout::divide(accumulator, atom_c);
  INVARIANT(whole.has_value(), "an accumulator is made of its atom's fragments");
  auto side_of = [&](layout::Side side) {
    bool is_left = side == layout::Side::Left, is_transposed = is_left ? gemm.transpose_a : gemm.transpose_b;
    layout::RegLayout piece = layout::reg_layout(is_left ? atom.a_layout : atom.b_layout, is_left ? "mk" : "kn");
    layout::RegLayout held = layout::operand(accumulator, atom_c, piece, side, is_transposed, shape_of(source_.type(is_left ? gemm.a : gemm.b)));
    if (is_transposed) piece = layout::normalized(layout::transpose(piece, kSwap));
    int k_axis = is_left != is_transposed ? 1 : 0;
    return fragments_of(std::move(held), piece, k_axis);
  };
  Fragments a = side_of(layout::Side::Left), b = side_of(layout::Side::Right);
  Home a_home = operand_registers(gemm, atom, layout::Side::Left, a.layout), b_home = operand_registers(gemm, atom, layout::Side::Right, b.layout);
  auto fragment = [&](const Home& home, const Fragments& f, int block, int step, Scalar element) {
    int64_t repeat = f.repeat_at.at({block, step});
    std::vector<ValueId> elements;
    for (int64_t r = 0; r < f.division.registers_of_atom; ++r)
      elements.push_back(broadcast(builder_.convert(register_at(home, builder_.index(f.division.tile_register(repeat, r))), element)));
    return builder_.value(ir::op::VectorMake{elements}, ir::vector_type(element, int64_t(elements.size())));
  };
  Home result = result_home(op, op.result(), std::span(&gemm.acc, 1));
  const Home acc = home(gemm.acc);
  int64_t depth = source_.type(gemm.a).shape[gemm.transpose_a ? 0 : 1], count = whole->registers_of_atom;
  std::map<std::tuple<bool, int, int>, ValueId> made;
  for (int64_t repeat = 0; repeat < whole->rest.registers(); ++repeat) {
    layout::Coordinate at = whole->rest.coordinate(repeat, 0, 0);
    std::vector<ValueId> numbers;
    for (int64_t r = 0; r < count; ++r) numbers.push_back(broadcast(builder_.convert(register_at(acc, builder_.index(whole->tile_register(repeat, r))), atom.c)));
    ValueId sum = builder_.value(ir::op::VectorMake{numbers}, ir::vector_type(atom.c, count));
    for (int step = 0; step * atom.k < depth; ++step) {
      ValueId& left = made[{true, at[0], step}];
      if (!left.valid()) left = fragment(a_home, a, at[0], step, atom.a);
      ValueId& right = made[{false, at[1], step}];
      if (!right.valid()) right = fragment(b_home, b, at[1], step, atom.b);
      sum = builder_.value(ir::op::Atom{std::string(atom.name), {left, right, sum}}, ir::vector_type(atom.c, count));
    }
    for (int64_t r = 0; r < count; ++r) {
      ValueId number = builder_.convert(builder_.value(ir::op::VectorElement{sum, r}, ir::scalar_type(atom.c, true)), source_.type(op.result()).element);
      int64_t place = whole->tile_register(repeat, r);
      if (result.in_memory()) builder_.add(ir::op::MemStore{result.memory, builder_.index(place), number, {}, 0});
      else result.registers[size_t(place)] = number;
    }
  }
  bind_home(op.result(), std::move(result));
}

// The registers of an operand as the atom wants them. What lies beyond the tile along k is zero, so that it adds nothing.
Home Lowering::operand_registers(const ir::op::Gemm& gemm, const MatrixAtom&, layout::Side side, const layout::RegLayout& layout) {
  ValueId operand = side == layout::Side::Left ? gemm.a : gemm.b;
  const Type& type = source_.type(operand);
  Scalar element = type.element;
  if (type.is_tile()) {
    Home home = this->home(operand);
    if (!layout.is_padded()) return home;
    Home masked{home.layout, std::vector<ValueId>(size_t(layout.registers())), {}};
    for (int64_t r = 0; r < layout.registers(); ++r) {
      ValueId mask = tile_mask(layout, point_at(layout, r)), value = register_at(home, builder_.index(r));
      masked.registers[size_t(r)] = mask.valid() ? builder_.select(mask, value, builder_.constant(element, is_float(element) ? ir::Number::real(0) : ir::Number::integer(0))) : value;
    }
    return masked;
  }
  Home home{{}, std::vector<ValueId>(size_t(layout.registers())), {}};
  std::vector<int64_t> axes{0, 1};
  Region region{operand, {builder_.index(0), builder_.index(0)}, axes, {ir::Bounds::Inside, ir::Bounds::Inside}};
  ir::Number zero = is_float(element) ? ir::Number::real(0) : ir::Number::integer(0);
  if (load_registers(region, layout, home, element, zero)) return home;
  for (int64_t r = 0; r < layout.registers(); ++r) {
    Point point = point_at(layout, r);
    std::vector<Coordinate> coordinates = region_coordinates(region, layout, point);
    home.registers[size_t(r)] = broadcast(load_element(operand, address(operand, coordinates), tile_mask(layout, point), zero));
  }
  return home;
}

}  // namespace tilec::lower
