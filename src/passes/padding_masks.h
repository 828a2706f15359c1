// The masks that keep padding out: collected while padding is followed, and put into the kernel when all of it is known.
#pragma once
#include "passes/padding_state.h"

namespace tilec::passes {

// In front of a reduction, a scan or a product: elements beyond the edges of the operand's axis become `identity`.
struct OperandMask {
  ir::RegionId region;  // where the operation stands
  ir::OpId op;
  size_t operand = 0;  // which of the operation's: one tile may be several of them
  int64_t axis = 0;
  Edges edges;
  ir::Number identity;
};
// A result of an operation of a map's body is `kept`, an operand of it or what a side of a branch has, where another operand is padding.
// With `side`, it is the branch that takes that side there.
struct ResultMask {
  ir::RegionId region;
  ir::OpId map, op;
  size_t result = 0;
  int64_t axis = 0;
  Edges edges;
  ir::ValueId kept;
  std::optional<bool> side = {};
};
// An operation of a map's body that reports what it has no value for: its last operand becomes harmless beyond the edges.
struct GuardMask {
  ir::RegionId region;
  ir::OpId map, op;
  int64_t axis = 0;
  Edges edges;
};

class Masks {
 public:
  explicit Masks(prove::Prover& prover) : prover_(prover) {}
  // Can the edges be computed in the region?
  bool can_stand(ir::RegionId region, const Edges& edges) const;
  // One asked for again, with other edges, takes the place of the first.
  void add(const OperandMask& mask) { operands_.insert_or_assign({mask.op, mask.operand, mask.axis}, mask); }
  // Edges of one operation are united.
  void add(const ResultMask& mask);
  bool has_result(ir::OpId map, ir::OpId op, size_t result, int64_t axis) const;
  void forget_results(ir::OpId map);
  void add(const GuardMask& mask) { guards_.insert_or_assign({mask.op, mask.axis}, mask); }
  void insert(ir::Kernel& kernel) const;

 private:
  bool can_stand(ir::RegionId region, const prove::Linear& sum) const;
  bool can_stand(ir::RegionId region, const prove::Formula& condition) const;

  prove::Prover& prover_;
  std::map<std::tuple<ir::OpId, size_t, int64_t>, OperandMask> operands_;  // by operation, operand and axis
  std::map<std::tuple<ir::OpId, ir::OpId, size_t, int64_t>, ResultMask> results_;  // by map, operation, result and axis
  std::map<std::tuple<ir::OpId, int64_t>, GuardMask> guards_;
};

}  // namespace tilec::passes
