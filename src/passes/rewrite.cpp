#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

void insert(Kernel& kernel, RegionId region, OpId at, bool is_after, const std::function<void(Builder&)>& emit) {
  RegionId scratch = kernel.new_region();
  Builder builder(kernel, scratch);
  builder.set_span(kernel.op(at).span);
  emit(builder);
  std::vector<OpId> added = kernel.region(scratch).ops;
  std::vector<OpId>& ops = kernel.region(region).ops;
  auto place = std::find(ops.begin(), ops.end(), at);
  INVARIANT(place != ops.end(), "operations are inserted beside one of the region");
  ops.insert(is_after ? place + 1 : place, added.begin(), added.end());
}

}  // namespace

void insert_before(Kernel& kernel, RegionId region, OpId at, const std::function<void(Builder&)>& emit) {
  insert(kernel, region, at, false, emit);
}
void insert_after(Kernel& kernel, RegionId region, OpId at, const std::function<void(Builder&)>& emit) {
  insert(kernel, region, at, true, emit);
}

void each_op_in_region(const Kernel& kernel, RegionId region, const std::function<void(RegionId, OpId)>& f) {
  std::vector<OpId> snapshot = kernel.region(region).ops;
  for (OpId id : snapshot) {
    std::vector<RegionId> inner;
    each_region(kernel.op(id).data, [&](RegionId r) { inner.push_back(r); });
    f(region, id);
    for (RegionId r : inner) each_op_in_region(kernel, r, f);
  }
}

std::vector<RegionId> launch_bodies(const Kernel& kernel) {
  std::vector<RegionId> bodies;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const op::Launch* launch = kernel.op(id).get<op::Launch>()) bodies.push_back(launch->body);
  });
  return bodies;
}

ValueId trip_count(Builder& b, const op::For& loop) {
  ValueId span = b.sub(loop.high, loop.low), more = b.sub(loop.step, b.index(1));
  return b.binary(BinaryFn::Max, b.binary(BinaryFn::Div, b.add(span, more), loop.step), b.index(0));
}

ValueId add_result(Kernel& kernel, OpId id, const Type& type) {
  ValueId result{uint32_t(kernel.values.size())};
  kernel.values.push_back({kernel.types.intern(type), id, {}, {}});
  kernel.op(id).results.push_back(result);
  return result;
}

void retype(Kernel& kernel, ValueId v, Type type) { kernel.value(v).type = kernel.types.intern(std::move(type)); }

}  // namespace tilec::passes
