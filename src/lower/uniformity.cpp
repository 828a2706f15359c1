// Which values of a `simt` region are alike for all threads, found as a fixed point, and which branch keeps them from being so.
#include "lower/lowering.h"
#include "lower/simt.h"

namespace tilec::lower {

bool has_barrier(const Kernel& kernel, const ir::Op& op) {
  bool found = op.is<ir::op::BlockBarrier>();
  ir::each_region(op.data, [&](RegionId r) { each_op(kernel, r, [&](OpId id) { found |= kernel.op(id).is<ir::op::BlockBarrier>(); }); });
  return found;
}

Uniformity::Uniformity(const Kernel& kernel, RegionId body) : kernel_(kernel) {
  for (ValueId arg : kernel.region(body).args) mark(arg, {});
  while (visit(body)) {}
}

bool Uniformity::mark(ValueId v, Span parting) { return divergent_.emplace(v, parting).second; }

Span Uniformity::parting(std::initializer_list<ValueId> values) const {
  for (ValueId v : values)
    if (Span span = parting(v); span.valid()) return span;
  return {};
}

bool Uniformity::visit(RegionId region) {
  bool changed = false;
  for (OpId id : kernel_.region(region).ops) {
    const ir::Op& op = kernel_.op(id);
    // Control flow within one part of the region runs inside its thread loop, and so do its results; but an `if` that all
    // threads take alike may stand outside.
    bool has_regions = false;
    ir::each_region(op.data, [&](RegionId) { has_regions = true; });
    if (has_regions && !op.is<ir::op::If>() && !has_barrier(kernel_, op))
      for (ValueId v : op.results) changed |= mark(v, {});
    if (auto* loop = op.get<ir::op::For>()) {
      const auto& yields = kernel_.terminator(loop->body).as<ir::op::Yield>().values;
      const auto& args = kernel_.region(loop->body).args;
      bool bounds = is_divergent(loop->low) || is_divergent(loop->high) || is_divergent(loop->step);
      if (bounds) changed |= mark(args[0], parting({loop->low, loop->high, loop->step}));
      for (size_t i = 0; i < loop->inits.size(); ++i) {
        if (!bounds && !is_divergent(loop->inits[i]) && !is_divergent(yields[i])) continue;
        Span from = parting({loop->low, loop->high, loop->step, loop->inits[i], yields[i]});
        changed |= mark(args[i + 1], from) | mark(op.results[i], from);
      }
      changed |= visit(loop->body);
    } else if (auto* loop = op.get<ir::op::While>()) {
      changed |= visit_while(op, *loop);
    } else if (auto* branch = op.get<ir::op::If>()) {
      changed |= visit(branch->then_body) | visit(branch->else_body);
      for (size_t i = 0; i < op.results.size(); ++i) {
        ValueId yes = kernel_.terminator(branch->then_body).as<ir::op::Yield>().values[i];
        ValueId no = kernel_.terminator(branch->else_body).as<ir::op::Yield>().values[i];
        bool parts = is_divergent(branch->condition);
        if (!parts && !is_divergent(yes) && !is_divergent(no)) continue;
        Span from = parting({branch->condition, yes, no});
        changed |= mark(op.results[i], parts && !from.valid() ? op.span : from);
      }
    } else {
      // What threads read may differ, and so does what they exchange.
      bool differs = op.is<ir::op::ElementLoad>() || op.is<ir::op::Atomic>() || op.is<ir::op::ThreadIndex>() || op.is<ir::op::LaneIndex>() ||
                     op.is<ir::op::WarpIndex>() || op.is<ir::op::Shuffle>() || op.is<ir::op::Vote>() || op.is<ir::op::WarpReduce>();
      Span from;
      ir::each_operand(op.data, [&](ValueId v) {
        differs |= is_divergent(v);
        from = from.valid() ? from : parting(v);
      });
      if (differs)
        for (ValueId v : op.results) changed |= mark(v, from);
    }
  }
  return changed;
}

// Carried values are alike for all threads where they are everywhere: before the loop, in the test, and after each turn.
bool Uniformity::visit_while(const ir::Op& op, const ir::op::While& loop) {
  const auto& tested = kernel_.terminator(loop.condition).as<ir::op::Yield>().values;
  const auto& yields = kernel_.terminator(loop.body).as<ir::op::Yield>().values;
  bool runs_apart = !has_barrier(kernel_, op) || is_divergent(tested[0]), changed = false;
  // Threads that still run a loop that counts are all in the same turn.
  bool has_common_index = loop.step.valid() && !is_divergent(loop.inits[0]) && !is_divergent(loop.step);
  for (size_t i = has_common_index ? 1 : 0; i < loop.inits.size(); ++i) {
    if (!runs_apart && !is_divergent(loop.inits[i]) && !is_divergent(tested[i + 1]) && !is_divergent(yields[i])) continue;
    Span from = parting({tested[0], loop.inits[i], tested[i + 1], yields[i]});
    for (ValueId v : {kernel_.region(loop.condition).args[i], kernel_.region(loop.body).args[i], op.results[i]}) changed |= mark(v, from);
  }
  return changed | visit(loop.condition) | visit(loop.body);
}

}  // namespace tilec::lower
