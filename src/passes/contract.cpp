// A product that has a name of its own is rounded to its type: who wrote it so may count on that. Which product stands in the
// same expression as its sum, their places in the source tell: that of the sum holds that of the product. What a call of the
// library stands for has one place, that of the call, and may be rounded once as a whole.
//
//   x * y + z  ->  fma(x, y, z)      x * y - z  ->  fma(x, y, -z)      z - x * y  ->  fma(-x, y, z)
#include "passes/contract.h"

#include "passes/cleanup.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

bool holds(Span outer, Span inner) {
  return outer.valid() && outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

class Contractor {
 public:
  explicit Contractor(Kernel& kernel) : kernel_(kernel), uses_(use_counts(kernel)) {}

  void run(RegionId launch) {
    each_op_in_region(kernel_, launch, [&](RegionId region, OpId id) {
      region_of_.try_emplace(id, region);
      if (const auto* sum = kernel_.op(id).get<op::Binary>()) contract(region, id, op::Binary(*sum));
    });
  }

 private:
  Kernel& kernel_;
  std::vector<int> uses_;
  std::unordered_map<OpId, RegionId> region_of_;  // where operations stand that the walk has passed

  void contract(RegionId region, OpId id, const op::Binary& sum) {
    Scalar type = kernel_.type(kernel_.op(id).result()).element;
    if (type != Scalar::F32 && type != Scalar::F64) return;
    if (sum.fn != BinaryFn::Add && sum.fn != BinaryFn::Sub) return;
    const op::Binary *left = product(region, id, sum.a), *right = left ? nullptr : product(region, id, sum.b);
    if (!left && !right) return;
    op::Fma fma = left ? op::Fma{left->a, left->b, sum.b} : op::Fma{right->a, right->b, sum.a};
    if (sum.fn == BinaryFn::Sub) insert_before(kernel_, region, id, [&](Builder& b) {
      ValueId& turned = left ? fma.c : fma.a;
      turned = b.unary(UnaryFn::Neg, turned);
    });
    kernel_.op(id).data = fma;
  }

  // What `v` multiplies, if it does so in the expression of `sum` and for it alone.
  const op::Binary* product(RegionId region, OpId sum, ValueId v) const {
    const op::Binary* found = kernel_.defined_by<op::Binary>(v);
    if (!found || found->fn != BinaryFn::Mul || uses_[v.index] != 1) return nullptr;
    OpId at = kernel_.value(v).op;
    auto stands = region_of_.find(at);
    bool is_beside = stands != region_of_.end() && stands->second == region;
    return is_beside && holds(kernel_.op(sum).span, kernel_.op(at).span) ? found : nullptr;
  }
};

}  // namespace

void contract(Kernel& kernel, const Machine& machine, Diagnostics&) {
  INVARIANT(kernel.form == Form::Typed, "products are contracted while places in the source tell expressions apart");
  if (!machine.has(Cap::FusedMultiplyAdd)) return;
  Contractor contractor(kernel);
  for (RegionId launch : launch_bodies(kernel)) contractor.run(launch);
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
