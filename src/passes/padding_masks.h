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
// In a map's body: beyond the edges an assignment leaves its place as it is.
struct InsideMask {
  ir::RegionId region;
  ir::OpId map, inside;
  int64_t axis = 0;
  // Beyond these, but for what is beyond others: there the place holds padding itself.
  struct Part {
    Edges edges, padding;
    bool is_at_place = false;  // they hang on the place of the assignment, within the body
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
  bool covers(const Part& part) const;
};
// An operation of a map's body that reports what it has no value for: its last operand becomes harmless beyond the edges.
struct GuardMask {
  ir::RegionId region;
  ir::OpId map, op;
  int64_t axis = 0;
  Edges edges;
};

// An element store, an atomic or a read of a map's body that is not made beyond the edges.
struct EffectMask {
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
  // Parts of one operation are united.
  void add(const InsideMask& mask);
  const InsideMask* inside(ir::OpId inside, int64_t axis) const;  // none where there is no mask
  bool has_inside(ir::OpId inside) const;
  using Insides = std::map<std::pair<ir::OpId, int64_t>, InsideMask>;  // by operation and axis
  const Insides& inside_all() const { return inside_; }
  void take_back(const Insides& all) { inside_ = all; }
  void forget(ir::OpId map);          // what was asked for in its body
  void forget_operands(ir::OpId op);  // what was asked for in front of it, and of a number that it makes
  // The edges of one operation along an axis are united.
  void add(const EffectMask& mask);
  const EffectMask* effect(ir::OpId op, int64_t axis) const;  // none where there is no mask
  void add(const GuardMask& mask) { guards_.insert_or_assign({mask.op, mask.axis}, mask); }
  // Behind it, no assignment asks any more.
  void insert(ir::Kernel& kernel) const;

 private:
  bool can_stand(ir::RegionId region, const prove::Linear& sum) const;
  bool can_stand(ir::RegionId region, const prove::Formula& condition) const;

  prove::Prover& prover_;
  std::map<std::tuple<ir::OpId, size_t, int64_t>, OperandMask> operands_;  // by operation, operand and axis
  Insides inside_;
  std::map<std::tuple<ir::OpId, int64_t>, GuardMask> guards_;
  std::map<std::pair<ir::OpId, int64_t>, EffectMask> effects_;  // by operation and axis
};

}  // namespace tilec::passes
