#include "lower/lower.h"

#include "lower/lowering.h"

namespace tilec::lower {

Kernel lower(const Kernel& kernel, const Machine& machine) { return Lowering(kernel, machine).run(); }

Lowering::Lowering(const Kernel& source, const Machine& machine)
    : source_(source), machine_(machine), builder_(target_, {}), region_of_(source.ops.size()), uses_(source.values.size()),
      home_region_(source.values.size()) {
  std::function<void(RegionId)> index = [&](RegionId region) {
    for (ValueId v : source_.region(region).args) home_region_[v.index] = region;
    for (OpId id : source_.region(region).ops) {
      const ir::Op& op = source_.op(id);
      region_of_[id.index] = region;
      for (ValueId v : op.results) home_region_[v.index] = region;
      ir::each_operand(op.data, [&](ValueId v) { uses_[v.index].push_back(id); });
      ir::each_region(op.data, index);
    }
  };
  index(source.body);
}

Kernel Lowering::run() {
  target_.name = source_.name;
  target_.doc = source_.doc;
  target_.form = ir::Form::Thread;
  target_.fast_math = source_.fast_math;
  target_.schedule = source_.schedule;
  target_.estimates = source_.estimates;
  target_.span = source_.span;
  target_.body = target_.new_region();
  builder_.set_region(target_.body);
  builder_.move_constants_outward();
  lower_host();
  return std::move(target_);
}

}  // namespace tilec::lower
