#include "target/abi/demand.h"

#include "base/check.h"

namespace tilec::target {

using namespace ir;

bool starts_at_first_lane(const Type& buffer, const Type& index, int64_t lane_stride) {
  return index.varying && lane_stride != kUnknownStride && !buffer.varying;
}

bool has_effect(const Op& op) {
  switch (op.kind()) {
    case OpKind::MemAtomic: case OpKind::Alloc: case OpKind::GroupFence: case OpKind::GroupProduct: case OpKind::GroupWait: return true;
    default: return op.results.empty();  // then there is no other reason for it
  }
}

namespace {

// Raises demands until nothing changes; demands only grow, so it ends.
class DemandMaker {
 public:
  DemandMaker(const Kernel& kernel, Addresses addresses) : kernel_(kernel), addresses_(addresses) { demand_.bits.resize(kernel.values.size()); }

  Demand make(RegionId region) { return make(kernel_.region(region).ops, {}); }
  Demand make(const std::vector<OpId>& ops, const std::vector<ValueId>& roots) {
    for (ValueId v : roots) raise(v, Demand::kLanes);
    do {
      changed_ = false;
      visit(ops);
    } while (changed_);
    return std::move(demand_);
  }

 private:
  void raise(ValueId v, uint8_t bits) {
    if (!v.valid() || !bits) return;
    if (!kernel_.type(v).varying) bits = Demand::kLanes;
    uint8_t& have = demand_.bits[v.index];
    if ((have | bits) == have) return;
    have |= bits;
    changed_ = true;
  }
  uint8_t of(ValueId v) const { return demand_.bits[v.index]; }
  // Values that become one variable share their demands.
  void same(ValueId a, ValueId b) {
    raise(a, of(b));
    raise(b, of(a));
  }
  // A demand flows from a variable to what is assigned to it, not back.
  void assigned(ValueId variable, ValueId value) { raise(value, of(variable)); }

  void visit_region(RegionId region) { visit(kernel_.region(region).ops); }
  void visit(const std::vector<OpId>& ops) {
    for (size_t i = ops.size(); i-- > 0;) visit_op(kernel_.op(ops[i]));
  }

  void address(ValueId buffer, ValueId index, int64_t lane_stride) {
    bool by_first = addresses_ == Addresses::ByFirstLane && starts_at_first_lane(kernel_.type(buffer), kernel_.type(index), lane_stride);
    raise(index, by_first ? Demand::kFirst : Demand::kLanes);
  }

  void operands(const Op& op, uint8_t bits) {
    each_operand(op.data, [&](ValueId v) { raise(v, bits); });
  }

  void visit_op(const Op& op) {
    if (const auto* x = op.get<op::For>()) return visit_for(op, *x);
    if (const auto* x = op.get<op::While>()) return visit_while(op, *x);
    if (const auto* x = op.get<op::If>()) return visit_if(op, *x);
    if (op.is<op::Yield>()) return;
    if (const auto* x = op.get<op::MemStore>()) {
      address(x->buffer, x->index, x->lane_stride);
      raise(x->value, Demand::kLanes);
      return raise(x->mask, Demand::kLanes);
    }
    if (has_effect(op)) return operands(op, Demand::kLanes);
    uint8_t bits = 0;
    for (ValueId v : op.results) bits |= of(v);
    if (!bits) return;
    if (const auto* x = op.get<op::MemLoad>()) {
      address(x->buffer, x->index, x->lane_stride);
      raise(x->peer, Demand::kLanes);
      return raise(x->mask, Demand::kLanes);
    }
    if (const auto* x = op.get<op::Convert>()) return raise(x->x, bits);  // nobody spells the number that it stands for
    switch (op.kind()) {
      case OpKind::Unary: case OpKind::Binary: case OpKind::Overflows: case OpKind::Inside: case OpKind::Fma: case OpKind::Compare: case OpKind::Select:
        return operands(op, bits);
      default: return operands(op, Demand::kLanes);
    }
  }

  void visit_for(const Op& op, const op::For& loop) {
    for (ValueId v : {loop.low, loop.high, loop.step}) raise(v, Demand::kLanes);
    const std::vector<ValueId>& args = kernel_.region(loop.body).args;
    const std::vector<ValueId>& yields = kernel_.terminator(loop.body).as<op::Yield>().values;
    for (size_t i = 0; i < loop.inits.size(); ++i) {
      same(op.results[i], args[i + 1]);
      assigned(args[i + 1], loop.inits[i]);
      assigned(args[i + 1], yields[i]);
    }
    visit_region(loop.body);
  }

  void visit_while(const Op& op, const op::While& loop) {
    const std::vector<ValueId>& tested = kernel_.region(loop.condition).args;
    const std::vector<ValueId>& args = kernel_.region(loop.body).args;
    const std::vector<ValueId>& passed = kernel_.terminator(loop.condition).as<op::Yield>().values;
    const std::vector<ValueId>& yields = kernel_.terminator(loop.body).as<op::Yield>().values;
    raise(passed[0], Demand::kLanes);
    for (size_t i = 0; i < loop.inits.size(); ++i) {
      same(op.results[i], args[i]);
      assigned(args[i], passed[i + 1]);
      assigned(tested[i], loop.inits[i]);
      assigned(tested[i], yields[i]);
    }
    visit_region(loop.body);
    visit_region(loop.condition);
  }

  void visit_if(const Op& op, const op::If& branch) {
    raise(branch.condition, Demand::kLanes);
    for (RegionId region : {branch.then_body, branch.else_body}) {
      if (!region.valid()) continue;
      const std::vector<ValueId>& yields = kernel_.terminator(region).as<op::Yield>().values;
      for (size_t i = 0; i < op.results.size(); ++i) assigned(op.results[i], yields[i]);
      visit_region(region);
    }
  }

  const Kernel& kernel_;
  Addresses addresses_;
  Demand demand_;
  bool changed_ = false;
};

}  // namespace

Demand demand_of(const Kernel& kernel, RegionId region, Addresses addresses) { return DemandMaker(kernel, addresses).make(region); }
Demand demand_of(const Kernel& kernel, const std::vector<OpId>& ops, const std::vector<ValueId>& roots) {
  return DemandMaker(kernel, Addresses::ByFirstLane).make(ops, roots);
}

}  // namespace tilec::target
