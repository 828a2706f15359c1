// What lowering cannot take, said at its place: barriers that not every thread reaches, and operations without a lowering.
#include "diag/diag.h"
#include "diag/sink.h"
#include "lower/lower.h"
#include "lower/simt.h"

namespace tilec::lower {

namespace {

using ir::Op;

struct Check {
  const ir::Kernel& kernel;
  Diagnostics& diagnostics;

  // `differs`: threads may disagree on whether, or how often, this region runs.
  void region(ir::RegionId r, const Uniformity& uniform, bool differs) {
    for (ir::OpId id : kernel.region(r).ops) {
      const Op& op = kernel.op(id);
      if (op.is<ir::op::BlockBarrier>() && differs) diagnostics.at(op.span).error(diag::DivergentBarrier);
      bool inner = differs;
      if (auto* loop = op.get<ir::op::For>())
        inner |= uniform.is_divergent(loop->low) || uniform.is_divergent(loop->high) || uniform.is_divergent(loop->step);
      if (auto* loop = op.get<ir::op::While>()) inner |= uniform.is_divergent(goes_on(*loop));
      if (auto* branch = op.get<ir::op::If>()) inner |= uniform.is_divergent(branch->condition);
      ir::each_region(op.data, [&](ir::RegionId part) { region(part, uniform, inner); });
    }
  }

  ir::ValueId goes_on(const ir::op::While& loop) const { return kernel.terminator(loop.condition).as<ir::op::Yield>().values[0]; }

  void operation(const Op& op) {
    if (auto* simt = op.get<ir::op::Simt>()) region(simt->body, Uniformity(kernel, simt->body), false);
  }
};

}  // namespace

void check_threads(ir::Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  Check check{kernel, diagnostics};
  each_op(kernel, kernel.body, [&](ir::OpId id) { check.operation(kernel.op(id)); });
}

}  // namespace tilec::lower
