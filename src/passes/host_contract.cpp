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

}  // namespace

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
