// What lowering cannot take, said at its place: barriers that not every thread reaches, and operations without a lowering.
#include <set>
#include <vector>

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

  std::set<Span> told = {};  // branches that keep threads from barriers

  // `differs`: threads may disagree on whether, or how often, this region runs, since `parting` where that is a branch.
  void region(ir::RegionId r, const Uniformity& uniform, bool differs, Span parting) {
    for (ir::OpId id : kernel.region(r).ops) {
      const Op& op = kernel.op(id);
      if (op.is<ir::op::BlockBarrier>() && differs) report(op.span, parting);
      bool parts = false;
      Span from = parting;
      for (ir::ValueId v : tests(op)) {
        parts |= uniform.is_divergent(v);
        if (!from.valid()) from = uniform.parting(v);
      }
      if (parts && !from.valid() && op.is<ir::op::If>()) from = op.span;
      ir::each_region(op.data, [&](ir::RegionId part) { region(part, uniform, differs || parts, from); });
    }
  }

  // One branch may keep threads from many barriers.
  void report(Span barrier, Span parting) {
    if (parting.valid() && !told.insert(parting).second) return;
    auto report = diagnostics.at(barrier).error(diag::DivergentBarrier);
    if (parting.valid()) report.mark(parting, "threads may part here");
    report.help("put the `sync;` where all threads of the block come by");
  }

  // What decides whether, and how often, the regions of `op` run.
  std::vector<ir::ValueId> tests(const Op& op) const {
    if (auto* loop = op.get<ir::op::For>()) return {loop->low, loop->high, loop->step};
    if (auto* loop = op.get<ir::op::While>()) return {goes_on(*loop)};
    if (auto* branch = op.get<ir::op::If>()) return {branch->condition};
    return {};
  }

  ir::ValueId goes_on(const ir::op::While& loop) const { return kernel.terminator(loop.condition).as<ir::op::Yield>().values[0]; }

  void operation(const Op& op) {
    if (auto* simt = op.get<ir::op::Simt>()) region(simt->body, Uniformity(kernel, simt->body), false, {});
  }
};

}  // namespace

void check_threads(ir::Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  Check check{kernel, diagnostics};
  each_op(kernel, kernel.body, [&](ir::OpId id) { check.operation(kernel.op(id)); });
}

}  // namespace tilec::lower
