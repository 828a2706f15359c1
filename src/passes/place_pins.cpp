#include "passes/place_pins.h"

#include <algorithm>

#include "layout/notation.h"
#include "layout/product.h"
#include "layout/transform.h"
#include "passes/products.h"

namespace tilec::passes {

using namespace ir;
using layout::RegLayout;
using layout::Vec;

namespace {

constexpr const char* kRepeats = "its registers repeat each other, as only lanes and warps may";

}  // namespace

std::string flaw_of_fragment(const RegLayout& layout) {
  if (!layout.cta.empty()) return "a fragment is in one block, without `cta`";
  for (int axis = 0; axis < layout.shape.rank; ++axis)
    if (!layout::reduce(layout, axis)) return "one of its bits moves along two axes at once";
  bool repeats = std::ranges::any_of(layout.grids, [](const layout::Grid& g) { return g.axis == layout::kReplica && g.place == layout::GridPlace::Register; });
  if (repeats) return kRepeats;
  Vec in_registers = 0;
  for (Vec v : layout.reg) {
    if (v == 0) return kRepeats;
    if (v & (v - 1)) return "one of its register bits moves along two bits at once, as only those of lanes and warps may";
    in_registers |= v;
  }
  for (const layout::Basis* places : {&layout.lane, &layout.warp})
    for (Vec v : *places)
      if (v & in_registers) return "registers and lanes or warps move along the same bit";
  layout::Basis moving = layout.all_bits();
  std::erase(moving, Vec{0});
  if (layout::rank(moving) < int(moving.size())) return "one of its bits moves along what others move along already; `_` says that it repeats them";
  return "";
}

bool flips_bits(const RegLayout& layout) {
  return std::ranges::any_of(layout.all_bits(), [](Vec v) { return (v & (v - 1)) != 0; });
}

namespace {

// Warps find in their own registers what they multiply.
bool has_operands(const Kernel& kernel, const op::Gemm& gemm, const MatrixAtom& atom, const RegLayout& layout, layout::Side side) {
  bool is_left = side == layout::Side::Left, is_transposed = is_left ? gemm.transpose_a : gemm.transpose_b;
  layout::Shape shape = shape_of(kernel.type(is_left ? gemm.a : gemm.b));
  if (is_transposed) shape = {shape[1], shape[0]};
  RegLayout sums = layout::reg_layout(atom.c_layout, "mn");
  RegLayout piece = layout::reg_layout(is_left ? atom.a_layout : atom.b_layout, is_left ? "mk" : "kn");
  return layout::feeds(layout::operand(layout, sums, piece, side, false, shape), piece, layout, sums, side);
}

}  // namespace

std::string flaw_of_accumulator(const Kernel& kernel, const op::Gemm& gemm, const MatrixAtom& atom, const RegLayout& layout,
                                const RegLayout& inferred) {
  if (!layout::divide(layout, layout::reg_layout(atom.c_layout, "mn"))) return "it is no arrangement of accumulators of " + std::string(atom.name);
  for (int axis = 0; axis < layout.shape.rank; ++axis)
    if (layout.covered(axis) > inferred.covered(axis))
      return "it covers " + std::to_string(layout.covered(axis)) + " elements of axis " + std::to_string(axis) + ", which has " +
             std::to_string(layout.shape[axis]);
  for (layout::Side side : {layout::Side::Left, layout::Side::Right}) {
    bool is_in_registers = atom.kind == AtomKind::Warp || (atom.kind == AtomKind::Group && kernel.type(side == layout::Side::Left ? gemm.a : gemm.b).is_tile());
    if (is_in_registers && !has_operands(kernel, gemm, atom, layout, side)) return "its warps share the product in a way that " + std::string(atom.name) + " cannot follow";
  }
  return "";
}

}  // namespace tilec::passes
