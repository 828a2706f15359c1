#include "passes/host_contract.h"

#include "ir/builder.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Around {
  RegionId region;
  OpId op;  // none around the body
};

// The operation that the region belongs to, and where that stands.
Around around(const Kernel& kernel, RegionId region) {
  Around found;
  each_op_in_region(kernel, kernel.body, [&](RegionId outer, OpId id) {
    each_region(kernel.op(id).data, [&](RegionId inner) {
      if (inner == region) found = {outer, id};
    });
  });
  return found;
}

ValueId add_result(Kernel& kernel, OpId id) {
  ValueId result{uint32_t(kernel.values.size())};
  kernel.values.push_back({kernel.types.intern(scalar_type(Scalar::Bool)), id, {}, {}});
  kernel.op(id).results.push_back(result);
  return result;
}

// The region's yield hands `value` on, or `value` and what came in as `before`.
void yield_too(Kernel& kernel, RegionId region, ValueId value, ValueId before) {
  OpId end = kernel.region(region).ops.back();
  if (!value.valid()) value = before;
  else if (before.valid()) insert_before(kernel, region, end, [&](Builder& b) { value = b.logical_and(before, value); });
  kernel.op(end).as<op::Yield>().values.push_back(value);
}

ValueId always(Kernel& kernel, RegionId region, OpId at) {
  ValueId truth;
  insert_before(kernel, region, at, [&](Builder& b) { truth = b.constant(Scalar::Bool, Number::integer(1)); });
  return truth;
}

ValueId hand_on(Kernel& kernel, const Around& outer, RegionId from, ValueId condition) {
  const Type truth = scalar_type(Scalar::Bool);
  auto of = [&](RegionId region) { return region == from ? condition : ValueId{}; };
  if (kernel.op(outer.op).is<op::If>()) {
    const op::If branch = kernel.op(outer.op).as<op::If>();
    for (RegionId side : {branch.then_body, branch.else_body})
      yield_too(kernel, side, side == from ? condition : always(kernel, side, kernel.region(side).ops.back()), {});
    return add_result(kernel, outer.op);
  }
  ValueId begin = always(kernel, outer.region, outer.op);
  if (kernel.op(outer.op).is<op::For>()) {
    kernel.op(outer.op).as<op::For>().inits.push_back(begin);
    RegionId body = kernel.op(outer.op).as<op::For>().body;
    yield_too(kernel, body, condition, kernel.new_arg(body, truth));
    return add_result(kernel, outer.op);
  }
  INVARIANT(kernel.op(outer.op).is<op::While>(), "the host's part branches and loops");
  kernel.op(outer.op).as<op::While>().inits.push_back(begin);
  const op::While loop = kernel.op(outer.op).as<op::While>();
  for (RegionId part : {loop.condition, loop.body}) yield_too(kernel, part, of(part), kernel.new_arg(part, truth));
  return add_result(kernel, outer.op);
}

class Stepper {
 public:
  Stepper(const Kernel& kernel, const std::function<bool(OpId)>& is_risky) : kernel_(kernel), is_risky_(is_risky), is_body_op_(kernel.ops.size()) {
    for (OpId id : kernel.region(kernel.body).ops) is_body_op_[id.index] = true;
  }

  std::vector<HostStep> run() {
    std::vector<size_t> later;
    for (size_t r = 0; r < kernel_.requirements.size(); ++r) {
      std::set<OpId> behind = operations_behind(kernel_.requirements[r].condition);
      if (std::any_of(behind.begin(), behind.end(), is_risky_)) later.push_back(r);
      else add_requirement(r);
    }
    for (size_t r : later) add_requirement(r);
    for (const Param& param : kernel_.params)
      for (ValueId extent : param.extents) {
        add_operations(operations_behind(extent), kNoRequirement);
        steps_.push_back({HostStep::Kind::Extent, {}, kNoRequirement, extent});
      }
    for (OpId id : kernel_.region(kernel_.body).ops) add_operations({id}, kNoRequirement);
    return std::move(steps_);
  }

 private:
  void add_requirement(size_t r) {
    add_operations(operations_behind(kernel_.requirements[r].condition), r);
    steps_.push_back({HostStep::Kind::Requirement, {}, r, {}});
  }

  // In the order of the program, in which each stands behind what it needs.
  void add_operations(const std::set<OpId>& wanted, size_t requirement) {
    if (wanted.size() == 1) return add_operation(*wanted.begin(), requirement);
    for (OpId id : kernel_.region(kernel_.body).ops)
      if (wanted.contains(id)) add_operation(id, requirement);
  }
  void add_operation(OpId id, size_t requirement) {
    if (is_body_op_[id.index] && done_.insert(id).second) steps_.push_back({HostStep::Kind::Operation, id, requirement, {}});
  }

  // Those of the body, without the ones that are steps already.
  std::set<OpId> operations_behind(ValueId v) const {
    std::set<OpId> found;
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      OpId id = kernel_.value(open.back()).op;
      open.pop_back();
      if (!id.valid() || !is_body_op_[id.index] || done_.contains(id) || !found.insert(id).second) continue;
      add_needs(id, open);
      each_region(kernel_.op(id).data, [&](RegionId region) {
        each_op(kernel_, region, [&](OpId inner) { add_needs(inner, open); });
      });
    }
    return found;
  }
  void add_needs(OpId id, std::vector<ValueId>& needs) const {
    const OpData& data = kernel_.op(id).data;
    each_operand(data, [&](ValueId v) { needs.push_back(v); });
    const auto* extent = data.get<op::Extent>();
    const auto* stride = data.get<op::Stride>();
    if (!extent && !stride) return;
    if (const Param* param = kernel_.param_of(extent ? extent->buffer : stride->buffer)) {
      needs.insert(needs.end(), param->extents.begin(), param->extents.end());
      needs.insert(needs.end(), param->strides.begin(), param->strides.end());
    }
  }

  const Kernel& kernel_;
  const std::function<bool(OpId)>& is_risky_;
  std::vector<bool> is_body_op_;  // by operation
  std::set<OpId> done_;
  std::vector<HostStep> steps_;
};

}  // namespace

std::vector<HostStep> host_steps(const Kernel& kernel, const std::function<bool(OpId)>& is_risky) { return Stepper(kernel, is_risky).run(); }

std::set<RegionId> regions_of_host(const Kernel& kernel) {
  std::set<RegionId> found;
  std::vector<RegionId> open{kernel.body};
  while (!open.empty()) {
    RegionId region = open.back();
    open.pop_back();
    found.insert(region);
    for (OpId id : kernel.region(region).ops)
      if (!kernel.op(id).is<op::Launch>()) each_region(kernel.op(id).data, [&](RegionId inner) { open.push_back(inner); });
  }
  return found;
}

ValueId in_body(Kernel& kernel, RegionId region, ValueId condition) {
  while (region != kernel.body) {
    Around outer = around(kernel, region);
    condition = hand_on(kernel, outer, region, condition);
    region = outer.region;
  }
  return condition;
}

}  // namespace tilec::passes
