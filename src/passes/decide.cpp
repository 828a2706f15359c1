#include "passes/decide.h"

#include "passes/rebuild.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Decider : public Rebuilder {
 public:
  explicit Decider(Kernel& kernel) : Rebuilder(kernel) {}
  void run(RegionId region) { rebuild_region(region); }

 private:
  bool rewrite(OpId id) override {
    OpData data = kernel_.op(id).data;
    std::vector<ValueId> results = kernel_.op(id).results;
    if (const auto* branch = data.get<op::If>()) {
      auto condition = kernel_.constant(branch->condition);
      if (!condition) return false;
      RegionId taken = condition->i ? branch->then_body : branch->else_body;
      std::vector<ValueId> values = taken.valid() ? splice(taken) : std::vector<ValueId>{};
      for (size_t k = 0; k < results.size(); ++k) bind(results[k], values[k]);
      return true;
    }
    if (const auto* select = data.get<op::Select>()) {
      auto condition = kernel_.constant(select->condition);
      if (condition) bind(results[0], condition->i ? select->a : select->b);
      return condition.has_value();
    }
    ValueId folded;
    if (const auto* o = data.get<op::Unary>(); o && o->fn == UnaryFn::Not) folded = builder_.unary(o->fn, o->x);
    if (const auto* o = data.get<op::Binary>(); o && kernel_.type(o->a).element == Scalar::Bool) folded = builder_.binary(o->fn, o->a, o->b);
    if (folded.valid()) bind(results[0], folded);
    return folded.valid();
  }
};

}  // namespace

void decide(Kernel& kernel, RegionId region) { Decider(kernel).run(region); }

}  // namespace tilec::passes
