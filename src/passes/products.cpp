#include "passes/products.h"

#include "layout/notation.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kLargeTile = 128;  // rows and columns from which a product keeps twice the usual warps busy

}  // namespace

int64_t computing_warps(const Kernel& kernel, const op::Launch& launch, const Machine& machine) {
  if (machine.max_warps == 1) return 1;
  if (launch.threads) return std::max<int64_t>(1, (launch.threads + machine.lanes - 1) / machine.lanes);
  int64_t warps = machine.default_warps;
  each_op(kernel, launch.body, [&](OpId id) {
    if (!kernel.op(id).is<op::Gemm>()) return;
    const Type& c = kernel.type(kernel.op(id).result());
    if (c.shape[0] >= kLargeTile && c.shape[1] >= kLargeTile) warps = 2 * int64_t(machine.default_warps);
  });
  return std::min<int64_t>(warps, machine.max_warps);
}

const MatrixAtom* find_atom(const Machine& machine, std::string_view name) {
  for (const MatrixAtom& atom : machine.matrix_atoms)
    if (atom.name == name) return &atom;
  return nullptr;
}

bool takes_registers(const MatrixAtom& atom, layout::Side side) {
  return !(side == layout::Side::Left ? atom.a_layout : atom.b_layout).empty();
}

bool keeps_rows(const Kernel& kernel, const Op& op) {
  const op::Gemm* gemm = op.get<op::Gemm>();
  bool reads_tile = gemm && (kernel.type(gemm->a).is_tile() || kernel.type(gemm->b).is_tile());
  return reads_tile || op.is<op::Reduce>() || op.is<op::Scan>();
}

layout::Deal deal_of(const MatrixAtom& atom, int64_t m, int64_t n, int64_t warps, bool keeps_rows) {
  int units = int(warps / atom.warps), rows = int((m + atom.m - 1) / atom.m), columns = int((n + atom.n - 1) / atom.n);
  bool is_read_by_warps = atom.kind == AtomKind::Warp;
  return is_read_by_warps && !keeps_rows ? layout::deal_least_read(units, rows, columns, atom.m, atom.n) : layout::deal(units, rows, columns);
}

layout::RegLayout operand_layout(const Kernel& kernel, const op::Gemm& gemm, const MatrixAtom& atom, layout::Side side,
                                 const layout::RegLayout& accumulator) {
  bool is_left = side == layout::Side::Left;
  return layout::operand(accumulator, layout::reg_layout(atom.c_layout, "mn"),
                         layout::reg_layout(is_left ? atom.a_layout : atom.b_layout, is_left ? "mk" : "kn"), side,
                         is_left ? gemm.transpose_a : gemm.transpose_b, shape_of(kernel.type(is_left ? gemm.a : gemm.b)));
}

bool is_whole_tile(const Kernel& kernel, ValueId buffer) {
  const op::Subview* view = kernel.defined_by<op::Subview>(buffer);
  if (!view) return kernel.defined_by<op::Alloc>(buffer) != nullptr;
  const Type &whole = kernel.type(view->buffer), &part = kernel.type(buffer);
  if (!kernel.defined_by<op::Alloc>(view->buffer) || part.element != whole.element) return false;
  int leading = whole.rank() - part.rank();
  for (int axis = 0; axis < part.rank(); ++axis)
    if (view->axes[axis] != axis + leading || part.shape[axis] != whole.shape[axis + leading]) return false;
  return leading >= 0;
}

int64_t engine_step_bytes(const Kernel& kernel, const op::Gemm& gemm, const MatrixAtom& atom, layout::Side side) {
  bool is_left = side == layout::Side::Left, runs_along_k = is_left ? !gemm.transpose_a : gemm.transpose_b;
  int64_t step = is_left ? atom.m : atom.n, extent = kernel.type(gemm.acc).shape[is_left ? 0 : 1];
  return runs_along_k || step == extent ? 0 : step * byte_width(kernel.type(is_left ? gemm.a : gemm.b).element);
}

std::optional<layout::MemLayout> engine_layout(const layout::Shape& shape, int element_bits, int64_t step_bytes) {
  if (shape.rank != 2) return std::nullopt;
  for (int bytes : {128, 64, 32}) {
    if (step_bytes % bytes != 0) continue;
    if (auto layout = layout::swizzled(shape, 1, 0, element_bits, bytes)) return layout;
  }
  return std::nullopt;
}

layout::Shape shape_of(const Type& type) {
  std::vector<int> extents(type.shape.begin(), type.shape.end());
  return layout::Shape(extents);
}

}  // namespace tilec::passes
