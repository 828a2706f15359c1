// Matrix products by atoms.
#include "lower/lowering.h"
#include "layout/notation.h"

namespace tilec::lower {

namespace {

// Sums of integers wrap, in the type of the tile: they may have any more bits on the way.
ir::ConvertMode mode_of(Scalar element) { return is_integer(element) ? ir::ConvertMode::Wrap : ir::ConvertMode::Nearest; }

}  // namespace

void Lowering::lower_gemm(const ir::Op& op, const ir::op::Gemm& gemm) {
  const MatrixAtom& atom = atom_named(gemm.atom);
  if (atom.kind == AtomKind::Warp) return lower_warp_product(op, gemm, atom);
  INVARIANT(atom.kind == AtomKind::OuterProduct, "products of groups are asynchronous");
  lower_outer_product(op, gemm, atom);
}

// A block of m x n accumulators stays in registers while k runs: A comes one number at a time, B one vector at a time.
//   for n blocks, for m blocks: load the block; for k: fma; store the block
void Lowering::lower_outer_product(const ir::Op& op, const ir::op::Gemm& gemm, const MatrixAtom& atom) {
  const Type& type = source_.type(op.result());
  const layout::RegLayout& layout = reg_layout(type.layout);
  Home result = result_home(op, op.result(), std::span(&gemm.acc, 1));
  const Home acc = home(gemm.acc);
  std::vector<Digit> inner, along_m, along_n;
  int64_t block_registers = layout::reg_layout(atom.c_layout, "mn").registers();
  for (Digit d : digits(layout)) {
    // A digit that goes on beyond the atom's block is cut there.
    if (d.place < block_registers && d.place * d.count > block_registers) {
      int64_t low = block_registers / d.place;
      inner.push_back({low, d.axis, d.weight, d.place});
      d = {d.count / low, d.axis, d.weight * low, d.place * low};
    }
    (d.place < block_registers ? inner : d.axis == 0 ? along_m : along_n).push_back(d);
  }
  std::vector<Digit> outer = along_m;
  outer.insert(outer.end(), along_n.begin(), along_n.end());
  const Type& a_type = source_.type(gemm.a);
  int64_t depth = a_type.shape[gemm.transpose_a ? 0 : 1];
  bool unrolls = !result.in_memory() || !acc.in_memory();
  nest(builder_, outer, unrolls ? INT64_MAX : 1, {}, [&](const Point& block, const Carried&) -> Carried {
    std::vector<Point> points;
    Carried registers;
    nest(builder_, inner, INT64_MAX, {}, [&](const Point& at, const Carried&) -> Carried {
      Point point = at;
      point.digits.insert(point.digits.end(), block.digits.begin(), block.digits.end());
      point.values.insert(point.values.end(), block.values.begin(), block.values.end());
      registers.push_back(builder_.convert(read(acc, point), atom.c, mode_of(atom.c)));
      points.push_back(std::move(point));
      return {};
    });
    registers = multiply_block(gemm, atom, layout, points, depth, registers);
    for (size_t i = 0; i < points.size(); ++i) write(result, points[i], builder_.convert(registers[i], type.element, mode_of(atom.c)));
    return {};
  });
  bind_home(op.result(), std::move(result));
}

Carried Lowering::multiply_block(const ir::op::Gemm& gemm, const MatrixAtom& atom, const layout::RegLayout& layout,
                                 std::span<const Point> points, int64_t depth, Carried registers) {
  constexpr int64_t kDepthUnroll = 4;
  int64_t unroll = depth % kDepthUnroll == 0 ? kDepthUnroll : 1;
  ValueId lane_m = lane_part(layout, 0), lane_n = lane_part(layout, 1);
  auto element = [&](ValueId buffer, bool is_transposed, Coordinate row, Coordinate column, ValueId mask) {
    std::array<Coordinate, 2> at = is_transposed ? std::array{column, row} : std::array{row, column};
    ValueId index = address(buffer, at);
    // Where there is one column, all lanes that hold it read one element.
    Type t = ir::scalar_type(source_.type(buffer).element, is_varying(index) || is_varying(mask));
    return builder_.convert(builder_.value(ir::op::MemLoad{scalar_buffer(buffer), index, mask, lane_stride(index)}, t), atom.c, mode_of(atom.c));
  };
  // Columns that pad the tile up to whole lanes have no element of B: what stands behind it may be nobody's.
  auto column_mask = [&](ValueId column) {
    bool is_padded = layout.covered(1) != layout.shape[1] && lane_n.valid();
    return is_padded ? builder_.compare(ir::CompareFn::Lt, builder_.add(column, lane_n), builder_.index(layout.shape[1])) : ValueId{};
  };
  return count_loop(builder_, depth / unroll, depth == unroll, registers, [&](ValueId step, const Carried& carried) -> Carried {
    Carried sums = carried;
    for (int64_t u = 0; u < unroll; ++u) {
      ValueId k = builder_.add(builder_.mul(step, builder_.index(unroll)), builder_.index(u));
      // Points that share their row share a number of A, those that share their column a vector of B.
      std::map<int64_t, ValueId> a, b;
      for (size_t i = 0; i < points.size(); ++i) {
        int64_t m_key = 0, n_key = 0;
        for (size_t d = 0; d < points[i].digits.size(); ++d)
          if (auto c = target_.constant(points[i].values[d]))
            (points[i].digits[d].axis == 0 ? m_key : n_key) += c->i * points[i].digits[d].weight;
        if (!a.contains(m_key)) {
          Coordinate m{coordinate(builder_, points[i], 0), lane_m};
          // Rows that pad the tile up to whole blocks read its last row; what they give is never stored.
          if (layout.covered(0) != layout.shape[0]) {
            ValueId whole = lane_m.valid() ? builder_.add(m.uniform, lane_m) : m.uniform;
            m = {builder_.binary(ir::BinaryFn::Min, whole, builder_.index(layout.shape[0] - 1)), {}};
          }
          a[m_key] = element(gemm.a, gemm.transpose_a, m, {k, {}}, {});
        }
        if (!b.contains(n_key)) {
          ValueId n = coordinate(builder_, points[i], 1);
          b[n_key] = element(gemm.b, gemm.transpose_b, {k, {}}, {n, lane_n}, column_mask(n));
        }
        // Rounded once where that costs no more; else it would be many operations.
        const bool fuses = is_float(atom.c) && machine_.has(Cap::FusedMultiplyAdd);
        sums[i] = fuses ? builder_.fma(a[m_key], b[n_key], sums[i]) : builder_.add(sums[i], builder_.mul(a[m_key], b[n_key]));
      }
    }
    return sums;
  });
}

ValueId Lowering::scalar_buffer(ValueId buffer) const {
  while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(buffer)) buffer = view->buffer;
  return scalar(buffer);
}

}  // namespace tilec::lower
