#include "passes/demand.h"

#include "passes/block_axes.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Asker {
 public:
  Asker(const Kernel& kernel, const op::Launch& launch, const Machine& machine)
      : kernel_(kernel), machine_(machine), axes_(kernel, launch), demand_{.alike = std::vector<double>(launch.extents.size()), .along = std::vector<double>(launch.extents.size())} {}

  void add(const op::For& loop) {
    demand_.decides |= axes_.control_of(loop.body);
    for (OpId id : kernel_.region(loop.body).ops) {
      const Op& op = kernel_.op(id);
      if (const op::Gemm* gemm = op.get<op::Gemm>()) demand_.clocks += clocks_of(*gemm);
      if (const op::Copy* copy = op.get<op::Copy>(); copy && is_fed_from_device(kernel_, *copy)) add_read(*copy);
      if (const op::Copy* copy = op.get<op::Copy>(); copy && is_far(copy->dst)) demand_.stored += bytes_of(kernel_, *copy) * (copy->adds ? 2 : 1);
      if (const op::Store* store = op.get<op::Store>(); store && is_far(store->buffer)) demand_.stored += bytes(store->tile) * (store->adds ? 2 : 1);
    }
  }

  Demand take() { return std::move(demand_); }

 private:
  void add_read(const op::Copy& copy) {
    const uint64_t depends = axes_.of(copy.src_offsets);
    demand_.bytes += bytes_of(kernel_, copy);
    for (size_t axis = 0; axis < demand_.alike.size(); ++axis) {
      if (!(depends >> axis & 1)) demand_.alike[axis] += bytes_of(kernel_, copy);
      if (depends == 1ull << axis) demand_.along[axis] += bytes_of(kernel_, copy);
    }
  }

  double bytes(ValueId v) const { return double(kernel_.type(v).element_count() * byte_width(kernel_.type(v).element)); }
  bool is_far(ValueId buffer) const { return kernel_.type(buffer).space == Space::Global || kernel_.type(buffer).space == Space::Workspace; }

  double clocks_of(const op::Gemm& gemm) const {
    const Type &a = kernel_.type(gemm.a), &c = kernel_.type(gemm.acc);
    double multiplications = double(c.shape[0] * c.shape[1] * a.shape[gemm.transpose_a ? 0 : 1]);
    return multiplications * byte_width(a.element) / double(machine_.product_rate);
  }

  const Kernel& kernel_;
  const Machine& machine_;
  const BlockAxes axes_;
  Demand demand_;
};

}  // namespace

Demand demand_of(const Kernel& kernel, const op::Launch& launch, const Machine& machine) {
  Asker asker(kernel, launch, machine);
  each_op(kernel, launch.body, [&](OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (loop && loop->loop == LoopKind::Pipelined && holds_product(kernel, loop->body)) asker.add(*loop);
  });
  return asker.take();
}

bool holds_product(const Kernel& kernel, RegionId region) {
  bool found = false;
  each_op(kernel, region, [&](OpId id) { found |= kernel.op(id).is<op::Gemm>(); });
  return found;
}

double bytes_of(const Kernel& kernel, const op::Copy& copy) {
  double count = 1;
  for (int64_t extent : copy.shape) count *= double(extent);
  return count * byte_width(kernel.type(copy.src).element);
}

bool is_fed_from_device(const Kernel& kernel, const op::Copy& copy) {
  return kernel.param_of(copy.src) && kernel.type(copy.dst).space == Space::Shared;
}

}  // namespace tilec::passes
